package realm

import (
	"sync"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// fanOut is the number of children of a rank in the tree that counts messages.
const fanOut = 4

// quiescence finds out when all ranks have called Finalize, no task is ready or runs, and no message is under way. The
// first rank that is alive is the root. It asks for counts in waves, down a tree; a rank answers when its own part is
// quiet and its children have answered. Two waves in a row with equal sums, as many messages received as sent, are the
// end. This is the four-counter method of Mattern.
//
// If a rank has died before, the ranks that live do so twice: nobody is to go before all know of the first end.
type quiescence struct {
	mu    sync.Mutex     // guards all; nothing is taken under it
	epoch int            // ranks that have died; counts of another epoch do not count
	asked int            // the newest wave
	seen  int            // the newest wave that a rank has seen which asks for another one
	over  int            // how many ends there have been
	dead  bool           // a rank had died at the first, as all that live know
	met   int            // how often this rank has come to an end
	sums  map[int]counts // answers of children, by wave
}

// counts are messages of the ranks of a part of the tree.
type counts struct {
	ranks          int // children that have answered
	sent, received int64
}

// wave is what a rank sees of the state.
type wave struct {
	epoch, asked int
	over         bool // the end that this rank waits for has come
	answered     counts
}

func (q *quiescence) lookAtWave(n int) wave {
	q.mu.Lock()
	defer q.mu.Unlock()
	return wave{q.epoch, q.asked, q.over > q.met, q.sums[n]}
}

// peerGone begins a new epoch.
func (q *quiescence) peerGone(*Runtime) {
	q.mu.Lock()
	q.epoch++
	q.sums = nil
	q.mu.Unlock()
}

// relations are the root and this rank's parent and children among the ranks that are alive.
func (rt *Runtime) relations() (root bool, parent int, children []int) {
	var alive []int
	me := 0
	for r := range rt.ev.Size {
		if r == rt.ev.Self {
			me = len(alive)
		}
		if r == rt.ev.Self || !rt.ev.Endpoint.Gone(r) {
			alive = append(alive, r)
		}
	}
	for i := fanOut*me + 1; i <= fanOut*me+fanOut && i < len(alive); i++ {
		children = append(children, alive[i])
	}
	return me == 0, alive[max(0, me-1)/fanOut], children
}

// meetQuiet waits until all ranks have called it and all is quiet, and then ends the runners.
func (rt *Runtime) meetQuiet() error {
	if rt.ev.Size == 1 {
		rt.awaitIdle(0)
		rt.endRunners()
		return nil
	}
	for m := new(quiescenceWait); ; {
		over, err := rt.takePart(m)
		if err != nil {
			return err
		}
		if over {
			rt.endRunners()
			rt.quiescence.mu.Lock()
			rt.quiescence.met++
			rt.quiescence.mu.Unlock()
			return nil
		}
	}
}

// anyDead tells, after the first end, whether there is to be a second one. All ranks that live say the same.
func (rt *Runtime) anyDead() bool {
	rt.quiescence.mu.Lock()
	defer rt.quiescence.mu.Unlock()
	return rt.quiescence.dead
}

// quiescenceWait is what a rank knows while it waits in meet, which owns it.
type quiescenceWait struct {
	epoch int    // in which this rank has asked for a wave last, if it is not the first
	done  int    // the newest wave that this rank has answered
	last  counts // of the root: the sums of the wave before
}

// takePart takes part in one wave, and tells whether it was the last.
func (rt *Runtime) takePart(m *quiescenceWait) (over bool, err error) {
	if now := rt.quiescence.lookAtWave(0).epoch; now != m.epoch {
		m.epoch = now
		rt.askAgain()
	}
	root, parent, children := rt.relations()
	q := &rt.quiescence
	epoch := q.lookAtWave(0).epoch
	if root {
		q.mu.Lock()
		q.asked = max(q.asked, q.seen) + 1
		q.mu.Unlock()
	}
	var w wave
	stale := func() bool { w = q.lookAtWave(w.asked); return w.over || w.epoch != epoch }
	if err := rt.ev.OfRank.BlockUntil(func() bool { return stale() || w.asked > m.done }); err != nil {
		return false, err
	}
	if n := w.asked; !w.over && w.epoch == epoch {
		rt.passOn(children, epoch, n)
		rt.awaitIdle(epoch)
		answered := func() bool { return stale() || w.asked > n || q.lookAtWave(n).answered.ranks == len(children) }
		if err := rt.ev.OfRank.BlockUntil(answered); err != nil {
			return false, err
		}
		m.done = n
		if !w.over && w.epoch == epoch && w.asked == n {
			rt.answerWave(root, parent, epoch, n, q.lookAtWave(n).answered, &m.last)
		}
	}
	if q.lookAtWave(0).over {
		rt.passOn(children, epoch, m.done+1)
		return true, nil
	}
	return false, nil
}

// askAgain asks the root for another wave. This rank has learned of a death. What it has answered before does not
// count. Nor do answers that came before, even before this rank was in Finalize.
func (rt *Runtime) askAgain() {
	root, _, _ := rt.relations()
	if root {
		return // it begins one anyway
	}
	for r := range rt.ev.Self { // the first that lives is the root, whichever that is by the others' knowledge
		if !rt.ev.Endpoint.Gone(r) {
			rt.ev.Endpoint.Post(r, events.HAgain, nil, uint64(rt.quiescence.lookAtWave(0).asked))
			return
		}
	}
}

// onAgain: a rank that has seen wave n needs another one. A rank that is not the root yet, or any more, keeps it in
// mind.
func (rt *Runtime) onAgain(_ *am.Token, args []uint64, _ []byte) {
	root, _, _ := rt.relations()
	q := &rt.quiescence
	q.mu.Lock()
	defer q.mu.Unlock()
	q.seen = max(q.seen, int(args[0]))
	if root && q.asked > 0 {
		q.asked = max(q.asked, q.seen) + 1
	}
}

// passOn passes a wave on, and how many ends there have been.
func (rt *Runtime) passOn(children []int, epoch, n int) {
	q := &rt.quiescence
	q.mu.Lock()
	ends := uint64(q.over) << 1
	if q.dead {
		ends |= 1
	}
	q.mu.Unlock()
	for _, c := range children {
		rt.ev.Endpoint.Post(c, events.HWave, nil, uint64(epoch), uint64(n), ends)
	}
}

// answerWave gives the sums of this part of the tree to the parent; the root decides.
func (rt *Runtime) answerWave(root bool, parent, epoch, n int, sum counts, last *counts) {
	sent, received := rt.ev.Peers.SumMessages()
	sum.sent += sent
	sum.received += received
	sum.ranks = epoch // sums of different epochs differ
	if !root {
		rt.ev.Endpoint.Post(parent, events.HCount, nil, uint64(epoch), uint64(n), uint64(sum.sent), uint64(sum.received))
		return
	}
	if sum == *last && sum.sent == sum.received {
		rt.quiescence.mu.Lock()
		if rt.quiescence.over++; rt.quiescence.over == 1 {
			rt.quiescence.dead = epoch > 0
		}
		rt.quiescence.mu.Unlock()
	}
	*last = sum
}

// onWave: the parent begins a wave, or ends the last.
func (rt *Runtime) onWave(_ *am.Token, args []uint64, _ []byte) {
	q := &rt.quiescence
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = max(q.asked, int(args[1]))
	if n := int(args[2] >> 1); n > q.over {
		q.over, q.dead = n, args[2]&1 != 0
	}
}

// onCount: a child has answered.
func (rt *Runtime) onCount(_ *am.Token, args []uint64, _ []byte) {
	q := &rt.quiescence
	q.mu.Lock()
	defer q.mu.Unlock()
	if int(args[0]) != q.epoch {
		return
	}
	if q.sums == nil {
		q.sums = make(map[int]counts)
	}
	n := int(args[1])
	x := q.sums[n]
	q.sums[n] = counts{x.ranks + 1, x.sent + int64(args[2]), x.received + int64(args[3])}
	delete(q.sums, n-2)
}

// firstNap and lastNap bound the time between two looks at whether this rank is idle.
const (
	firstNap = 10 * time.Microsecond
	lastNap  = time.Millisecond
)

// awaitIdle waits until no task is ready or runs here, or the epoch is over.
func (rt *Runtime) awaitIdle(epoch int) {
	for nap := firstNap; !rt.isIdle() && rt.quiescence.lookAtWave(0).epoch == epoch && rt.ev.OfRank.Ended() == nil; {
		rt.ev.OfRank.Poll()
		time.Sleep(nap)
		nap = min(2*nap, lastNap)
	}
}

// isIdle tells whether no task can run without a message. A task that waits and keeps its processor has all others of
// that processor wait, too.
func (rt *Runtime) isIdle() bool {
	busy := false
	rt.procs.eachRunning(func(p *processor) {
		p.mu.Lock()
		switch {
		case p.turn == nil:
			busy = busy || len(p.back) > 0 || p.first.any()
		case !p.turn.rests:
			busy = true
		}
		p.mu.Unlock()
	})
	io := rt.procs.io
	io.mu.Lock()
	defer io.mu.Unlock()
	return !busy && io.running == io.resting
}

// endRunners ends the threads of runners that have no task.
func (rt *Runtime) endRunners() {
	rt.procs.eachRunning(func(p *processor) {
		p.mu.Lock()
		idle := p.idle
		p.idle = nil
		p.mu.Unlock()
		for _, r := range idle {
			r.quit = true
			r.giveTurn(nil)
		}
	})
}

// unended counts what waits for an event that has not triggered.
func (rt *Runtime) unended() (n int, first func() string) {
	rt.eachWait(func(event.ID, *event.Waiter) { n++ })
	if n > 0 {
		first = rt.firstWait
	}
	return n, first
}

// stopAll ends the runtime: operations cannot start any more, and calls that wait end.
func (rt *Runtime) stopAll() {
	rt.ev.Stopped.Store(true)
	if rt.data.rma != nil {
		rt.data.rma.Close()
	}
	waitSource{rt}.EndWhere(func(*pending.Op) error { return rt.ev.ClosedError() }, nil)
	rt.endRunners()
}
