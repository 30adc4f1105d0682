package udp

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/reliable"
)

// bulkStage is the chunks that were copied, or filled in place, and that are not acknowledged: slots used in turn, each
// by its writer (the caller of BulkSend or BulkReserve) while it is free, and by the holder of engine from then on.
type bulkStage struct {
	slots atomic.Pointer[[]slot] // made by the writer when it first needs them
	// Of the writer.
	write    int
	reserved int           // bytes of that slot that are being filled; 0 if none are
	sent     atomic.Uint64 // bytes
	// Under engine; of the rank's own lane, under poll.
	read int
}

// slot is one chunk.
type slot struct {
	state atomic.Uint32 // slotFree and so on
	n     int
	id    uint64
	off   int64
	buf   []byte
}

const (
	slotFree uint32 = iota
	slotStaged
	slotBusy // the reliable core reads it
)

// BulkSend implements conduit.Conduit.
func (c *Conduit) BulkSend(peer int, id uint64, off int64, data []byte) int {
	if c.unreachable(peer) {
		return -1
	}
	if c.g.chunk == 0 || len(data) == 0 {
		return 0
	}
	done := 0
	for done < len(data) {
		space := c.bulkSpace(c.lane(peer), len(data)-done)
		if space == nil {
			break
		}
		n := copy(space, data[done:])
		c.lane(peer).bulk.stage(id, off+int64(done), n)
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
	space := c.bulkSpace(c.lane(peer), n)
	if space == nil {
		return nil, conduit.Retry
	}
	return space, conduit.OK
}

// BulkCommit implements conduit.Conduit.
func (c *Conduit) BulkCommit(peer int, id uint64, off int64, n int) {
	if uint(peer) >= uint(len(c.lanes)) || n <= 0 || n > c.lane(peer).bulk.reserved {
		return
	}
	c.lane(peer).bulk.stage(id, off, n)
	c.pushBulk(peer)
}

// bulkSpace is room for up to n bytes in the slot that is next, nil if there is none now.
func (c *Conduit) bulkSpace(ln *lane, n int) []byte {
	b := &ln.bulk
	b.reserved = 0
	slots := b.all()
	if slots == nil {
		slots = b.make(c.g.slots)
	}
	s := &slots[b.write]
	n = min(n, c.g.chunk)
	if s.state.Load() != slotFree || b.sent.Load()+uint64(n)-ln.bulkFreed.Load() > uint64(c.g.slots*c.g.chunk) {
		return nil
	}
	if cap(s.buf) < n {
		s.buf = make([]byte, c.g.chunk)
	}
	b.reserved = n
	return s.buf[:n]
}

// stage gives the engine the slot that is next, with n bytes.
func (b *bulkStage) stage(id uint64, off int64, n int) {
	slots := b.all()
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
		c.push(peer)
	}
}

// make makes n slots; apart from BulkSend, where what is published would be allocated in each call.
func (b *bulkStage) make(n int) []slot {
	slots := make([]slot, n)
	b.slots.Store(&slots)
	return slots
}

// all is the slots, nil before the first is used.
func (b *bulkStage) all() []slot {
	if p := b.slots.Load(); p != nil {
		return *p
	}
	return nil
}

// next is the oldest staged chunk, or nil.
func (b *bulkStage) next() *slot {
	slots := b.all()
	if slots == nil {
		return nil
	}
	if s := &slots[b.read]; s.state.Load() == slotStaged {
		return s
	}
	return nil
}

// handed notes that the core or the sink has got what next gave, under a new state.
func (b *bulkStage) handed(state uint32) {
	slots := b.all()
	slots[b.read].state.Store(state)
	b.read = (b.read + 1) % len(slots)
}

// lent is bulk data that is sent from where it lies. Under engine.
type lent struct {
	loan conduit.Loan
	n    int
}

// lentLoan marks the number of a message that is lent, among those that the core has taken.
const lentLoan = 1 << 62

// LendsTo implements conduit.Lender.
func (c *Conduit) LendsTo(peer int) bool { return c.g.chunk > 0 && peer != c.cfg.Rank }

// BulkLend implements conduit.Lender.
func (c *Conduit) BulkLend(peer int, id uint64, off int64, data []byte, loan conduit.Loan) int {
	if c.unreachable(peer) {
		return -1
	}
	if !c.LendsTo(peer) || !c.engine.TryLock() {
		return 0
	}
	c.now = c.clock()
	n := 0
	if !c.lane(peer).saidBye && c.know(peer) {
		n = c.lend(peer, id, off, data, loan)
	}
	if n > 0 {
		c.turn()
		c.keeper.expect(time.Duration(c.due.Load()))
	}
	c.release()
	return n
}

func (c *Conduit) lend(peer int, id uint64, off int64, data []byte, loan conduit.Loan) int {
	ln := c.lane(peer)
	room := uint64(c.g.slots*c.g.chunk) - (ln.bulk.sent.Load() - ln.bulkFreed.Load())
	n := min(len(data), int(room))
	if n < len(data) {
		n -= n % c.g.chunk // not in crumbs
	}
	if n <= 0 {
		return 0
	}
	i := len(c.lent)
	if k := len(c.lentFree); k > 0 {
		i, c.lentFree = int(c.lentFree[k-1]), c.lentFree[:k-1]
	} else {
		c.lent = append(c.lent, lent{})
	}
	c.lent[i] = lent{loan, n}
	m := reliable.Message{Data: data[:n], Tag: tagBulk, Put: true, Place: id, Offset: uint64(off), ID: lentLoan | uint64(i)}
	switch c.core.Send(peer, m, c.now) {
	case reliable.Taken:
		ln.bulk.sent.Add(uint64(n))
		return n
	case reliable.Copied: // it is short
		ln.bulk.sent.Add(uint64(n))
		c.returnLent(i, nil)
		return n
	}
	c.lent[i] = lent{}
	c.lentFree = append(c.lentFree, int32(i))
	return 0
}

func (c *Conduit) returnLent(i int, err error) {
	l := c.lent[i]
	c.lent[i] = lent{}
	c.lentFree = append(c.lentFree, int32(i))
	l.loan.Returned(l.n, err)
}
