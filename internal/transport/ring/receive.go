package ring

import (
	"math/bits"
	"runtime"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// Pending implements conduit.Conduit.
//
// It reads places that a concurrent Poll moves on. An old place holds the first word of a record already taken, so
// the answer is true. It holds zero or a newer word only after the ring went round. The record that made it go round
// then has its own announcement. The race detector cannot know this, so under it the poll lock is tried.
func (e *Endpoint) Pending() bool {
	if invariants.Race {
		if !e.poll.lock.TryLock() {
			return true
		}
		defer e.poll.lock.Unlock()
	}
	return e.hasPending()
}

func (e *Endpoint) hasPending() bool {
	if news := e.fails.News(); news != conduit.NoNews {
		return news == conduit.PeerGone
	}
	return e.copies.waits() || e.mail()
}

// mail tells whether something seems to have arrived.
func (e *Endpoint) mail() bool {
	p := &e.poll
	if !e.g.Scan {
		return e.seg.mail.any() || p.summary.Load() != 0
	}
	talking := e.seg.senders.Load()
	if talking != p.known.Load() {
		return true
	}
	for t := talking &^ p.ignored.Load(); t != 0; t &= t - 1 {
		i := bits.TrailingZeros64(t)
		if i >= len(e.in) {
			break
		}
		if in := e.in[i]; in.rec.isReady() || in.bulk.isReady() {
			return true
		}
	}
	return false
}

// Poll implements conduit.Conduit. After the records it makes a piece of one copy.
func (e *Endpoint) Poll(budget int, sink conduit.Sink) int {
	if !invariants.Race && !e.hasPending() {
		return 0
	}
	p := &e.poll
	if !p.lock.TryLock() {
		return 0
	}
	if invariants.Race && e.mapped {
		sink = entering{sink}
	}
	n := 0
	if news := e.fails.News(); news != conduit.OwnEnd {
		switch {
		case e.copies.waits() && !e.mail(): // a look would linger
		case e.g.Scan:
			n = e.scanRings(budget, sink)
		default:
			n = e.collectMail(budget, sink)
		}
		if e.copies.waits() {
			n += e.copyPiece()
		}
		if news == conduit.PeerGone {
			e.fails.Tell(sink, e.allDelivered)
		}
	}
	p.lock.Unlock()
	return n
}

// scanRings looks at every ring that talks, each for its share of the budget, until all are dry or the budget is spent.
func (e *Endpoint) scanRings(budget int, sink conduit.Sink) (n int) {
	p := &e.poll
	if t := e.seg.senders.Load(); t != p.known.Load() {
		e.listenTo(t)
	}
	if len(p.active) == 0 {
		return 0
	}
	share := max(budget/len(p.active), 1)
	for idle := 0; n < budget && idle < len(p.active); {
		if p.turn++; p.turn >= len(p.active) {
			p.turn = 0
		}
		took, dry := e.takeFrom(p.active[p.turn], min(share, budget-n), sink)
		n += took
		idle++
		if !dry {
			idle = 0
		}
	}
	return n
}

// listenTo makes the list of rings that talk.
func (e *Endpoint) listenTo(talking uint64) {
	p := &e.poll
	p.active = p.active[:0]
	for i, in := range e.in {
		if talking&(1<<i) != 0 && !in.ignored {
			p.active = append(p.active, in)
		}
	}
	p.known.Store(talking)
}

// collectMail serves the senders that the bit-vector tells of, beginning after the one served last.
func (e *Endpoint) collectMail(budget int, sink conduit.Sink) (n int) {
	p := &e.poll
	summary := e.seg.mail.takeMail(&p.todo, &p.summary)
	for n < budget && summary != 0 {
		i := next(&p.todo, summary, p.turn+1)
		p.turn = i
		dry := true
		if i < len(e.in) {
			var took int
			took, dry = e.takeFrom(e.in[i], min(perTurn, budget-n), sink)
			n += took
		}
		if dry {
			if p.todo[i>>6] &^= 1 << (i & 63); p.todo[i>>6] == 0 {
				summary &^= 1 << (i >> 6)
				p.summary.Store(summary)
			}
		}
	}
	return n
}

// perTurn is how much of one sender is served before the next has its turn.
const perTurn = 8

// next is the first set bit of a non-empty two-level vector at or after from, going round.
func next(todo *[64]uint64, summary uint64, from int) int {
	w := from >> 6 & 63
	if rest := todo[w] >> (from & 63) << (from & 63); rest != 0 {
		return w<<6 | bits.TrailingZeros64(rest)
	}
	after := summary >> 1 >> w << w << 1
	if after == 0 {
		after = summary
	}
	w = bits.TrailingZeros64(after)
	return w<<6 | bits.TrailingZeros64(todo[w])
}

// takeFrom delivers from one sender. dry tells that nothing is left for now.
func (e *Endpoint) takeFrom(in *incoming, budget int, sink conduit.Sink) (n int, dry bool) {
	if in.ignored {
		return 0, true
	}
	bulkDry := true
	if in.bulk.isReady() {
		n, bulkDry = e.takeBulk(in, budget, sink)
	}
	m, dry, ok := in.rec.poll(budget-n, sink)
	if !ok {
		e.broke(in, "record")
		return n + m, true
	}
	return n + m, dry && bulkDry
}

// takeBulk spends about a quarter of the budget, of a budget of one every other.
func (e *Endpoint) takeBulk(in *incoming, budget int, sink conduit.Sink) (n int, dry bool) {
	share := budget / 4
	if in.flip = !in.flip; in.flip {
		share = (budget + 3) / 4
	}
	n, dry, ok := in.bulk.poll(in.rec.src, share, sink)
	if !ok {
		e.broke(in, "bulk chunk")
	}
	return n, dry || !ok
}

// broke ends the hearing of a sender that wrote nonsense.
func (e *Endpoint) broke(in *incoming, what string) {
	e.deafen(in)
	e.Fail(in.rec.src, conduit.ErrCorrupt, what+" that it sent")
}

func (e *Endpoint) isClosed() bool { return e.fails.News() == conduit.OwnEnd }

// shortSleep bounds a sleep if the platform has no fence for all cores. Once, a sender's look at the bell may then
// run ahead of its publication.
const shortSleep = time.Millisecond

func (e *Endpoint) Sleep(d time.Duration, ready func() bool) bool {
	if e.isClosed() || !e.asleep.CompareAndSwap(false, true) {
		return false
	}
	defer e.asleep.Store(false)
	e.seg.bell.Store(1)
	if !e.bell.Fence() && !strongPublish {
		d = min(d, shortSleep)
	}
	if hookArmed != nil {
		hookArmed()
	}
	// The caller is asked in any case, and first: Pending may be true without anything that Poll delivers.
	if (ready != nil && ready()) || e.isClosed() || e.Pending() {
		e.seg.bell.Store(0)
		return true
	}
	if d > 0 {
		e.bell.Wait(e.seg.bell, d)
	}
	e.seg.bell.Store(0)
	return true
}

// strongPublish tells that arch.StoreRel64 is a full fence.
const strongPublish = invariants.Race || runtime.GOARCH != "amd64"

// hookArmed, set by tests, runs between arming and the last look.
var hookArmed func()

func (e *Endpoint) Wake() {
	if e.seg.bell.Load() != 0 && e.seg.bell.CompareAndSwap(1, 0) {
		e.bell.Ring(e.seg.bell)
	}
}
