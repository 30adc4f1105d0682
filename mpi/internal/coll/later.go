package coll

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// A collective that does not wait (6.12) starts like one that does, with a number of its own. It returns when all
// steps that can start have started. After that progress carries it out. Each operation that ends adds an event. The
// goroutine or thread that adds the first event runs the call: it takes results and starts further steps. Events
// added meanwhile are only counted, and the runner looks again. So no caller waits for another, and one at a time
// owns the call.

// async is the further state of a call that does not wait. The runner of the call owns the fields without a note.
type async struct {
	req    comm.Req
	events atomic.Int32          // added since the runner has looked; 0: there is no runner
	owed   atomic.Int32          // events that the runner has not looked at, or that are still to come
	stop   atomic.Pointer[error] // why the call is to end
	ask    atomic.Bool           // the rank that is waited for is to be asked what it has called

	err     error // why the call has failed
	scratch *argument.Scratch
	barrier *schedule.Schedule // of the round before the call, while that is under way; else nil
	tags    [2]int             // of the call, meanwhile
	compare *claimExchange     // before the call, in place of that barrier; else nil
}

// CallError is the error of a collective that did not wait, or has ended well here. It names the call.
type CallError struct {
	error
	st   *State
	call uint64
	kind string
	rank int // on which it has failed
}

// Unwrap gives the error, for errors.Is.
func (e *CallError) Unwrap() error { return e.error }

// launchCall starts the call, unless err tells why that cannot be, and gives the request of its end.
func (x *Call) launchCall(err error) (comm.Req, error) {
	st, a, call := x.st, x.async, x.call
	if err != nil {
		x.args.EndBuffers(false)
		err = x.endCall(err)
		st.open.idle.Put(x)
		return comm.Req{}, err
	}
	a.err = nil
	a.req = st.Server.NewCall(x.pends(), pending.Terms{Stop: st.stopper, Number: call})
	r := a.req
	if x.size > 1 {
		x.enterPast()
	}
	if x.steps.Work|x.steps.Split > 0 {
		a.scratch = x.lay()
	}
	a.stop.Store(nil)
	a.owed.Store(1)
	a.events.Store(1)
	switch {
	case x.compares():
		a.compare = x.beginCompare()
		a.barrier = &a.compare.steps
		x.beginRun(a.barrier, 0)
	case call&st.roundMask == 0:
		x.beginRound()
	default:
		x.beginRun(x.steps, 0)
	}
	st.opened(x)
	if err := x.poisoned(); err != nil { // what came before is not told again
		why := err
		a.stop.Store(&why)
	}
	if x.view.until != nil {
		x.endWith(x.view.until)
	}
	x.advanceCall(nil)
	arch.StoreRel64(&st.state, call*2)
	if r.Ready() {
		st.Server.PollInTurn()
	}
	return r, nil
}

// pends describes a call that does not wait. Its steps name the ranks and the communicator, and end with these.
func (x *Call) pends() pending.Op {
	return pending.Op{
		Call: x.kind, Context: x.st.Context, Peer: pending.AnyRank, Tag: x.tag, Needs: pending.Nobody, Parts: true,
	}
}

// stopCall ends the call with that number from outside, if it has not ended.
func (st *State) stopCall(call uint64, err error, w *fult.Worker) {
	st.stopCalls(w, func(x *Call) error {
		if x.call != call {
			return nil
		}
		return fmt.Errorf("mpi: %s, call %d: %s: %w", x.kind, call, x.view.comm.Who(), x.view.comm.Cause(err))
	})
}

// endWith makes the end of a view's context end the call.
func (x *Call) endWith(until context.Context) {
	st, call := x.st, x.call
	x.stop = context.AfterFunc(until, func() { st.stopCall(call, contextOver(until), nil) })
}

// onEvent is called when an operation of the call ends.
func (x *Call) onEvent(w *fult.Worker) {
	if x.async.events.Add(1) == 1 {
		x.advanceCall(w)
	}
}

// advanceCall runs the call until no event is left, or the call is over.
func (x *Call) advanceCall(w *fult.Worker) {
	a := x.async
	for {
		n := a.events.Load()
		over := x.passSteps()
		if a.owed.Add(-n) == 0 && over && x.st.closeOver(x) {
			x.endLater(w)
			return
		}
		if a.events.Add(-n) == 0 {
			return
		}
	}
}

// passSteps takes results, and starts what may be started. It reports whether nothing is under way or left to do.
func (x *Call) passSteps() bool {
	a := x.async
	if why := a.stop.Load(); why != nil {
		x.giveUp(*why)
	}
	for {
		st, i := x.run.Pending(0)
		switch {
		case st != nil && x.reqs[i].Ready():
			x.run.Done(i)
			x.giveUp(x.stepOutcome(st, x.reqs[i]))
			continue
		case st != nil && a.ask.Swap(false):
			x.askRank(int(st.Peer))
		case a.err != nil:
			return st == nil
		}
		if a.err != nil || !x.startNext() {
			return st == nil && x.run.Over()
		}
	}
}

// startNext starts one step, and reports whether it could.
func (x *Call) startNext() bool {
	st, i := x.run.Next()
	if st == nil {
		if x.async.barrier == nil || !x.run.Over() {
			return false
		}
		x.endRound()
		return true
	}
	r, err := x.startStep(st, false)
	x.reqs[i] = r
	if r.Null() {
		x.run.Done(i)
	} else {
		x.async.owed.Add(1)
	}
	x.giveUp(err)
	return true
}

// giveUp records the first error of the call, tells the other ranks, and cancels the operations under way.
func (x *Call) giveUp(err error) {
	if err == nil || x.async.err != nil {
		return
	}
	x.async.err = err
	x.st.settleFailed(x.call)
	x.failAll(err)
	for st, i := x.run.Pending(0); st != nil; st, i = x.run.Pending(i + 1) {
		x.st.Server.Cancel(x.reqs[i])
	}
}

// endLater completes the request. Nothing of the call is under way, and nobody else knows it any more.
func (x *Call) endLater(w *fult.Worker) {
	a, srv := x.async, x.st.Server
	req, err := a.req, a.err
	st, call, kind := x.st, x.call, x.kind
	if x.stop != nil {
		x.stop()
		x.stop = nil
	}
	x.forgetBuffers()
	x.args.EndBuffers(err == nil)
	a.scratch.Release()
	x.panic, x.scratch, a.scratch, a.err, a.barrier, a.compare = nil, nil, nil, nil, nil, nil
	st.open.idle.Put(x)
	if err != nil {
		e := &CallError{err, st, call, kind, st.Rank}
		err = e
		st.owe(e, w)
	} else {
		st.oweEnded(call, w)
	}
	srv.EndCall(req, err, w)
}

// beginRound begins the barrier of a round; the call begins after it.
func (x *Call) beginRound() {
	a := x.async
	a.barrier, a.tags = new(schedule.Schedule), [2]int{x.tag, x.lastTag}
	x.meetAll(a.barrier)
	x.tag = algorithm.MakeTag(x.size, algorithm.Round, 0, x.call)
	x.lastTag = x.tag
	x.beginRun(a.barrier, 0)
}

func (x *Call) endRound() {
	a := x.async
	a.barrier = nil
	if e := a.compare; e != nil {
		a.compare = nil
		x.endCompare(e)
		x.giveUp(x.judgeClaims(e))
	} else {
		x.tag, x.lastTag = a.tags[0], a.tags[1]
	}
	x.beginRun(x.steps, 0)
}
