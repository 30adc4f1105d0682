package coll

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/progress"
)

// openCalls are the non-blocking calls of a communicator that have started and not ended.
type openCalls struct {
	mu    sync.Mutex // guards calls and pause; no lock is taken under it
	calls []*Call
	pause time.Duration // of late; 0 if it does not run

	timer *time.Timer // looks after what takes long
	idle  sync.Pool   // calls that nobody else knows, to be used again
}

// newOpen makes a call for the pool.
func (st *State) newOpen() any {
	x := &Call{st: st, rank: st.Rank, size: st.size, async: new(async), alarm: new(progress.Done)}
	x.options.Done = x.onEvent
	return x
}

// opened lists a call that is being started.
func (st *State) opened(x *Call) {
	o := &st.open
	o.mu.Lock()
	defer o.mu.Unlock()
	x.openAt = len(o.calls)
	o.calls = append(o.calls, x)
	if o.pause == 0 {
		o.pause = lookFirst
		o.timer.Reset(o.pause)
	}
}

// closeOver takes a call that is over off the list; false if an event for it has come meanwhile.
func (st *State) closeOver(x *Call) bool {
	o := &st.open
	o.mu.Lock()
	defer o.mu.Unlock()
	if x.async.owed.Load() != 0 {
		return false
	}
	last := len(o.calls) - 1 // which takes its place: the order of the list means nothing
	o.calls[x.openAt] = o.calls[last]
	o.calls[x.openAt].openAt = x.openAt
	o.calls[last] = nil
	o.calls = o.calls[:last]
	return true
}

// poke makes an event for each call for which f is true. f sets what the call is to find.
func (st *State) poke(w *fult.Worker, f func(x *Call) bool) {
	var run []*Call
	o := &st.open
	o.mu.Lock()
	for _, x := range o.calls {
		if f(x) {
			x.async.owed.Add(1)
			if x.async.events.Add(1) == 1 {
				run = append(run, x)
			}
		}
	}
	o.mu.Unlock()
	for _, x := range run {
		x.advanceCall(w)
	}
}

// stopCalls ends the calls for which why gives an error.
func (st *State) stopCalls(w *fult.Worker, why func(x *Call) error) {
	st.poke(w, func(x *Call) bool {
		err := why(x)
		return err != nil && x.async.stop.CompareAndSwap(nil, &err)
	})
}

// lookLate makes each open call ask the rank that it waits for, and sets the timer for the next time.
func (st *State) lookLate() {
	o := &st.open
	o.mu.Lock()
	o.pause = min(2*o.pause, lookMost)
	if len(o.calls) == 0 {
		o.pause = 0
	} else {
		o.timer.Reset(o.pause)
	}
	o.mu.Unlock()
	st.poke(nil, func(x *Call) bool {
		x.async.ask.Store(true)
		return true
	})
}

// isOpen reports whether a message with that tag, or of the call with that number, belongs to an open call.
func (st *State) isOpen(tag int) bool {
	o := &st.open
	o.mu.Lock()
	defer o.mu.Unlock()
	n := uint64(1)<<st.numbers - 1
	return slices.ContainsFunc(o.calls, func(x *Call) bool { return x.call&n == uint64(tag)&n })
}

// oldest is the number of the first open call.
func (st *State) oldest() uint64 {
	o := &st.open
	o.mu.Lock()
	defer o.mu.Unlock()
	least := uint64(math.MaxUint64)
	for _, x := range o.calls {
		least = min(least, x.call)
	}
	return least
}

// awaitOlder waits until no open call is a round older than the one that starts. All ranks have started the older
// calls, so they end without help of the program.
func (x *Call) awaitOlder() {
	for x.st.oldest() < x.call-x.st.roundMask {
		x.st.Server.Poll()
		runtime.Gosched()
	}
}
