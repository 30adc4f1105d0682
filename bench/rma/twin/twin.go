// Package twin joins two ranks on one node without package mpi, for benchmarks of the layers below it: conduits over
// shared memory, and the time a cache line takes from one rank's core to the other's.
package twin

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/conduit/shm"
)

// Errors, for errors.Is.
var (
	ErrRanks = errors.New("twin: needs two ranks on one node")
	ErrShare = errors.New("twin: the ranks share no memory")
)

// Join finds this process's job, which must have two ranks on one node. It blocks until the launcher has answered. The
// caller finalizes the job.
func Join(ctx context.Context) (*boot.Job, error) {
	job, err := boot.Join(ctx)
	if err != nil {
		return nil, fmt.Errorf("twin: %w", err)
	}
	if job.Size != 2 || len(job.LocalRanks) != 2 {
		return nil, errors.Join(fmt.Errorf("%w, not %d", ErrRanks, job.Size), job.Finalize(ctx))
	}
	return job, nil
}

// Connect makes this rank's end of a conduit over shared memory. Both ranks call it with the same name, which tells the
// conduits of a job apart, and the same cfg. It blocks until both have.
func Connect(job *boot.Job, name string, cfg conduit.Config) (conduit.Conduit, error) {
	c, err := shm.New(shm.Config{
		Rank: job.Rank, Size: job.Size, JobID: job.JobID + name, Key: string(job.Key), Local: job.LocalRanks, Conduit: cfg,
	})
	if err != nil {
		return nil, fmt.Errorf("twin: conduit %s: %w", name, err)
	}
	return c, nil
}

// Room is how many bytes at the beginning of rank 0's registered memory Line uses; they must be zero at first.
const Room = 4096

// Line measures the crossing between the two ranks' cores.
type Line struct {
	job   *boot.Job
	lines *crossing.Lines
}

// OpenLine finds the memory that rank 0 has registered with c, or is about to. It polls nothing, and blocks until the news
// of it has arrived. ErrShare where ranks do not share memory.
func OpenLine(ctx context.Context, job *boot.Job, c conduit.Conduit) (*Line, error) {
	m, ok := c.(conduit.Memory)
	if !ok {
		return nil, ErrShare
	}
	mem, err := Segment(ctx, m, 0)
	if err != nil {
		return nil, err
	}
	if len(mem) < Room {
		return nil, fmt.Errorf("%w: %d bytes are registered, a line needs %d", ErrShare, len(mem), Room)
	}
	return &Line{job: job, lines: (*crossing.Lines)(unsafe.Pointer(unsafe.SliceData(mem)))}, nil
}

// Segment waits for the memory that peer registers.
func Segment(ctx context.Context, m conduit.Memory, peer int) ([]byte, error) {
	for {
		mem, err := m.Segment(peer)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrShare, err)
		}
		if mem != nil {
			return mem, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("twin: memory of rank %d: %w", peer, context.Cause(ctx))
		case <-time.After(time.Millisecond):
		}
	}
}

// Crossing is called by both ranks, which spin for a few ms; rank 0 gets ns one way, rank 1 gets 0.
func (l *Line) Crossing(ctx context.Context) (float64, error) {
	if err := l.job.Barrier(ctx); err != nil {
		return 0, fmt.Errorf("twin: %w", err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if l.job.Rank == 0 {
		return crossing.Lead(l.lines), nil
	}
	crossing.Follow(l.lines)
	return 0, nil
}
