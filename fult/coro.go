package fult

import (
	"iter"

	"github.com/golci/golci/internal/platform/arch"
)

// A coroutine of package iter is a place where exactly one goroutine rests. A switch exchanges the running goroutine
// with the resting one. iter calls the switch "next" in one direction and "yield" in the other. The two must alternate,
// but different goroutines may call them. So the running goroutine of a worker can exchange itself with the goroutine
// in any place of that worker. A thread hands over to the next with one switch, not two.
//
// A worker with N coroutines has N places and N+1 goroutines, because its loop is one, too. One of them runs. When
// the function of a coroutine returns, the runtime resumes the goroutine in its place, and the place is gone. That
// goroutine may not be the intended one. Worker.transferTo then passes control on.

// coroutine is the resting place of one coroutine. Only goroutines of one worker use it, and never two at once.
type coroutine struct {
	next    func() (struct{}, bool)
	yield   func(struct{}) bool
	yielded bool // next was called last, so the next switch is a yield
}

// exchangeWith rests the caller here and resumes whoever rested here.
func (p *coroutine) exchangeWith() {
	if p.yielded {
		p.yielded = false
		p.yield(struct{}{})
		return
	}
	p.yielded = true
	p.next()
}

// fiber is a target of a switch: a thread, the worker's loop, or the helper of exitOnHelper. Owned by the worker.
type fiber struct {
	at *coroutine // where it rests, or last rested
	g  uintptr    // identity of its goroutine; 0 before it first runs
}

// newCoroutine is iter.Pull; tests of the self-check replace it.
var newCoroutine = iter.Pull[struct{}]

// pullCoroutine makes the coroutine of f with place p. It rests before its first instruction. Call pullCoroutine on the
// worker that will run the coroutine, because the runtime ties a coroutine to the locked OS thread that made it. The
// first switch to f runs body. body must call w.leaveCoroutine last.
func (w *Worker) pullCoroutine(f *fiber, p *coroutine, body func()) {
	p.yielded = false
	p.next, _ = newCoroutine(func(yield func(struct{}) bool) {
		p.yield = yield
		f.g = arch.G()
		w.curG = f.g
		body()
	})
	f.at = p
	f.g = 0
}

// transferTo rests me in the place of to and runs to. It returns when another fiber transfers to me.
func (w *Worker) transferTo(me, to *fiber) {
	for {
		p := to.at
		me.at = p
		w.cur = to
		w.curG = to.g
		p.exchangeWith()
		if w.cur == me {
			return
		}
		// The coroutine of this place has ended. It meant w.cur to run.
		to = w.cur
	}
}

// leaveCoroutine is the last act of a coroutine. Its function returns right after the call, and control goes to the
// loop, directly or through other fibers. A new goroutine may get the same identity from now on, so curG must not keep
// it.
func (w *Worker) leaveCoroutine() {
	w.cur = &w.loop
	w.curG = w.loop.g
}

// exitOnHelper prepares the thread me, which runs on the coroutine own, to end by runtime.Goexit. When the function
// of a coroutine ends by Goexit, iter resumes the goroutine that rests in own. It raises Goexit there too, if that
// goroutine got there by calling next. exitOnHelper therefore moves that goroutine elsewhere, and rests a helper
// coroutine in own by yield. iter raises nothing in the helper. If the resting goroutine has called yield,
// exitOnHelper does nothing. Afterwards the thread calls leaveCoroutine, and Goexit may go on.
func (w *Worker) exitOnHelper(me *fiber, own *coroutine) {
	if !own.yielded {
		return
	}
	var grave fiber
	var p coroutine
	w.pullCoroutine(&grave, &p, func() {
		// The goroutine in own wakes, finds that w.cur is me, and goes to the place where I rest.
		grave.at = own
		w.cur, w.curG = me, 0
		own.exchangeWith()
		w.leaveCoroutine()
	})
	w.transferTo(me, &grave)
	w.curG = me.g
}
