package udp

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/receivepool"
	"github.com/golci/golci/internal/transport/reliable"
	"github.com/golci/golci/internal/transport/tickets"
)

// Kinds of messages, as tags.
const (
	tagRequest uint8 = 1 + iota
	tagReply
	tagSystem
	tagBulk
	tagBye
	tagOverflow
	tagDeath
)

// Tags of records by class, and classes by queue.
var (
	tagOf   = [...]uint8{conduit.Request: tagRequest, conduit.Reply: tagReply, conduit.System: tagSystem}
	classOf = [...]conduit.Class{receivepool.AM: conduit.Request, receivepool.SAFE: conduit.Reply, receivepool.SYS: conduit.System}
)

// Bounds of one pass.
const (
	passPackets = 64
	// flushBytes is how much may wait for the next poll, flushAfter how long after the peer's last datagram it may.
	flushBytes = 16 << 10
	flushAfter = 50 * time.Microsecond
	// pollsAgain is after how long without a poll nobody is expected to poll soon.
	pollsAgain = 200 * time.Microsecond
	// coalesceAfter counts rounds with more than one record to a peer. After so many the first record of a round waits.
	// In each of them a record that was kept back must have left soon after the first.
	coalesceAfter = 8
	ackSoonDelay  = 20 * time.Microsecond
	// fullFor is after how long a socket that was full is tried again.
	fullFor = 250 * time.Microsecond
)

// mark lists a peer as having something staged.
func (c *Conduit) mark(peer int) {
	ln := c.peerState(peer)
	if ln.dirty.Load() || !ln.dirty.CompareAndSwap(false, true) {
		return
	}
	c.dirtyMu.Lock()
	c.dirty = append(c.dirty, int32(peer))
	c.dirties.Store(int32(len(c.dirty)))
	c.dirtyMu.Unlock()
}

// pushStaged moves what a caller has staged for peer on its way, at once or, while other datagrams to the peer have
// just left, with the next poll. Where another holds engine, that one does it.
func (c *Conduit) pushStaged(peer int) {
	if !c.engine.tryLock() {
		c.mark(peer)
		if !c.engine.tryLock() {
			return // the holder has yet to look for marks
		}
	}
	c.now = c.clock()
	c.drainPeer(peer)
	if c.atOnce(c.peerState(peer)) {
		c.turn()
		c.background.expectAt(time.Duration(c.due.Load()))
	} else {
		if c.heldAt == 0 {
			c.heldAt = c.now
		}
		c.held.Store(true)
		c.background.expectAt(c.now + tick)
	}
	c.releaseEngine()
}

// releaseEngine gives engine back, and does what others have left to its holder meanwhile.
func (c *Conduit) releaseEngine() {
	c.engine.Unlock()
	for c.dirties.Load() > 0 && c.engine.tryLock() {
		c.turn()
		c.background.expectAt(time.Duration(c.due.Load()))
		c.engine.Unlock()
	}
}

// atOnce tells whether something staged for a peer should leave now: nobody polls, or it is the first since the last
// poll and seldom has company, or the last datagram left a while ago, or there is much.
func (c *Conduit) atOnce(ln *peerState) bool {
	p := c.polls.Load()
	first := ln.flushed != p
	if ln.flushed = p; first {
		ln.learnCompany(c.slow)
	}
	may := c.now-c.polled < pollsAgain && c.out.waits < flushBytes && !c.sleep.asleep.Load()
	if first {
		return !may || ln.coalesceRounds < coalesceAfter
	}
	if !may || c.now-c.out.last >= flushAfter && c.heldAt == 0 {
		return true
	}
	ln.followed = true
	return false
}

// learnCompany begins a round, which lasts from one poll to the next: did something follow the first record of the
// round before, and was kept back? Only a rank that has had company in each of the last rounds waits for it, and one
// that polled soon after it.
func (ln *peerState) learnCompany(slow uint32) {
	if !ln.followed || ln.slow != slow {
		ln.coalesceRounds = 0
	} else if ln.coalesceRounds < coalesceAfter {
		ln.coalesceRounds++
	}
	ln.followed, ln.slow = false, slow
}

// drainStages hands what is staged to the core, as far as windows go.
func (c *Conduit) drainStages() {
	if c.dirties.Load() == 0 {
		return
	}
	c.dirtyMu.Lock()
	c.drained = append(c.drained[:0], c.dirty...)
	c.dirty = c.dirty[:0]
	c.dirties.Store(0)
	c.dirtyMu.Unlock()
	for _, p := range c.drained {
		// Before the stages are looked at: what is committed after that look marks the peer again.
		c.peerState(int(p)).dirty.Store(false)
		c.drainPeer(int(p))
	}
}

func (c *Conduit) drainPeer(peer int) {
	ln := c.peerState(peer)
	ln.blocked = false
	if c.fails.Lost(peer) {
		c.repay(ln, ln.held.Load())
		return
	}
	if ln.saidBye || !c.know(peer) {
		return
	}
	for {
		rec, class := ln.stage.nextRecord()
		if rec == nil {
			break
		}
		if !c.handRecord(peer, ln, rec, class) {
			c.stick(peer, ln)
			break
		}
		c.out.waits += len(rec)
		ln.stage.popRecord(len(rec))
	}
	c.drainBulk(peer, ln)
}

