package portals

import (
	"errors"
	"fmt"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/arch"
)

// ErrOverflow means that a request found no room in the peer's receive space although every request within its credits does:
// flow control is off, or the sender spent credits that it did not have. Both ends then find each other failed.
var ErrOverflow = errors.New("receive space overflowed")

// Reserve implements conduit.Conduit. It takes chunks and a ticket first, harvesting completions if there are too few, and
// then the place, so that a refusal has no effect.
func (c *Conduit) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	to := c.to(peer)
	if to == nil || uint(n)-conduit.WordBytes > uint(c.g.maxRecord-conduit.WordBytes) || int(class) >= len(queueOf) {
		return nil, conduit.Dead
	}
	ln := &c.lanes[peer]
	c.drop(peer)
	i := queueOf[class]
	q := &to.seg.queues[i]
	n = (n + 7) &^ 7
	k := uint32((n + q.unit - 1) / q.unit)
	price, keep := costOf(i, k), 0
	if class == conduit.Request {
		keep = answerTickets
	}
	if !c.purse.take(price, keep) && !c.takeSlow(price, keep) {
		return nil, conduit.Retry
	}
	p, st := q.reserve(k)
	if st != conduit.OK {
		return nil, c.noRoom(peer, i, n, price, st)
	}
	ln.place, ln.n = p, uint32(n|i)
	return q.space(p, n), conduit.OK
}

func (c *Conduit) takeSlow(price cost, keep int) bool {
	if c.harvest(false); c.purse.take(price, keep) {
		return true
	}
	c.purse.refused(price, keep)
	return false
}

// noRoom gives the price back and decides between Retry and the catch basin. Replies and system records can always be tried
// again. Requests too, where nothing is guaranteed or where places lie about that were reserved and given up.
func (c *Conduit) noRoom(peer, i, n int, price cost, st conduit.Status) conduit.Status {
	to := c.all[peer]
	c.purse.give(price)
	c.full[i].Add(1)
	// Places that were given up take room until the receiver has passed them, and nobody rings for them.
	to.announce()
	if st == conduit.Retry || i != amQueue || c.g.tiny || to.seg.queues[i].padded.Load() > 0 {
		return conduit.Retry
	}
	to.overflow.Add(1)
	detail := fmt.Sprintf("rank %d sent a request of %d bytes to rank %d, whose %d bytes for requests were full",
		c.rank, n, peer, len(to.seg.queues[i].data))
	c.fail(peer, ErrOverflow, detail)
	if to != c {
		to.fail(c.rank, ErrOverflow, detail)
	}
	return conduit.Dead
}

// Commit implements conduit.Conduit.
func (c *Conduit) Commit(peer int, first uint64) {
	if uint(peer) >= uint(len(c.lanes)) {
		return
	}
	ln := &c.lanes[peer]
	size := int(uint32(first))
	if size < conduit.WordBytes || size > ln.length() {
		return
	}
	to, i := c.all[peer], ln.queue()
	q := &to.seg.queues[i]
	k := uint32((ln.length() + q.unit - 1) / q.unit)
	// Atomic, because an idle receiver touches the word.
	arch.StoreRel64(q.first(ln.at), first)
	if price := costOf(i, k); price != 0 {
		ln.sent.Add(uint64(price))
		c.purse.sent(peer)
	}
	ln.n = 0
	q.publish(ln.place, c.rank, k)
	to.announce()
}

// drop gives the space back that is reserved for peer and was not committed.
func (c *Conduit) drop(peer int) {
	ln := &c.lanes[peer]
	if ln.n == 0 {
		return
	}
	i := ln.queue()
	q := &c.all[peer].seg.queues[i]
	k := uint32((ln.length() + q.unit - 1) / q.unit)
	ln.n = 0
	q.cancel(ln.place, k)
	c.purse.give(costOf(i, k))
}
