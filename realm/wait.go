package realm

import (
	"context"

	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// Wait blocks the calling goroutine or light-weight thread until e has triggered, and makes progress meanwhile. In a
// task it gives the processor to other tasks, as Ctx.Wait does. A nil ctx counts as one that does not end. Errors: a
// *PoisonError, for errors.Is ErrPoisoned; the cause of ctx; ErrArgument for an event that cannot be; ErrClosed once
// the rank has ended; am.ErrContext in a handler.
func (rt *Runtime) Wait(ctx context.Context, e Event) error { return rt.waitIn(ctx, inWait, e) }

// waitIn is Wait for a call that reports are to name.
func (rt *Runtime) waitIn(ctx context.Context, call callName, e Event) error {
	if done, err := rt.HasTriggered(e); done || err != nil {
		return err
	}
	if err := rt.ev.EndedError(); err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if err := rt.ev.Endpoint.Allow(am.CallWait); err != nil {
		return rt.ev.CallErrorf("Wait", "%w", err)
	}
	if r := rt.runnerOf(rt.sched.Current()); r != nil {
		return r.waitEvent(e, call, ctx)
	}
	if c := rt.procs.io.taskOf(arch.G()); c != nil {
		return c.sleepIO(ctx, call, e)
	}
	start := rt.ev.Log.Since()
	err := rt.sleepFor(ctx, call, e, nil)
	rt.ev.Log.NoteSlept(start, uint64(e))
	return err
}

// sleeper is a goroutine, or a thread that is no task, which waits for an event.
type sleeper struct {
	event.Waiter
	callState
	done progress.Done

	// Of an IO task. It counts as one that does not run from rests until the wait ends.
	io      *ioProcessor // nil: it is none
	rests   bool         // under the lock of io, as resumed
	resumed bool
}

// Fire implements event.Op.
func (s *sleeper) Fire(_ *event.Waiter, by any) { s.releaseWaiter(by.(*events.Cascade).By) }

// releaseWaiter implements waitingCall.
func (s *sleeper) releaseWaiter(w *fult.Worker) {
	if s.io != nil {
		s.io.resume(s)
	}
	s.done.Complete(w)
}

// caller implements waitingCall.
func (s *sleeper) caller() *fult.Thread { return s.done.Expected() }

// sleepFor is Wait for whoever is no task, or for a task of io.
func (rt *Runtime) sleepFor(ctx context.Context, call callName, e Event, io *ioProcessor) error {
	s := rt.sleepers.Get()
	if s == nil {
		s = new(sleeper)
		s.Op = s
	}
	s.io, s.rests, s.resumed, s.call = io, false, false, call
	rt.engine.Begin(&s.done)
	st, why := rt.ev.AwaitEvent(event.ID(e), &s.Waiter)
	if st == event.Pending && rt.ev.Stopped.Load() && rt.ev.Withdraw(event.ID(e), &s.Waiter) {
		st, s.ended = event.Triggered, rt.ev.ClosedError() // stop may have looked for those who wait before
	}
	if st != event.Pending {
		s.done.Finish()
		err := s.callOutcome(rt, e, why)
		rt.sleepers.Put(s)
		if st == event.Unknown {
			return rt.unknown("Wait", e)
		}
		return err
	}
	if io != nil {
		io.restTask(s)
	}
	if ctx.Done() == nil {
		rt.engine.Wait(&s.done)
	} else if err := rt.sleepUntil(ctx, e, s); err != nil {
		return err
	}
	err := s.callOutcome(rt, e, s.Poison)
	rt.sleepers.Put(s)
	return err
}

// sleepUntil waits by s until it fires. If ctx ends first, it frees s and returns the cause of ctx.
func (rt *Runtime) sleepUntil(ctx context.Context, e Event, s *sleeper) error {
	var canceled progress.Done
	stop := context.AfterFunc(ctx, func() { canceled.Complete(nil) })
	rt.engine.WaitAny([]*progress.Done{&s.done, &canceled})
	if !stop() {
		rt.engine.Wait(&canceled)
	}
	if s.done.Ready() || !rt.ev.Withdraw(event.ID(e), &s.Waiter) {
		rt.engine.Wait(&s.done)
		return nil
	}
	s.done.Finish()
	if s.io != nil {
		s.io.resume(s)
	}
	call := s.call
	rt.sleepers.Put(s)
	return rt.ev.CallErrorf(call.short(), "%v: %w", e, context.Cause(ctx))
}