// handRecord gives a record to the core; false if it has no room.
func (c *Conduit) handRecord(peer int, ln *peerState, rec []byte, class conduit.Class) bool {
	m := reliable.Message{Data: rec, Tag: tagOf[class], Urgent: class == conduit.System}
	if len(rec) > ln.mtu-mostOverhead { // it goes in pieces, and has to stay
		m.Data, m.ID = c.loans.takeLoan(rec)
	}
	switch st := c.core.Send(peer, m, c.now); st {
	case reliable.Copied:
		if m.ID != 0 {
			c.loans.giveLoan(m.ID)
		}
		return true
	case reliable.Taken:
		return true
	default:
		if m.ID != 0 {
			c.loans.giveLoan(m.ID)
		}
		if st != reliable.Full {
			c.giveUp(peer, conduit.ErrUnreachable, "the core says "+st.String())
		}
		return false
	}
}

func (c *Conduit) drainBulk(peer int, ln *peerState) {
	for s := ln.bulk.nextSlot(); s != nil; s = ln.bulk.nextSlot() {
		id := bulkLoan | uint64(peer)<<16 | uint64(ln.bulk.read)
		m := reliable.Message{Data: s.data(), Tag: tagBulk, Put: true, Place: s.id, Offset: uint64(s.off), ID: id}
		switch c.core.Send(peer, m, c.now) {
		case reliable.Copied:
			c.freeSlot(s)
		case reliable.Taken:
			s.state.Store(slotBusy)
		default:
			c.stick(peer, ln)
			return
		}
		ln.bulk.handed()
		c.out.waits += len(m.Data)
	}
}

// Ended implements reliable.Sink: a message that was taken has arrived, or the peer is dead.
func (c *Conduit) Ended(_ int, id uint64, err error) {
	switch {
	case id&keptLoan != 0:
		c.keptEnded(int(id&^keptLoan), err)
		return
	case id&bulkLoan == 0:
		c.loans.giveLoan(id)
		return
	}
	peer, i := int(id&^bulkLoan>>16), int(id&(1<<16-1))
	ln := c.peerState(peer)
	c.freeSlot(&ln.bulk.allSlots()[i])
	if ln.blocked {
		c.mark(peer)
	}
}

// stick notes that the core has no room for more towards a peer.
func (c *Conduit) stick(peer int, ln *peerState) {
	if ln.blocked = true; !slices.Contains(c.stuck, int32(peer)) {
		c.stuck = append(c.stuck, int32(peer))
	}
}

// unstick tries again what the core had no room for.
func (c *Conduit) unstick() {
	for _, p := range c.stuck {
		c.mark(int(p))
	}
	c.stuck = c.stuck[:0]
}

// turn moves everything on: what is staged into the core, and out of it. Under engine.
func (c *Conduit) turn() {
	for again := true; again; again = len(c.stuck) > 0 && !c.out.full && c.out.sent {
		c.unstick()
		c.drainStages()
		c.sendPackets(passPackets)
	}
	if len(c.deaths) > 0 {
		c.spreadDeaths()
		c.sendPackets(passPackets)
	}
	if c.held.Load() {
		c.held.Store(false)
		if c.heldAt > 0 && c.now-c.heldAt > ackSoonDelay {
			c.slow++
		}
		c.heldAt = 0
	}
	if len(c.sized) > 0 && c.now >= c.sizeAt {
		c.judgeSizes()
		c.out.flushBatch()
	}
	c.schedule()
}

// schedule says when the next turn is due.
func (c *Conduit) schedule() {
	due := c.core.NextTimer()
	if len(c.departing) > 0 {
		c.forgetDue()
		if len(c.departing) > 0 {
			due = min(due, c.departing[0].at)
		}
	}
	if c.debts.Load() {
		due = min(due, c.now+patience)
	}
	if c.out.full { // the core would go on at once, in vain
		due = c.now + fullFor
	}
	c.due.Store(int64(due))
}

// sendPackets lets the core's packets out.
func (c *Conduit) sendPackets(budget int) {
	c.out.waits, c.out.sent = 0, false
	for {
		n := c.core.Outgoing(c.now, budget, c.out.face)
		c.out.flushBatch()
		if n < budget || c.out.full {
			return
		}
	}
}

// heard takes in what a peer says it has served and taken.
func (c *Conduit) heard(peer int, served uint64, bulk uint32) {
	ln := c.peerState(peer)
	c.repay(ln, served)
	if advance(&ln.bulkFreed, bulk, ln.bulk.sent.Load()) && ln.blocked {
		c.mark(peer)
	}
}

// repay gives what the peer has served back to the send window, unless that was told before.
func (c *Conduit) repay(ln *peerState, served uint64) {
	if d := served - ln.repaid; d != 0 && d <= ln.held.Load()-ln.repaid {
		ln.repaid = served
		c.window.Give(tickets.Cost(d))
	}
}

// advance moves a counter to the value whose low half is told, if that lies ahead of it and not beyond most.
func advance(v *atomic.Uint64, told uint32, most uint64) bool {
	old := v.Load()
	d := told - uint32(old)
	if d == 0 || d >= 1<<31 || old+uint64(d) > most {
		return false
	}
	v.Store(old + uint64(d))
	return true
}
