package ring

import (
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/arch"
)

// slotHead describes the chunk that follows it in a slot. It is written by the sender before it counts the slot as
// sent, and read by the receiver after.
type slotHead struct {
	id   uint64
	off  int64
	size uint64
	_    [Line - 24]byte
}

// pipe is the common part of both ends of a pair's bulk channel: slots taken in turn, and two cumulative counters.
type pipe struct {
	mem    []byte
	chunk  int
	slots  uint64
	stride int
	sent   *atomic.Uint64 // written by the sender, after the slot
	taken  *atomic.Uint64 // written by the receiver, when it is done with the slot
}

func newPipe(mem []byte, g *Geometry, sent, taken *atomic.Uint64) pipe {
	return pipe{mem: mem, chunk: g.Chunk, slots: uint64(g.Slots), stride: slotStride(g), sent: sent, taken: taken}
}

func slotStride(g *Geometry) int { return Line + align(g.Chunk, Line) }

func (p *pipe) slot(turn uint64) (*slotHead, []byte) {
	at := int(turn%p.slots) * p.stride
	return (*slotHead)(unsafe.Pointer(&p.mem[at])), p.mem[at+Line : at+Line+p.chunk]
}

// bulkSender is the sending end, used under the lock of whoever calls BulkSend.
type bulkSender struct {
	pipe
	turn     uint64 // slots sent
	seen     uint64 // last value taken from taken
	reserved int    // bytes of the slot that is being filled; 0 if none is
}

// reserveSlot gives room for up to n bytes, which are more than 0, in the next slot: nil if all are full. ok is false
// if the receiver's counter is impossible.
func (b *bulkSender) reserveSlot(n int) (space []byte, ok bool) {
	b.reserved = 0
	if b.turn-b.seen >= b.slots {
		taken := b.taken.Load()
		if taken-b.seen > b.slots {
			return nil, false
		}
		if b.seen = taken; b.turn-taken == b.slots {
			return nil, true
		}
	}
	_, body := b.slot(b.turn)
	b.reserved = min(n, len(body))
	return body[:b.reserved], true
}

// commit sends the slot that reserve gave, with n bytes.
func (b *bulkSender) commit(id uint64, off int64, n int) {
	head, _ := b.slot(b.turn)
	head.id, head.off, head.size = id, off, uint64(n)
	b.reserved = 0
	b.turn++
	arch.StoreRel64(b.sent, b.turn)
}

// sendLeading fills free slots with leading bytes of data. ok is false if the receiver's counter is impossible.
func (b *bulkSender) sendLeading(id uint64, off int64, data []byte) (n int, ok bool) {
	for n < len(data) {
		space, ok := b.reserveSlot(len(data) - n)
		if space == nil {
			return n, ok
		}
		size := arch.CopyOut(space, data[n:])
		b.commit(id, off+int64(n), size)
		n += size
	}
	return n, true
}

// bulkReceiver is the receiving end, used under the poll lock, except ready.
type bulkReceiver struct {
	pipe
	turn atomic.Uint64 // slots taken; written under the poll lock
}

func (b *bulkReceiver) isReady() bool { return b.sent.Load() != b.turn.Load() }

// poll delivers up to budget chunks. ok is false if the sender's counter or a slot's size is impossible.
func (b *bulkReceiver) poll(src, budget int, sink conduit.Sink) (n int, dry, ok bool) {
	turn := b.turn.Load()
	sent := b.sent.Load()
	if sent-turn > b.slots {
		return 0, false, false
	}
	for n < budget && turn != sent {
		head, body := b.slot(turn)
		h := *head // once, because the sender's process may be broken and write again
		if h.size > uint64(len(body)) {
			return n, false, false
		}
		sink.Bulk(src, h.id, h.off, body[:h.size:h.size])
		turn++
		n++
		arch.StoreRel64(&b.turn, turn)
		arch.StoreRel64(b.taken, turn)
	}
	return n, turn == sent, true
}
