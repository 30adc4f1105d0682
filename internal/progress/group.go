package progress

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/fult"
)

// Group waits for several operations with one wake-up. It belongs to one waiting thread or goroutine at a time; signals
// may come from anywhere, and may be too many: a waiter looks again after each.
type Group struct {
	left   atomic.Int32 // signals until the wake-up
	asleep atomic.Bool  // its goroutine sleeps in the source
	thread *fult.Thread // who waits, for the group's whole life; nil: the goroutine that receives from wake
	wake   chan struct{}
	engine *Engine
	timer  *time.Timer
	ready  func() bool // prebuilt, so that sleeping allocates nothing
	// Under the lock of the list that it is in.
	listed     bool
	prev, next *Group
	single     [1]*Done // room for a want of one; the waiter's own
}

func newGroup(e *Engine, t *fult.Thread) *Group {
	g := &Group{engine: e, thread: t}
	if t == nil {
		g.wake = make(chan struct{}, 1)
	}
	g.ready = g.hasFired
	return g
}

const many = 1 << 30 // signals, more than any wait needs: while left is near it none wakes

func (g *Group) signalGroup(w *fult.Worker) {
	if g.left.Add(-1) > 0 {
		return
	}
	g.rouseWaiter(w)
}

// rouseWaiter wakes the thread or goroutine that waits, which then checks its condition again. w is the worker of the
// caller, or nil.
func (g *Group) rouseWaiter(w *fult.Worker) {
	if t := g.thread; t != nil {
		if w != nil {
			w.Signal(t)
		} else {
			t.Signal()
		}
		return
	}
	select {
	case g.wake <- struct{}{}:
	default:
	}
	if g.asleep.Load() {
		g.engine.src.Wake()
	}
}

// beginCount makes the group count afresh: until arm, no signal wakes.
func (g *Group) beginCount() { g.left.Store(many) }

// armAt makes the n-th signal since begin wake the waiter; false if so many have come already.
func (g *Group) armAt(n int) bool { return g.left.Add(int32(n-many)) > 0 }

// hasFired reports whether the signals that were waited for have come.
func (g *Group) hasFired() bool { return g.left.Load() <= 0 }

// parkFor blocks the goroutine until a signal, or until d has passed if d > 0.
func (g *Group) parkFor(d time.Duration) {
	if d <= 0 {
		<-g.wake
		return
	}
	if g.timer == nil {
		g.timer = time.NewTimer(d)
	} else {
		g.timer.Reset(d)
	}
	select {
	case <-g.wake:
		g.timer.Stop()
	case <-g.timer.C:
	}
}

func (g *Group) drainSignals() {
	select {
	case <-g.wake:
	default:
	}
}
