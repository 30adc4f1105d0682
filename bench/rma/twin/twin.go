// Package twin starts two ranks on one node without package mpi, for benchmarks of the layers below it. It also
// measures the time of a cache line from one rank's core to the other's.
package twin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
	"unsafe"

	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/comm/rank"
	"github.com/golci/golci/internal/settings"
)

// Errors, for errors.Is.
var (
	ErrRanks = errors.New("twin: needs two ranks on one node")
	ErrShare = errors.New("twin: the ranks share no memory")
)

// Start brings this process up as one of two ranks on one node, which only the benchmark polls. It blocks until both
// have come. The caller finalizes the rank: see Leave. Error: ErrRanks, and those of rank.Start.
func Start(ctx context.Context) (*rank.Rank, error) {
	r, err := rank.Start(ctx, rank.Config{Settings: Settings(), Exit: os.Exit})
	if err != nil {
		return nil, fmt.Errorf("twin: %w", err)
	}
	if r.Size() != 2 || len(r.Job().LocalRanks) != 2 {
		return nil, errors.Join(fmt.Errorf("%w, not %d", ErrRanks, r.Size()), r.Finalize(ctx))
	}
	return r, nil
}

// Settings are those of a rank that only its caller polls.
func Settings() map[string]string { return map[string]string{settings.Server.Env(): "waiter"} }

// Leave finalizes a rank, and waits for the other unless err says that the benchmark has failed here. It returns err,
// or why the rank could not be finalized.
func Leave(ctx context.Context, r *rank.Rank, err error) error {
	if err == nil {
		return r.Finalize(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	cancel(err)
	_ = r.Finalize(ctx) // gives up at once
	return err
}

// Room is how many bytes at the beginning of rank 0's registered memory Line uses; they must be zero at first.
const Room = 4096

// Line measures the crossing between the two ranks' cores.
type Line struct {
	job   *rank.Job
	lines *crossing.Lines
}

// ShareLine registers memory for a line, on ranks that register no other, and opens it. Both ranks call it.
func ShareLine(ctx context.Context, r *rank.Rank) (*Line, error) {
	m, ok := r.Conduit().(conduit.Memory)
	if !ok {
		return nil, ErrShare
	}
	if _, err := m.Register(Room); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrShare, err)
	}
	return OpenLine(ctx, r)
}

// OpenLine finds the memory that rank 0 has registered, or is about to. It polls nothing, and blocks until the news
// of it has arrived. ErrShare where ranks do not share memory.
func OpenLine(ctx context.Context, r *rank.Rank) (*Line, error) {
	m, ok := r.Conduit().(conduit.Memory)
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
	return &Line{job: r.Job(), lines: (*crossing.Lines)(unsafe.Pointer(unsafe.SliceData(mem)))}, nil
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
