package fult

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// ID names a thread by its worker and its slot there. Slots are reused, so it is unique among threads alive.
type ID struct {
	Worker int
	Slot   int
}

// String returns worker.slot.
func (id ID) String() string { return fmt.Sprintf("%d.%d", id.Worker, id.Slot) }

// Thread is the descriptor of a light-weight thread. Later threads reuse it. Only the thread itself may call Wait,
// Yield, Sleep and Local. Any goroutine or thread may call the other methods.
type Thread struct {
	// First line: owned by the worker; changes at every switch.
	fiber
	coroutine coroutine // next, yield, odd
	job       *job      // what it runs
	free      *Thread
	wake      time.Duration // when its Sleep ends, on the worker's clock

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

// Wait blocks the thread until a Signal. An earlier Signal is not lost. Several count as one. Wait may also return
// without one, so call it in a loop that tests a condition. Abort and Close unwind the thread. It may switch threads.
func (t *Thread) Wait() {
	t.unwindIfAborted()
	t.pause(false)
	t.unwindIfAborted()
}

// Pause is Wait without an end by Abort. It is for layers that end their own waits: an operation that an abort ends
// wakes the thread, which then returns an error to the program. Close unwinds the thread.
func (t *Thread) Pause() { t.pause(false) }

// pause is Pause. If again is set, the thread signals itself first. The switch is transfer, written out. After a switch
// the core mispredicts every return up to the thread's function, which costs about 5 ns for each frame.
func (t *Thread) pause(again bool) {
	if t.ext != nil {
		t.ext.waitOrExit(again)
		return
	}
	w := t.w
	if again {
		t.raisePrivate()
	}
	if to := w.pickNext(); to != &t.fiber {
		p := to.at
		t.at = p
		w.cur = to
		w.curG = to.g
		if p.yielded {
			p.yielded = false
			p.yield(struct{}{})
		} else {
			p.yielded = true
			p.next()
		}
		if w.cur != &t.fiber {
			w.transferTo(&t.fiber, w.cur)
		}
	}
	if w.closing {
		runtime.Goexit()
	}
}

// parkThread is Wait without unwinding. It returns true when Abort or Close ends the thread, and the caller has to
// unwind.
func (t *Thread) parkThread() (killed bool) {
	if t.ext != nil {
		return t.ext.parkCaller()
	}
	w := t.w
	if w.closing || w.s.aborted.Load() {
		return true
	}
	if to := w.pickNext(); to != &t.fiber {
		w.transferTo(&t.fiber, to)
	}
	return w.closing || w.s.aborted.Load()
}

// Signal lets the current or the next Wait of the thread return. Any goroutine or thread may call it. It does not
// block or switch threads. The caller's earlier stores are visible to the thread after Wait. If the thread has ended,
// Signal may wake a later thread in the same slot without cause.
func (t *Thread) Signal() {
	if t.ext != nil {
		t.ext.signalCaller()
		return
	}
	t.raiseThread()
}

// Yield lets other runnable threads and the poll functions run. Like Wait, it takes an earlier Signal. So test the
// condition after Yield and before the next Wait. It may switch threads.
func (t *Thread) Yield() { t.pause(true) }

// ID returns the thread's worker and slot.
func (t *Thread) ID() ID { return ID{t.w.id, int(t.slot)} }

// Worker returns the worker that runs the thread.
func (t *Thread) Worker() *Worker { return t.w }

// Local returns a variable for the layer above, one for each descriptor. A new thread finds the value that the previous
// thread of the slot left. Only the thread itself may use it.
func (t *Thread) Local() *any { return &t.local }

// SetLabel sets a text for dumps: what the thread does or waits for. The label ends with the thread.
func (t *Thread) SetLabel(label string) { t.label.Store(&label) }

// Label returns the text of SetLabel, or an empty one.
func (t *Thread) Label() string {
	if p := t.label.Load(); p != nil {
		return *p
	}
	return ""
}
