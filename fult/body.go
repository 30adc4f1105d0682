package fult

import "runtime/debug"

// main is the function of a thread's coroutine. It runs one job after the other until the worker does not keep it.
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

// run runs one job until it returns, panics or calls Goexit.
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

// exit handles the end by Goexit. The coroutine cannot be kept.
func (t *Thread) exit() {
	w := t.w
	t.finish(w.s.endOfThread())
	w.bury(&t.fiber, &t.own)
	w.discard(t)
	w.leave()
}

// finish tells all callers of Join, and frees the job's resources. The descriptor is not free: the caller runs on it.
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
