package mpi

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Finalize ends the rank's part in the job (11.4). Every rank must call it, when its operations are done. It waits for all ranks,
// making progress meanwhile, and then lets go of everything. It blocks.
//
// Threads and operations that can still end by themselves do so: Finalize waits while any of them ends or a thread
// computes. Whatever has not ended 100 ms after the last of these is left over; 1 s after it where threads are
// goroutines, as under the race detector. It ends with ErrFinalized, and Finalize returns ErrPending, which tells how
// many threads and operations there are.
//
// Later operations give ErrFinalized, and so does a second call. In a light-weight thread it gives ErrThread.
func (p *Proc) Finalize() error { return p.FinalizeContext(context.Background()) }

// FinalizeContext is Finalize that gives up when ctx ends. The error then wraps the cause of ctx, and names the rank or the thread
// that it waited for. The rank has been finalized all the same: operations that are pending end with ErrFinalized.
// A thread that does not end keeps what it uses. A nil ctx counts as one that has ended, with ErrArgument.
func (p *Proc) FinalizeContext(ctx context.Context) error {
	ctx = orNone(ctx)
	if p.sched.Current() != nil {
		return fmt.Errorf("mpi: Finalize: rank %d: %w", p.job.Rank, ErrThread)
	}
	if p.final.Swap(true) {
		return fmt.Errorf("mpi: Finalize: rank %d: %w", p.job.Rank, ErrFinalized)
	}
	err := p.lastMeeting(ctx)
	if err != nil {
		p.stayUntilEnd()
	}
	return errors.Join(err, p.shut(ctx))
}

// lastMeeting waits for all ranks: first making progress, so that what they still need from here gets there, and
// then without, so that nobody lets go of the conduit before all have seen the end of the first wait. Between the two it waits for
// this rank's threads and operations.
func (p *Proc) lastMeeting(ctx context.Context) error {
	if err := p.ended(); err != nil {
		return err
	}
	if err := p.lastBarrier(ctx); err != nil {
		return err
	}
	left := p.settle(ctx)
	if p.job.Size == 1 || p.ended() != nil {
		return left
	}
	if err := p.job.Barrier(ctx); err != nil {
		return errors.Join(left, fmt.Errorf("mpi: Finalize: rank %d: %w", p.job.Rank, err))
	}
	return left
}

// lastBarrier is a barrier of the world that ctx can end. Its end ends all other operations, too: nobody will wait for them.
func (p *Proc) lastBarrier(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { p.stop(fmt.Errorf("%w: %w", ErrFinalized, context.Cause(ctx))) })
	defer stop()
	return p.world.lastBarrier()
}

// shut lets go of everything. In Run the conduits are closed when all ranks have come that far. SIGQUIT gives a report until all
// threads have ended.
func (p *Proc) shut(ctx context.Context) error {
	p.stats.close()
	if p.end != nil {
		p.end.close()
	}
	p.stop(ErrFinalized)
	err := p.closeThreads(ctx)
	if p.sched.Live() > 0 { // they may still use what is closed below
		return err
	}
	p.srv.Close() // once more, for what was being started meanwhile
	p.restore()
	if p.team == nil {
		err = errors.Join(err, p.wire.Close(), p.job.Finalize(ctx))
	}
	p.closed.Store(true)
	return err
}

// closeThreads ends the threads. If ctx ends, it gives them settleTime more to unwind, and names one that has not ended then. An
// operation that a thread was just starting when operations were ended is ended by a further look.
func (p *Proc) closeThreads(ctx context.Context) error {
	closed := make(chan error, 1)
	go func() { closed <- p.sched.Close() }()
	again := time.NewTicker(sweepEvery)
	defer again.Stop()
	gone := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case err := <-closed:
			return err
		case <-again.C:
			p.srv.Close()
		case <-gone:
			gone, late = nil, time.After(settleTime)
		case <-late:
			return fmt.Errorf("mpi: Finalize: rank %d: %s: %w", p.job.Rank, p.unended(), context.Cause(ctx))
		}
	}
}
