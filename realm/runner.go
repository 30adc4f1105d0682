package realm

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/fault"
)

// tasksPerTurn is how many tasks a runner runs before it lets its worker poll.
const tasksPerTurn = 64

// runner is a light-weight thread that runs the tasks of a processor, on its own stack. A task that waits keeps its
// runner.
type runner struct {
	Ctx
	event.Waiter // of the event that the task waits for
	callState
	thread   atomic.Pointer[fult.Thread] // set by the thread itself when it starts
	granted  atomic.Bool                 // the turn has been given to it
	quit     bool                        // set before the last give
	priority int32                       // of the task, while it waits; under processor.mu
	keeps    bool                        // the task keeps the turn while it waits; under processor.mu
	rests    bool                        // it keeps the turn, and waits for an event; under processor.mu
	resumed  bool                        // that event has triggered before rests could be set; under processor.mu
}

func (rt *Runtime) newRunner(p *processor) *runner {
	r := &runner{Ctx: Ctx{rt: rt, proc: p.id}}
	r.Ctx.runner = r
	r.Ctx.executor = p
	r.Op = r
	return r
}

// giveTurn gives the turn to r, and starts its thread if need be. k is the cascade that calls, or nil.
func (r *runner) giveTurn(k *events.Cascade) {
	r.granted.Store(true)
	switch t := r.thread.Load(); {
	case t == nil:
		r.launchThread()
	case k != nil && k.By != nil:
		k.By.Signal(t)
	default:
		t.Signal()
	}
}

// launchThread starts the thread. Where there can be no more threads, the rank cannot go on.
func (r *runner) launchThread() {
	if _, err := r.rt.sched.GoOn(r.executor.worker, r.main); err != nil {
		r.rt.ev.Fatal(fmt.Errorf("realm: a runner for %v: %w", r.proc, err))
	}
}

// main is the thread.
func (r *runner) main(t *fult.Thread) {
	r.thread.Store(t)
	r.cascade = events.Cascade{Rank: &r.rt.ev, By: t.Worker()}
	r.rt.addRunner(t, r)
	defer r.rt.dropRunner(t)
	for !r.loop(t) {
		continue // a task has panicked
	}
}

// loop runs tasks until the runtime ends: true. False: a task has panicked, and its finish event is poisoned.
func (r *runner) loop(t *fult.Thread) (over bool) {
	defer func() {
		if x := r.task; x != nil { // a task did not return
			v := recover()
			r.task, r.holds = nil, 0
			x.finishWith(&r.Ctx, x.gaveUp(v))
			r.granted.Store(r.executor.keepTurn(r, v != nil))
		}
	}()
	for {
		r.parkForTurn(t)
		if r.quit {
			return true
		}
		r.runTasks(t)
	}
}

// parkForTurn waits for the turn.
func (r *runner) parkForTurn(t *fult.Thread) {
	for !r.granted.Load() {
		t.Pause()
	}
	r.granted.Store(false)
}

// runTasks runs tasks until r has lost the turn.
func (r *runner) runTasks(t *fult.Thread) {
	p := r.executor
	for n := 1; ; n++ {
		x := p.nextTask(r)
		if x == nil {
			return
		}
		x.runTask(&r.Ctx)
		if n%tasksPerTurn == 0 {
			p.finished.sendFirst(p.rt)
			t.Yield()
		}
	}
}

// lingerPolls is how often a runner without tasks polls before it gives up the turn.
const lingerPolls = 256

// linger polls a little before r gives up the turn for want of tasks, until urgent is set or its worker has another
// thread to run. What a message lets begin then runs without a switch of threads. The engine's own ways to poll a
// little are for few threads of a worker; of runners only the one with the turn polls.
func (r *runner) linger(urgent *atomic.Bool) {
	e, w := r.rt.engine, r.thread.Load().Worker()
	if e.Dedicated() || !e.Spins() {
		return
	}
	for n := 0; n < lingerPolls && !urgent.Load() && !w.Runnable(); n++ {
		e.Poll()
	}
}

// Fire implements event.Op: what the task has waited for has come.
func (r *runner) Fire(_ *event.Waiter, by any) { r.executor.resume(r, by.(*events.Cascade)) }

// releaseWaiter implements waitingCall.
func (r *runner) releaseWaiter(*fult.Worker) { r.executor.resume(r, nil) }

// caller implements waitingCall.
func (r *runner) caller() *fult.Thread { return r.thread.Load() }

// waitEvent is Runtime.Wait for the task that r runs. The turn goes to another runner meanwhile.
func (r *runner) waitEvent(e Event, call callName, ctx context.Context) error {
	if r.priority != r.task.priority || r.keeps != (r.holds > 0) {
		r.executor.noteWait(r)
	}
	r.call = call
	st, why := r.rt.ev.AwaitEvent(event.ID(e), &r.Waiter)
	switch st {
	case event.Triggered:
		return poisonError(e, why)
	case event.Unknown:
		return r.rt.unknown("Wait", e)
	}
	// stopAll may have looked for those who wait before.
	if r.rt.ev.Stopped.Load() && r.rt.ev.Withdraw(event.ID(e), &r.Waiter) {
		r.ended = r.rt.ev.ClosedError()
		return r.callOutcome(r.rt, e, nil)
	}
	if ctx != nil && ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { r.rt.interrupt(event.ID(e), r, context.Cause(ctx)) })
		defer stop()
	}
	r.pauses()
	r.executor.finished.sendFirst(r.rt)
	if r.keeps {
		r.executor.restTurn(r)
	}
	if r.keeps || !r.executor.yield(r) {
		r.parkForTurn(r.thread.Load())
	}
	r.resumes(e)
	return r.callOutcome(r.rt, e, r.Poison)
}

// interrupt ends the wait of r for e with err, if r waits for e.
func (rt *Runtime) interrupt(e event.ID, r *runner, err error) {
	if rt.ev.Withdraw(e, &r.Waiter) {
		r.ended = err
		r.releaseWaiter(nil)
	}
}

// gaveUp is the poison of a task that has panicked with v, or ended its thread if v is nil.
func (t *task) gaveUp(v any) error {
	if v == nil {
		return fmt.Errorf("%s: runtime.Goexit", t.taskName())
	}
	return fault.Panicked(t.taskName(), v)
}
