package progress

import (
	"errors"
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/arch"
)

// ErrPending says that operations have not ended. The packages above give it out under names of their own.
var ErrPending = errors.New("operations are still pending")

// Done is the completion of one operation. It completes once, and has one waiter at a time at most. Zero is pending.
//
// Two ways to be woken: a fult thread that is going to block names itself with Expect before the operation starts, so
// that completing costs no atomic read-modify-write; others hang a Group on it before they park.
type Done struct {
	state atomic.Uint32
	spun  bool // whoever waits has spun for it in vain; the waiter's own
	// thread is set before the operation starts and not changed until it has completed.
	thread *fult.Thread
	call   func(w *fult.Worker) // the same of Call
	group  atomic.Pointer[Group]
}

const (
	pending  = 0
	expected = 1 // pending, and thread is set
	ready    = 2
	called   = 3 // pending, and call is set
)

const named = 1 // the bit of states in which thread or call says whom to tell

// Expect makes a fresh Done wake t when it completes. Call it before the operation can complete.
func (d *Done) Expect(t *fult.Thread) {
	d.thread = t
	arch.StoreRel32(&d.state, expected)
}

// Call makes a fresh Done call f when it completes, once, after it is ready. f runs where Complete is called, which may
// be inside a poll: it must not block. It belongs to the caller of Call before the operation can complete.
func (d *Done) Call(f func(w *fult.Worker)) {
	d.call = f
	arch.StoreRel32(&d.state, called)
}

// Expected is the thread that Expect has named, or nil. The caller knows that d is not reset meanwhile.
func (d *Done) Expected() *fult.Thread { return d.thread }

// Reset makes d fresh again. The owner alone may call it, when d is ready or the operation never started.
func (d *Done) Reset() {
	if d.group.Load() != nil {
		d.leaveGroup()
	}
	d.thread, d.spun = nil, false
	arch.StoreRel32(&d.state, pending)
}

// leaveGroup is apart so that the compiler inlines Reset.
//
//go:noinline
func (d *Done) leaveGroup() { d.group.Store(nil) }

// Finish marks d ready without waking anyone: for the owner, before it waits.
func (d *Done) Finish() {
	if d.state.Load() == called {
		d.completeNamed(nil)
		return
	}
	arch.StoreRel32(&d.state, ready)
}

// Ready reports whether the operation has completed; what the completer wrote before is then visible.
func (d *Done) Ready() bool { return d.state.Load() == ready }

// State is the word in which that shows, and what it holds then.
func (d *Done) State() (word *atomic.Uint32, done uint32) { return &d.state, ready }

// Complete marks d ready and wakes its waiter. w is the worker the caller runs on, or nil. d may be reused by its
// owner as soon as it is ready, so a group that is signalled here may be a later one's: groups bear extra signals.
func (d *Done) Complete(w *fult.Worker) {
	if d.state.Load()&named != 0 {
		d.completeNamed(w)
		return
	}
	// The exchange orders the store before the load of group; Group.watch does the opposite. One sees the other.
	d.state.Store(ready)
	d.signalGroup(w)
}

// completeNamed completes d for its thread or function. The owner may use d again as soon as it is ready.
func (d *Done) completeNamed(w *fult.Worker) {
	if d.state.Load() == called {
		f := d.call
		arch.StoreRel32(&d.state, ready)
		f(w)
		return
	}
	t := d.thread
	arch.StoreRel32(&d.state, ready)
	if w != nil {
		w.Signal(t)
	} else {
		t.Signal()
	}
}

func (d *Done) signalGroup(w *fult.Worker) {
	if g := d.group.Load(); g != nil {
		g.signalGroup(w)
	}
}

// Batch completes many with one full fence: each is ready at once, and Flush wakes a waiter that has parked for it. It
// is owned by one goroutine at a time. The zero value is empty.
type Batch struct {
	n     int
	fence atomic.Uint32
	ds    [batchLen]*Done
}

const batchLen = 64

// Complete is d.Complete, but that a group is signalled in Flush.
func (b *Batch) Complete(d *Done, w *fult.Worker) {
	if d.state.Load()&named != 0 {
		d.completeNamed(w)
		return
	}
	arch.StoreRel32(&d.state, ready)
	b.ds[b.n&(batchLen-1)] = d
	if b.n++; b.n == batchLen {
		b.Flush(w)
	}
}

// Flush wakes those who wait for what was completed since the last Flush.
func (b *Batch) Flush(w *fult.Worker) {
	if b.n == 0 {
		return
	}
	b.fence.Add(0) // between the stores of ready and the loads of group, as in Done.Complete
	for _, d := range b.ds[:b.n] {
		d.signalGroup(w)
	}
	b.n = 0
}
