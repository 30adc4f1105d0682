package fult

import "runtime/debug"

// main is the function of a thread's coroutine. It runs one job after the other until the worker does not keep it.
func (t *Thread) main() {
	w := t.w
	for {
		t.runJob()
		if !w.keepWarm(t) {
			break
		}
		w.transferTo(&t.fiber, w.pickNext())
		if t.job == nil {
			break
		}
	}
	w.leaveCoroutine()
}

// runJob runs one job until it returns, panics or calls Goexit.
func (t *Thread) runJob() {
	if t.w.closing { // before it could start
		t.finishJob(ErrClosed)
		return
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		if v := recover(); v != nil {
			t.finishJob(&PanicError{Value: v, Stack: debug.Stack(), ID: t.ID()})
			return
		}
		t.exitThread()
	}()
	t.job.f(t)
	returned = true
	t.finishJob(nil)
}

// exitThread handles the end by Goexit. The coroutine cannot be kept.
func (t *Thread) exitThread() {
	w := t.w
	t.finishJob(w.s.endOfThread())
	w.exitOnHelper(&t.fiber, &t.coroutine)
	w.discardThread(t)
	w.leaveCoroutine()
}

// finishJob tells all callers of Join, and frees the job's resources. The descriptor is not free: the caller runs on
// it.
func (t *Thread) finishJob(err error) {
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
