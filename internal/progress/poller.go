package progress

import (
	"time"

	"github.com/golci/golci/fult"
)

// Poller gives the engine's source to a scheduler's workers.
func (e *Engine) Poller() fult.Poller { return poller{e} }

type poller struct{ e *Engine }

func (p poller) Poll(w *fult.Worker) int {
	if p.e.dedicated {
		return 0
	}
	return max(0, p.e.src.Poll(w))
}

// Sleep implements fult.Poller. The second try in the source is for when nobody drives any more.
func (p poller) Sleep(d time.Duration, ready func() bool) bool {
	if p.e.dedicated {
		return false
	}
	return p.e.src.Sleep(d, ready) || p.e.sleepBehind(d, ready) || p.e.src.Sleep(d, ready)
}

// Prepare implements fult.Preparer.
func (p poller) Prepare(t *fult.Thread) { p.e.prepareThread(t) }

func (p poller) Wake() {
	p.e.src.Wake()
	p.e.wakeBehind()
}

// sleepBehind is the sleep of a worker while a goroutine that drives sleeps in the source: that one leaves when its own
// wait is over, and then the worker must poll again. False if nobody drives: another worker sleeps there, and goes on
// polling when it wakes. It lists itself before it looks whether somebody drives, and a driver stops driving before it
// looks at the list: one of them sees the other.
func (e *Engine) sleepBehind(d time.Duration, ready func() bool) bool {
	g := e.groups.Get().(*Group)
	g.drainSignals()
	e.behind.pushGroup(g)
	driven := e.driving.Load() != 0
	if driven && !ready() {
		g.parkFor(d)
	}
	e.behind.removeGroup(g)
	g.drainSignals()
	e.groups.Put(g)
	return driven
}

// wakeBehind makes the workers that sleep behind a driver look again.
func (e *Engine) wakeBehind() {
	if e.behind.n.Load() != 0 {
		e.behind.eachGroup(func(g *Group) { g.rouseWaiter(nil) })
	}
}
