package realm

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// finishBatch gathers finish events of tasks that another rank has spawned on a processor. That rank is told of several
// by one message. An event stays here only while brisk tasks follow one another: the runner sends what there is before
// a task that may take long, as far as can be foreseen, and when it loses the turn. If it was mistaken, the next poll
// that finds an event here for longer than Runtime.coarseClock sends it. So a task that never ends keeps no other one
// back.
type finishBatch struct {
	mu    spin.Lock // guards list, n and to; nothing is taken under it
	n     int
	to    int // the owner of all of list
	list  [mostEnds]uint64
	since atomic.Uint64 // when the first of list came, 1 for long ago; 0: list is empty. Written under mu

	// These belong to the runner that has the turn.
	last   uint64 // when the task before ended, if this one began right then; else 0
	pass   int    // tasks that are to end without gathering
	passes int    // how many after the next one that takes long
}

// mostEnds is how many events fill a message of one cache line.
const mostEnds = 6

// briskTime is how long tasks may take of which the ends are gathered. rarely is how many tasks are not gathered after
// one that took longer, at most.
const (
	briskTime = 2 * time.Microsecond
	rarely    = 255
)

// setBrisk measures what briskTime is by the clock of the timeline.
func (rt *Runtime) setBrisk() {
	const many = 1 << 20
	scale, now := rt.ev.Log.Clock.Scale(), rt.ev.Log.Clock.Now()
	rt.coarseClock.Store(many * uint64(briskTime) / uint64(max(1, scale(now+many)-scale(now))))
}

// follows tells whether a task that ends now was brisk, and so the next one should be.
func (x *finishBatch) follows(now, brisk uint64) bool {
	took, known := now-x.last, x.last != 0
	x.last = now
	switch {
	case !known:
		return false
	case took > brisk:
		x.passes = min(2*x.passes+1, rarely)
		x.pass = x.passes
		return false
	case x.pass > 0:
		x.pass--
		return false
	}
	return true
}

// endTask triggers finish, an event of another rank, for a task without a fault. The caller has the turn. It reads the
// clock only where another task follows at once.
func (p *processor) endTask(k *events.Cascade, finish event.ID) {
	rt, x := p.rt, &p.finished
	if finish.EventRank() >= rt.ev.Size || finish.Gen() == 0 {
		return
	}
	asked, st := k.Assume(finish, nil)
	if st != event.Pending {
		return
	}
	var now uint64
	keep := false
	if p.chain.isEmpty() || p.urgent.Load() {
		x.last = 0
	} else {
		now = rt.ev.Log.Clock.Now()
		keep = x.follows(now, rt.coarseClock.Load())
	}
	if asked != 0 || !keep && x.since.Load() == 0 {
		rt.ev.PostMessage(finish.EventRank(), events.HTrigger, nil, uint64(finish), asked)
	} else {
		x.addFinish(rt, finish, now)
	}
	if !keep {
		x.sendList(rt)
	}
}

// addFinish puts finish on the list. The caller has the turn.
func (x *finishBatch) addFinish(rt *Runtime, finish event.ID, now uint64) {
	to := finish.EventRank()
	if x.to != to { // only who has the turn changes it
		x.sendList(rt)
	}
	x.mu.Lock()
	if x.n == 0 {
		x.to = to
		x.since.Store(max(now, 1))
		rt.ev.Peers.PeerOf(to).Sent.Add(1) // from now on, for quiescence
		rt.ev.Endpoint.Hold(1)
	}
	x.list[x.n] = uint64(finish)
	x.n++
	full := x.n == mostEnds
	x.mu.Unlock()
	if full {
		x.passes = 0
		x.sendList(rt)
	}
}

// sendList sends the list, if it is not empty.
func (x *finishBatch) sendList(rt *Runtime) bool {
	if x.since.Load() == 0 {
		return false
	}
	x.mu.Lock()
	list, n, to := x.list, x.n, x.to
	x.n = 0
	x.since.Store(0)
	x.mu.Unlock()
	if n == 0 {
		return false
	}
	rt.ev.Endpoint.Hold(-1)
	rt.ev.Endpoint.Post(to, events.HEnds, nil, list[:n]...)
	return true
}

// sendFirst sends the list before the runner does other work than the next task.
func (x *finishBatch) sendFirst(rt *Runtime) {
	x.sendList(rt)
	x.last = 0
}

// sendOldEnds is am.Layer.Held.
func (rt *Runtime) sendOldEnds(*fult.Worker) (sent int) {
	now := rt.ev.Log.Clock.Now()
	rt.procs.eachRunning(func(p *processor) {
		x := &p.finished
		if since := x.since.Load(); since != 0 && int64(now-since) > int64(rt.coarseClock.Load()) && x.sendList(rt) {
			sent++
		}
	})
	return sent
}

// onEnds: tasks that this rank has spawned on another have ended.
func (rt *Runtime) onEnds(t *am.Token, args []uint64, _ []byte) {
	k := rt.ev.BeginCascade(t.Worker())
	for _, a := range args {
		e := event.ID(a)
		if !rt.ev.Owns(e) || k.TriggerOwn(e, events.Nobody, nil) == event.Unknown {
			rt.ev.Malformed(t, "the end of", e)
		}
	}
	k.EndCascade(events.PollBudget)
}
