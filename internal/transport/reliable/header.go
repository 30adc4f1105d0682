package reliable

import "encoding/binary"

// Channel says on which of a pair's two channels a packet travels.
type Channel uint8

const (
	// Data is the channel of all that is not tiny, and of resends.
	Data Channel = iota
	// Priority is the channel of acknowledgements, tiny messages and urgent ones.
	Priority
	channels
)

const (
	version    = 1
	headerSize = 16
	sackWords  = Window / 64
	ackWords   = 60            // of the bitmap, that fit beside a header in the least packet
	sendWindow = 64 * ackWords // segments on their way to one peer
)

// Bits of header.flags.
const (
	flagSegment = 1 << iota // there is a sequence number and a body
	flagPriority
	flagAnswer // an acknowledgement is wanted at once
	flagPart   // the body is a part of the segment's
	flagsKnown = 1<<iota - 1
)

// header begins every packet; docs/design/reliable.md draws it.
type header struct {
	flags uint8
	words uint8  // of the SACK bitmap that follows
	first uint8  // word of the bitmap with which they begin
	seq   uint32 // of the segment
	ack   uint32 // all up to it have arrived
	delay uint16 // microseconds that the acknowledgement waited, saturated
	size  uint16 // of the body in bytes
}

func (h *header) putHeader(b []byte) {
	_ = b[headerSize-1]
	b[0], b[1], b[2], b[3] = version, h.flags, h.words, h.first
	binary.BigEndian.PutUint32(b[4:], h.seq)
	binary.BigEndian.PutUint32(b[8:], h.ack)
	binary.BigEndian.PutUint16(b[12:], h.delay)
	binary.BigEndian.PutUint16(b[14:], h.size)
}

// parse splits a packet; ok is false if it is not exactly one packet of this version.
func parse(b []byte) (h header, sack, body []byte, ok bool) {
	if len(b) < headerSize || b[0] != version {
		return h, nil, nil, false
	}
	h = header{
		flags: b[1], words: b[2], first: b[3],
		seq:   binary.BigEndian.Uint32(b[4:]),
		ack:   binary.BigEndian.Uint32(b[8:]),
		delay: binary.BigEndian.Uint16(b[12:]),
		size:  binary.BigEndian.Uint16(b[14:]),
	}
	end := headerSize + 8*int(h.words)
	switch {
	case h.flags&^flagsKnown != 0 || int(h.first)+int(h.words) > sackWords || len(b) != end+int(h.size):
		return h, nil, nil, false
	case (h.flags&flagSegment != 0) != (h.size > 0), h.flags&flagPart != 0 && h.flags&flagSegment == 0:
		return h, nil, nil, false
	}
	return h, b[headerSize:end], b[end:], true
}

// Kinds of record in a body.
const (
	kindFrag  = 2 // a whole message
	kindChunk = 3 // a piece of one
	kindPut   = 4 // bytes for a place that the receiver knows
)

const (
	fragHeader  = 4
	chunkHeader = 16
	putHeader   = 20
)

// record is one entry of a body.
type record struct {
	kind, tag uint8
	frag      uint32 // chunk: which message
	size      uint32 // chunk: its length
	offset    uint64 // chunk: within the message; put: within the place
	place     uint64 // put
	data      []byte
}

func (r *record) header() int {
	switch r.kind {
	case kindChunk:
		return chunkHeader
	case kindPut:
		return putHeader
	}
	return fragHeader
}

// putRecord writes the record, which fits b, and returns its length.
func (r *record) putRecord(b []byte) int {
	n := r.putHead(b)
	return n + copy(b[n:], r.data)
}

// putHead writes the part before the data and returns its length.
func (r *record) putHead(b []byte) int {
	b[0], b[1] = r.kind, r.tag
	binary.BigEndian.PutUint16(b[2:], uint16(len(r.data)))
	switch r.kind {
	case kindChunk:
		binary.BigEndian.PutUint32(b[4:], r.frag)
		binary.BigEndian.PutUint32(b[8:], r.size)
		binary.BigEndian.PutUint32(b[12:], uint32(r.offset))
	case kindPut:
		binary.BigEndian.PutUint64(b[4:], r.place)
		binary.BigEndian.PutUint64(b[12:], r.offset)
	}
	return r.header()
}

// nextRecord reads the first record of body and returns the rest.
func (r *record) nextRecord(body []byte) (rest []byte, ok bool) {
	if len(body) < fragHeader {
		return nil, false
	}
	*r = record{kind: body[0], tag: body[1]}
	n, size := r.header(), int(binary.BigEndian.Uint16(body[2:]))
	if r.kind < kindFrag || r.kind > kindPut || len(body) < n+size {
		return nil, false
	}
	r.data = body[n : n+size]
	switch r.kind {
	case kindChunk:
		r.frag = binary.BigEndian.Uint32(body[4:])
		r.size = binary.BigEndian.Uint32(body[8:])
		r.offset = uint64(binary.BigEndian.Uint32(body[12:]))
		if size == 0 || r.offset+uint64(size) > uint64(r.size) {
			return nil, false
		}
	case kindPut:
		r.place = binary.BigEndian.Uint64(body[4:])
		r.offset = binary.BigEndian.Uint64(body[12:])
		if r.offset+uint64(size) < r.offset {
			return nil, false
		}
	}
	return body[n+size:], true
}
