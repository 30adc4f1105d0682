//go:build ofi && linux && (amd64 || arm64)

package ofi

import "encoding/binary"

// kind tells what a message is. The first three are records; their numbers are those of conduit.Class.
type kind uint8

const (
	kindRequest kind = iota
	kindReply
	kindSystem
	kindChunk  // of bulk data: a chunk, and the bytes
	kindCredit // the header only: news of what was taken
	kindBye    // the last one: how many records and chunks were sent in all
	kindByeAck // all of them have come
	kindPing   // a sign of life is wanted
	kindPong   // and given
	kinds      // how many there are
)

const (
	header    = 16 // bytes before the record, or what else the kind has
	chunkHead = 24 // bytes of a kindChunk before the data
	byeBytes  = 8  // of a kindBye
)

// head begins each message.
type head struct {
	src  uint32
	kind kind
	// bulkTaken and taken are what the sender has taken of the receiver's chunks and records, as they count it, in as
	// many bits as there are.
	bulkTaken uint16
	taken     uint32
	job       uint32 // a check that both are of the same job
}

func (h *head) putHead(b []byte) {
	_ = b[header-1]
	binary.LittleEndian.PutUint32(b, h.src)
	b[4], b[5] = byte(h.kind), 0
	binary.LittleEndian.PutUint16(b[6:], h.bulkTaken)
	binary.LittleEndian.PutUint32(b[8:], h.taken)
	binary.LittleEndian.PutUint32(b[12:], h.job)
}

// parseHead takes a message apart. It is false for what no rank of the job, which has size ranks, sends.
func (h *head) parseHead(b []byte, job uint32, size int) bool {
	if len(b) < header || len(b)%8 != 0 {
		return false
	}
	*h = head{
		binary.LittleEndian.Uint32(b), kind(b[4]), binary.LittleEndian.Uint16(b[6:]), binary.LittleEndian.Uint32(b[8:]),
		binary.LittleEndian.Uint32(b[12:]),
	}
	if h.job != job || h.kind >= kinds || b[5] != 0 || uint64(h.src) >= uint64(size) {
		return false
	}
	switch n := len(b) - header; h.kind {
	case kindRequest, kindReply, kindSystem:
		return n >= 8
	case kindChunk:
		return n > chunkHead
	case kindBye:
		return n == byeBytes
	default:
		return n == 0
	}
}

// chunk is what a kindChunk tells of its bytes.
type chunk struct {
	id  uint64
	off int64
	n   uint32
}

func (x *chunk) putChunk(b []byte) {
	_ = b[chunkHead-1]
	binary.LittleEndian.PutUint64(b, x.id)
	binary.LittleEndian.PutUint64(b[8:], uint64(x.off))
	binary.LittleEndian.PutUint64(b[16:], uint64(x.n))
}

// parseChunk takes apart what follows the header, and returns the bytes; false if they are not as many as it tells.
func (x *chunk) parseChunk(b []byte) (data []byte, ok bool) {
	x.id, x.off = binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))
	n := binary.LittleEndian.Uint64(b[16:])
	data = b[chunkHead:]
	if n == 0 || n > uint64(len(data)) || uint64(len(data))-n >= 8 {
		return nil, false
	}
	x.n = uint32(n)
	return data[:n:n], true
}

// cost is what a record of n bytes takes of a window: the length of its message.
func cost(n int) uint32 { return uint32((n+7)&^7 + header) }

// fresh is by how much a counter has gone on, of which a peer tells in some message: 0 if the news is old, or tells of
// more than there was.
func fresh(told, known, most uint32) uint32 {
	if d := told - known; d <= most-known {
		return d
	}
	return 0
}
