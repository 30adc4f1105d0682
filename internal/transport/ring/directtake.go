package ring

import (
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// Next implements conduit.Taker. The race detector cannot know why the look is sound (see Pending), so under it there
// is never a next record.
func (e *Endpoint) Next(src int) bool {
	if invariants.Race || uint(src) >= uint(len(e.from)) || e.isClosed() {
		return false
	}
	in := e.from[src]
	return in != nil && in.rec.isReady()
}

func (e *Endpoint) Take(src int, a conduit.Acceptor) bool {
	p := &e.poll
	if uint(src) >= uint(len(e.from)) || !p.lock.TryLock() {
		return false
	}
	in := e.from[src]
	took := in != nil && !in.ignored && !e.isClosed() && in.rec.takeNext(a)
	p.lock.Unlock()
	return took
}

// takeNext offers the next record. What is not a plain record in one piece is left to poll.
func (c *Consumer) takeNext(a conduit.Acceptor) bool {
	off := int(c.off.Load())
	size := int(uint32(c.wordAt(off).Load())) // acquires the record's bytes, as in poll; a pad is too long
	next := off + (size+Line-1)&^(Line-1)
	if size < conduit.WordBytes || size > c.g.MaxRecord || next > len(c.data) {
		return false
	}
	if !a.Accept(c.src, c.data[off:off+size:off+size]) {
		return false
	}
	c.taken += uint64(next - off)
	if next == len(c.data) {
		next = 0
	}
	c.reportPlace(next)
	return true
}
