package fult

import "runtime/debug"

// main is what a thread's coroutine runs: one job after the other, until the worker wants it no longer.
func (t *Thread) main() {
	w := t.w
	for {
		t.run()
		if !w.keep(t) {
			break
		}
		w.transfer(&t.fiber, w.pick())
		if t.job == nil {
			break
		}
	}
	w.leave()
}

// run runs one job to its end, whatever that is.
func (t *Thread) run() {
	if t.w.closing { // before it could start
		t.finish(ErrClosed)
		return
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		if v := recover(); v != nil {
			t.finish(&PanicError{Value: v, Stack: debug.Stack(), ID: t.ID()})
			return
		}
		t.exit()
	}()
	t.job.f(t)
	returned = true
	t.finish(nil)
}

// exit is the end by Goexit: the coroutine cannot be kept.
func (t *Thread) exit() {
	err := ErrGoexit
	if t.w.closing {
		err = ErrClosed
	}
	t.finish(err)
	w := t.w
	w.bury(&t.fiber, &t.own)
	w.discard(t)
	w.leave()
}

// finish tells whoever joins, and frees what the job held. The descriptor is not free yet: the caller still runs on
// it.
func (t *Thread) finish(err error) {
	j := t.job
	t.job = nil
	t.alive.Store(0)
	t.clearLabel()
	t.w.s.finished(j, t.w, err)
}

func (t *Thread) clearLabel() {
	if t.label.Load() != nil {
		t.label.Store(nil)
	}
}
