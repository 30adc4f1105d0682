package udp

import (
	"sync/atomic"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// bulkStage is the chunks that were copied, or filled in place, and that are not acknowledged: slots used in turn, each
// by its writer (the caller of BulkSend or BulkReserve) while it is free, and by the holder of engine from then on.
type bulkStage struct {
	slots atomic.Pointer[[]slot] // made by the writer when it first needs them
	// Of the writer.
	write    int
	reserved int           // bytes of that slot that are being filled; 0 if none are
	sent     atomic.Uint64 // bytes, also of what is kept
	// Under engine; of the rank's own peer, under poll.
	read int
}

// slot is one chunk.
type slot struct {
	state atomic.Uint32 // slotFree and so on
	n     int
	id    uint64
	off   int64
	buf   *[]byte // nil while the slot is free and nothing is reserved in it; of whom the state says
}

const (
	slotFree uint32 = iota
	slotStaged
	slotBusy // the reliable core reads it
)

// BulkSend implements conduit.Conduit. Large data for other ranks are kept where that is allowed.
func (c *Conduit) BulkSend(peer int, id uint64, off int64, data []byte, keep conduit.Completion) (n int, kept bool) {
	invariants.Leave()
	switch {
	case c.unreachable(peer):
		return -1, false
	case c.g.chunk == 0 || len(data) == 0:
		return 0, false
	case keep != nil && len(data) >= keepFrom && peer != c.cfg.Rank:
		return c.keepData(peer, id, off, data, keep)
	}
	return c.copied(peer, id, off, data), false
}

// copied puts as much of data as there are free slots for into the stage.
func (c *Conduit) copied(peer int, id uint64, off int64, data []byte) int {
	done := 0
	for done < len(data) {
		space := c.bulkSpace(c.peerState(peer), len(data)-done)
		if space == nil {
			break
		}
		n := copy(space, data[done:])
		c.peerState(peer).bulk.stage(id, off+int64(done), n)
		done += n
	}
	if done > 0 {
		c.pushBulk(peer)
	}
	return done
}

// BulkReserve implements conduit.Conduit.
func (c *Conduit) BulkReserve(peer, n int) ([]byte, conduit.Status) {
	if c.unreachable(peer) {
		return nil, conduit.Dead
	}
	if c.g.chunk == 0 || n <= 0 {
		return nil, conduit.Retry
	}
	space := c.bulkSpace(c.peerState(peer), n)
	if space == nil {
		return nil, conduit.Retry
	}
	return space, conduit.OK
}

// BulkCommit implements conduit.Conduit.
func (c *Conduit) BulkCommit(peer int, id uint64, off int64, n int) {
	if uint(peer) >= uint(len(c.peers)) || n <= 0 || n > c.peerState(peer).bulk.reserved {
		return
	}
	invariants.Leave()
	c.peerState(peer).bulk.stage(id, off, n)
	c.pushBulk(peer)
}

// bulkSpace is room for up to n bytes in the slot that is next, nil if there is none now.
func (c *Conduit) bulkSpace(ln *peerState, n int) []byte {
	b := &ln.bulk
	b.reserved = 0
	slots := b.allSlots()
	if slots == nil {
		slots = b.make(c.g.slots)
	}
	s := &slots[b.write]
	n = min(n, c.g.chunk)
	if s.state.Load() != slotFree || b.sent.Load()+uint64(n)-ln.bulkFreed.Load() > uint64(c.g.slots*c.g.chunk) {
		return nil
	}
	if s.buf == nil {
		s.buf = c.chunks.Get().(*[]byte)
	}
	b.reserved = n
	return (*s.buf)[:n]
}

// stage gives the engine the slot that is next, with n bytes.
func (b *bulkStage) stage(id uint64, off int64, n int) {
	slots := b.allSlots()
	s := &slots[b.write]
	s.id, s.off, s.n = id, off, n
	b.sent.Add(uint64(n))
	b.reserved = 0
	b.write = (b.write + 1) % len(slots)
	s.state.Store(slotStaged)
}

// pushBulk has what was staged move.
func (c *Conduit) pushBulk(peer int) {
	if peer == c.cfg.Rank {
		c.selfMail()
	} else {
		c.pushStaged(peer)
	}
}

// make makes n slots; apart from bulkSpace, where what is published would be allocated in each call.
func (b *bulkStage) make(n int) []slot {
	slots := make([]slot, n)
	b.slots.Store(&slots)
	return slots
}

// allSlots is the slots, nil before the first is used.
func (b *bulkStage) allSlots() []slot {
	if p := b.slots.Load(); p != nil {
		return *p
	}
	return nil
}

// nextSlot is the oldest staged chunk, or nil.
func (b *bulkStage) nextSlot() *slot {
	slots := b.allSlots()
	if slots == nil {
		return nil
	}
	if s := &slots[b.read]; s.state.Load() == slotStaged {
		return s
	}
	return nil
}

// data is what the slot holds.
func (s *slot) data() []byte { return (*s.buf)[:s.n] }

// handed notes that the core or the sink has got what nextSlot gave.
func (b *bulkStage) handed() { b.read = (b.read + 1) % len(b.allSlots()) }

// freeSlot gives a slot whose chunk nobody reads any more back to its writer. The memory goes back to the conduit: a
// rank that has talked to many keeps none for each of them.
func (c *Conduit) freeSlot(s *slot) {
	c.chunks.Put(s.buf)
	s.buf = nil
	s.state.Store(slotFree)
}
