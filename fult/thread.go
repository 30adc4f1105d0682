package fult

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// ID names a thread: its worker and its slot there. Slots are reused, so an ID names a thread only while it lives.
type ID struct {
	Worker int
	Slot   int
}

// String returns worker.slot.
func (id ID) String() string { return fmt.Sprintf("%d.%d", id.Worker, id.Slot) }

// Thread is a light-weight thread, or rather a slot for one: the descriptor is reused by later threads. Its methods
// Wait, Yield and Sleep are for the thread itself, the others for anybody.
type Thread struct {
	// First line: owned by the worker; changes at every switch.
	fiber
	own  place // next, yield, odd
	job  *job  // what it runs
	free *Thread
	wake time.Duration // when its Sleep ends, on the worker's clock

	// Second line: what signallers read. Constant once the thread runs, so that the line stays shared.
	w     *Worker
	grp   *group
	slot  uint32
	alive atomic.Uint32 // written by the worker: 1 from the start of a job to its end
	ext   *external     // nil for a coroutine
	local any
	label atomic.Pointer[string]
	_     [8]byte
}

// Wait blocks the thread until it is signalled. A Signal that came before is not lost, several count as one, and Wait
// may return without any: call it in a loop that looks at a condition. It may switch threads.
func (t *Thread) Wait() { t.wait(false) }

// wait is Wait, and before it the thread's own signal if again is set. The switch is written out (see transfer for
// what it does): after a switch the core mispredicts every return up to the thread's function, so frames are dear
// here, some 5 ns each.
func (t *Thread) wait(again bool) {
	if t.ext != nil {
		t.ext.waitOrExit(again)
		return
	}
	w := t.w
	if again {
		t.raisePrivate()
	}
	if to := w.pick(); to != &t.fiber {
		p := to.at
		t.at = p
		w.cur = to
		w.curG = to.g
		if p.odd {
			p.odd = false
			p.yield(struct{}{})
		} else {
			p.odd = true
			p.next()
		}
		if w.cur != &t.fiber {
			w.transfer(&t.fiber, w.cur)
		}
	}
	if w.closing {
		runtime.Goexit()
	}
}

// park is Wait, except that it returns true, and leaves the unwinding to the caller, when Close ends the thread.
func (t *Thread) park() (killed bool) {
	if t.ext != nil {
		return t.ext.park()
	}
	w := t.w
	if w.closing {
		return true
	}
	if to := w.pick(); to != &t.fiber {
		w.transfer(&t.fiber, to)
	}
	return w.closing
}

// Signal lets the thread's Wait return, now or when it is called next. Callable from anywhere; it does not block or
// switch threads. What the caller stored before is visible to the thread after Wait. If the thread has ended, a later
// thread in its slot may be woken without cause.
func (t *Thread) Signal() {
	if t.ext != nil {
		t.ext.signal()
		return
	}
	t.raise()
}

// Yield lets other runnable threads and the poll functions run. It takes a permit that is there, as Wait does, so look
// at the condition after it and before Wait. It may switch threads.
func (t *Thread) Yield() { t.wait(true) }

// ID returns the thread's worker and slot.
func (t *Thread) ID() ID { return ID{t.w.id, int(t.slot)} }

// Worker returns the worker that runs the thread.
func (t *Thread) Worker() *Worker { return t.w }

// Scheduler returns the scheduler of the thread.
func (t *Thread) Scheduler() *Scheduler { return t.w.s }

// Local returns a place for whatever the layer above keeps per thread. It stays when the slot is reused: a new thread
// finds there what the previous one left. For the thread itself only.
func (t *Thread) Local() *any { return &t.local }

// Killed says whether Close is unwinding the thread. Deferred functions of the thread can ask it.
func (t *Thread) Killed() bool { return t.w.s.killing.Load() }

// SetLabel says in dumps what the thread is doing or waiting for. The label ends with the thread.
func (t *Thread) SetLabel(label string) { t.label.Store(&label) }

// Label returns what SetLabel stored.
func (t *Thread) Label() string {
	if p := t.label.Load(); p != nil {
		return *p
	}
	return ""
}
