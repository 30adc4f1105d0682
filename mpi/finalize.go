package mpi

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Finalize ends the rank's part in the job (11.4). Every rank must call it, when its operations are done: it waits for all ranks,
// making progress meanwhile, and then lets go of everything; operations and threads that are left end with ErrFinalized, and
// Finalize then returns ErrPending. Later operations give ErrFinalized, and so does a second call. It must not be called
// in a light-weight thread: ErrThread.
func (p *Proc) Finalize() error {
	if p.sched.Current() != nil {
		return fmt.Errorf("mpi: Finalize: rank %d: %w", p.job.Rank, ErrThread)
	}
	if p.final.Swap(true) {
		return fmt.Errorf("mpi: Finalize: rank %d: %w", p.job.Rank, ErrFinalized)
	}
	err := p.lastMeeting()
	if err != nil {
		p.stayUntilEnd()
	}
	if err == nil {
		err = p.leftovers()
	}
	return errors.Join(err, p.shut())
}

// lastMeeting waits for all ranks: first making progress, so that what they still need from here gets there, and
// then without, so that nobody lets go of the conduit before all have seen the end of the first wait.
func (p *Proc) lastMeeting() error {
	if err := p.ended(); err != nil {
		return err
	}
	if err := p.world.barrier("Finalize"); err != nil {
		return err
	}
	if p.job.Size == 1 {
		return nil
	}
	if err := p.job.Barrier(context.Background()); err != nil {
		return fmt.Errorf("mpi: Finalize: rank %d: %w", p.job.Rank, err)
	}
	return nil
}

// settlePolls lets completions that have arrived be noticed before an operation counts as left over.
const settlePolls = 100

// leftovers names operations that nobody has waited for.
func (p *Proc) leftovers() error {
	var left []string
	for range settlePolls {
		if left = left[:0]; len(p.pending(&left)) == 0 {
			return nil
		}
		p.srv.Poll()
	}
	return fmt.Errorf("mpi: Finalize: rank %d: %w: %d, the first is a %s", p.job.Rank, ErrPending, len(left), left[0])
}

// pending lists this rank's own operations.
func (p *Proc) pending(out *[]string) []string {
	for _, x := range p.srv.Pending() {
		if !strings.HasPrefix(x.What, "unexpected") {
			*out = append(*out, x.String())
		}
	}
	return *out
}

// shut lets go of everything. In Run the conduits are closed when all ranks have come that far.
func (p *Proc) shut() error {
	p.restore()
	p.stats.close()
	if p.end != nil {
		p.end.close()
	}
	p.stop(ErrFinalized)
	err := p.sched.Close()
	p.srv.Close() // once more, for what was being started meanwhile
	if p.team == nil {
		err = errors.Join(err, p.wire.Close(), p.job.Finalize(context.Background()))
	}
	p.closed.Store(true)
	return err
}
