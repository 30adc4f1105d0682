package rank

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golci/golci/rank/internal/ending"
)

// Finalize ends the rank's part in the job. Every rank calls it, when its operations are done. It waits for all ranks,
// making progress meanwhile, and then lets go of everything. It blocks.
//
// Threads and operations that can still end by themselves do so: Finalize waits while any of them ends or a thread
// computes. Whatever has not ended 100 ms after the last of these is left over; 1 s after it where threads are
// goroutines, as under the race detector. It ends with ErrFinalized, and Finalize returns ErrPending with the numbers.
//
// If ctx ends before, Finalize gives up: the error wraps the cause of ctx and names the rank or the thread that it
// waited for, and operations that are pending end with ErrFinalized. A thread that does not end keeps what it uses.
//
// Later operations and calls give ErrFinalized. In a thread it gives ErrThread, with a nil ctx ErrArgument.
func (r *Rank) Finalize(ctx context.Context) error {
	switch {
	case ctx == nil:
		return r.rankErrorf("Finalize", "%w: nil context", ErrArgument)
	case r.sched.Current() != nil:
		return r.rankErrorf("Finalize", "%w", ErrThread)
	case r.final.Swap(true):
		return r.rankErrorf("Finalize", "%w", ErrFinalized)
	}
	err := withCause(ctx, r.lastMeeting(ctx))
	if err != nil {
		r.AwaitEnd()
	}
	return errors.Join(err, r.verdicts(), r.shutAll(ctx))
}

// verdicts are the errors of the program that layers have found at the end.
func (r *Rank) verdicts() error {
	var errs []error
	for _, l := range r.attached() {
		if l.Verdict != nil {
			errs = append(errs, l.Verdict())
		}
	}
	return errors.Join(errs...)
}

// lastMeeting waits for all ranks twice, in two barriers. Between them it waits for this rank's threads and
// operations (settleAll). Without the second barrier, a rank could close its conduit while others are still in the
// first. Both barriers poll: a peer may need credits that this rank returns before it can send its messages of the
// first. Once a peer has died, the second barrier is again that of the layers, because the job's would wait for the
// dead rank. A rank that is alone, or has ended meanwhile, leaves the second barrier out. The end of ctx ends every
// wait. Errors: why the rank has ended, ErrPending from settleAll, and those of the barriers.
func (r *Rank) lastMeeting(ctx context.Context) error {
	if err := r.Ended(); err != nil {
		return err
	}
	if err := r.meetLayers(ctx); err != nil {
		return err
	}
	left := r.settleAll(ctx)
	if r.job.Size == 1 || r.Ended() != nil {
		return left
	}
	if r.end != nil {
		r.end.Unwatch() // before any rank can come through the second wait and go
	}
	if r.anyDead() {
		return errors.Join(left, r.meetLayers(ctx))
	}
	return errors.Join(left, r.meetByJob(ctx))
}

// settleAll waits for threads and operations that still end. Its error is ErrPending with the numbers of the others.
func (r *Rank) settleAll(ctx context.Context) error {
	x := ending.Settling{
		Threads: r.sched, Ops: r.unendedOps, Poll: r.ep.Poll, Named: stuckTime(r.opts), Tell: r.reportStuck,
		Over: func() bool { return r.Ended() != nil || ctx.Err() != nil },
	}
	if err := x.Settle(); err != nil {
		return r.rankErrorf("Finalize", "%w", err)
	}
	return nil
}

// anyDead reports whether a layer meets its peers without those that have died. The job's barrier waits for them.
func (r *Rank) anyDead() bool {
	return slices.ContainsFunc(r.attached(), func(l Layer) bool { return l.AnyDead != nil && l.AnyDead() })
}

// meetLayers makes all layers meet their peers. The end of ctx ends all operations, too: nobody will wait for them.
func (r *Rank) meetLayers(ctx context.Context) error {
	over, stopped := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		r.stopUntil(over, fmt.Errorf("%w: %w", ErrFinalized, context.Cause(ctx)))
	})
	defer func() {
		close(over)
		if !stop() {
			<-stopped
		}
	}()
	met := false
	for _, l := range r.attached() {
		if l.Meet != nil {
			met = true
			if err := l.Meet(); err != nil {
				return err
			}
		}
	}
	if met || r.job.Size == 1 {
		return nil
	}
	return r.meetByJob(ctx)
}

// stopUntil ends all operations until over is closed, and those that are started meanwhile.
func (r *Rank) stopUntil(over <-chan struct{}, reason error) {
	r.stopOps(reason)
	again := time.NewTicker(stopAgain)
	defer again.Stop()
	for {
		select {
		case <-over:
			return
		case <-again.C:
			r.stopOps(reason)
		}
	}
}

// meetByJob is the meeting of a rank without a layer that has one: a barrier of the job, with progress.
func (r *Rank) meetByJob(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var met error
	over := make(chan struct{})
	go func() {
		met = r.job.Barrier(ctx)
		close(over)
		r.untils.wake(nil)
	}()
	err := r.BlockUntil(func() bool { return isClosed(over) })
	cancel()
	<-over
	if err == nil {
		err = met
	}
	if err != nil {
		return r.rankErrorf("Finalize", "%w", err)
	}
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// shutAll lets go of everything. In a Team the conduits stay until all ranks have come that far.
func (r *Rank) shutAll(ctx context.Context) error {
	defer r.timeline.FinishPart()
	r.stats.Close()
	r.counted.Keep()
	if r.end != nil {
		r.end.Close()
	}
	r.stopOps(ErrFinalized)
	r.server.Stop()
	r.late.Wait()
	err := r.closeThreads(ctx)
	if r.sched.Live() > 0 { // they may still use what is closed below
		return err
	}
	r.stopOps(ErrFinalized) // once more, for what was being started meanwhile
	if r.unlisten != nil {
		r.unlisten()
	}
	if r.team == nil {
		err = errors.Join(err, r.wire.Close())
	}
	if r.owner {
		err = errors.Join(err, r.job.Finalize(ctx))
	}
	r.closed.Store(true)
	return err
}

const stopAgain = 5 * time.Millisecond // between looks for operations that were just being started

// closeThreads ends the threads. If ctx ends, it gives them ending.SettleTime more to unwind, and names one that has
// not ended then. An operation that a thread was just starting when operations were ended is ended by a further look.
func (r *Rank) closeThreads(ctx context.Context) error {
	closed := make(chan error, 1)
	go func() { closed <- r.sched.Close() }()
	again := time.NewTicker(stopAgain)
	defer again.Stop()
	gone := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case err := <-closed:
			return err
		case <-again.C:
			r.stopOps(ErrFinalized)
		case <-gone:
			gone, late = nil, time.After(ending.SettleTime)
		case <-late:
			return r.rankErrorf("Finalize", "%s: %w", ending.Unended(r.sched), context.Cause(ctx))
		}
	}
}
