package fult

import (
	"iter"

	"github.com/golci/golci/internal/arch"
)

// A coroutine of package iter is a place where exactly one goroutine rests, and a switch that exchanges the running
// goroutine with the resting one. iter calls the switch "next" in one direction and "yield" in the other and insists
// that they alternate, but not that the same goroutine takes part each time. So any running coroutine of a worker can
// exchange itself with whoever rests in any place, and a thread hands over to the next one with one switch; going
// through the worker's loop would take two.
//
// With N coroutines there are N places and N+1 goroutines (the worker's loop is one), of which one runs. When a
// coroutine's function returns, the runtime resumes whoever rests in its place and the place is gone. That one was
// perhaps not meant: worker.transfer passes the control on.

// place is the resting place that one coroutine brought. Only goroutines of one worker use it, never two at once.
type place struct {
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	odd   bool // next was called last, so the next switch is a yield
}

// exchange rests the caller here and resumes whoever rested here.
func (p *place) exchange() {
	if p.odd {
		p.odd = false
		p.yield(struct{}{})
		return
	}
	p.odd = true
	p.next()
}

// fiber is something that a worker can switch to: a thread, its own loop, or a grave. Owned by the worker.
type fiber struct {
	at *place  // where it rests, or last rested
	g  uintptr // identity of its goroutine; 0 before it first runs
}

// newCoroutine is iter.Pull; tests of the self-check replace it.
var newCoroutine = iter.Pull[struct{}]

// pull makes f's coroutine with place p, resting at its beginning. It must be called on the worker that will run it,
// because the runtime ties a coroutine to the locked OS thread that made it. body runs at the first switch to f and
// must end by a call of w.leave.
func (w *Worker) pull(f *fiber, p *place, body func()) {
	p.odd = false
	p.next, _ = newCoroutine(func(yield func(struct{}) bool) {
		p.yield = yield
		f.g = arch.G()
		w.curG = f.g
		body()
	})
	f.at = p
	f.g = 0
}

// transfer rests me in the place of to and runs to; it returns when somebody transfers to me.
func (w *Worker) transfer(me, to *fiber) {
	for {
		p := to.at
		me.at = p
		w.cur = to
		w.curG = to.g
		p.exchange()
		if w.cur == me {
			return
		}
		// A coroutine ended whose place I was resting in. w.cur is who it meant to run.
		to = w.cur
	}
}

// leave is the last act of a coroutine: its function returns right after, and control goes to the loop, at once or
// through others. The goroutine's identity may be given to another one from now on, so it must not stay in curG.
func (w *Worker) leave() {
	w.cur = &w.loop
	w.curG = w.loop.g
}

// bury prepares the end of a thread by Goexit, which iter raises again in whoever rests in the thread's place if that
// one came there by next. So if one did, a helper coroutine is put there in its stead, which comes by yield. Called
// on the thread; when it returns the thread may let Goexit go on.
func (w *Worker) bury(me *fiber, own *place) {
	if !own.odd {
		return
	}
	var grave fiber
	var p place
	w.pull(&grave, &p, func() {
		// The one resting in own wakes, sees that me was meant, and goes to where I rested before.
		grave.at = own
		w.cur, w.curG = me, 0
		own.exchange()
		w.leave()
	})
	w.transfer(me, &grave)
	w.curG = me.g
}
