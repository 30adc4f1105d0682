// Package twin starts two ranks on one node without package mpi, for benchmarks of the layers below it. It also
// measures the time of a cache line from one rank's core to the other's.
package twin

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
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

// Local runs f as both ranks of a job in this process, joined by the conduit over, and returns the error of each.
// That of ending the job is added to the first.
func Local(over string, f func(r *rank.Rank) error) []error {
	set := Settings()
	set[settings.Conduit.Env()] = over
	team, err := rank.Local(2, rank.Config{Settings: set})
	if err != nil {
		return []error{err, err}
	}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i, r := range team.Ranks() {
		wg.Go(func() { errs[i] = f(r) })
	}
	wg.Wait()
	errs[0] = errors.Join(errs[0], team.Close())
	return errs
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

// Line measures the crossing between the two ranks' cores.
type Line struct {
	job   *rank.Job
	lines *crossing.Lines
}

// ShareLine opens a line in memory of rank 0 that rank 1 maps. Both ranks call it, which polls nothing, and blocks
// until both have done so. ErrShare where ranks do not share memory.
func ShareLine(ctx context.Context, r *rank.Rank) (*Line, error) {
	m, ok := r.Conduit().(conduit.Remote)
	if !ok || !m.Reach(1-r.Rank()).Map {
		return nil, ErrShare
	}
	mem, err := share(ctx, m, r.Job())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrShare, err)
	}
	return &Line{job: r.Job(), lines: (*crossing.Lines)(unsafe.Pointer(unsafe.SliceData(mem)))}, nil
}

// share gives both ranks the memory that rank 0 allocates.
func share(ctx context.Context, m conduit.Remote, job *rank.Job) (mem []byte, err error) {
	k := conduit.Key{Size: int64(unsafe.Sizeof(crossing.Lines{}))}
	if job.Rank == 0 {
		if mem, err = m.Allocate(k.Size); err != nil {
			return nil, err
		}
		k, _ = m.Expose(1, mem) // a key that is zero is found by rank 1
		b := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, k.ID), k.Base)
		if err := job.Put("line", b); err != nil {
			return nil, err
		}
	}
	if err := job.Fence(ctx); err != nil || job.Rank == 0 {
		return mem, err
	}
	b, err := job.Get(ctx, 0, "line")
	if err != nil {
		return nil, err
	}
	k.ID, k.Base = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	for mem == nil && err == nil {
		if mem, _, err = m.Map(0, k); mem == nil && err == nil {
			time.Sleep(100 * time.Microsecond)
			err = context.Cause(ctx)
		}
	}
	return mem, err
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
