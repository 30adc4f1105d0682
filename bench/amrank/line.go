package amrank

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/internal/boot"
)

// Keys in the job's store.
const (
	whereKey = "bench.line" // process and descriptor of rank 0's page
	haveKey  = "bench.have" // whether this rank has mapped it
)

// line measures the crossing between the two ranks' cores; where they cannot share a page it reports 0.
type line struct{ page *crossing.Shared }

func (l *line) open(ctx context.Context, job *boot.Job) error {
	fd := -1
	if job.Rank == 0 {
		if page, err := crossing.Create(); err == nil {
			l.page, fd = page, page.FD()
		}
	}
	if err := share(ctx, job, whereKey, fmt.Sprint(os.Getpid(), " ", fd)); err != nil {
		return err
	}
	if job.Rank == 1 {
		where, err := job.Get(ctx, 0, whereKey)
		if err != nil {
			return err
		}
		var pid int
		if _, err := fmt.Sscan(string(where), &pid, &fd); err != nil {
			return fmt.Errorf("page of rank 0 at %q: %w", where, err)
		}
		if page, err := crossing.Attach(pid, fd); err == nil {
			l.page = page
		}
	}
	return l.both(ctx, job)
}

// both gives the page up unless the other rank has it too.
func (l *line) both(ctx context.Context, job *boot.Job) error {
	if err := share(ctx, job, haveKey, fmt.Sprint(l.page != nil)); err != nil {
		return err
	}
	other, err := job.Get(ctx, 1-job.Rank, haveKey)
	if err != nil {
		return err
	}
	if string(other) != "true" {
		l.close()
	}
	return nil
}

func share(ctx context.Context, job *boot.Job, key, value string) error {
	if err := job.Put(key, []byte(value)); err != nil {
		return err
	}
	return job.Fence(ctx)
}

func (l *line) close() {
	if l.page != nil {
		// Unmapping can fail only for memory that is not mapped.
		_ = l.page.Close()
		l.page = nil
	}
}

// crossing is called by both ranks, which spin for a few ms; rank 0 gets ns one way.
func (l *line) crossing(ctx context.Context, job *boot.Job) (float64, error) {
	if err := job.Barrier(ctx); err != nil {
		return 0, err
	}
	if l.page == nil {
		return 0, nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if job.Rank == 0 {
		return crossing.Lead(l.page.Lines()), nil
	}
	crossing.Follow(l.page.Lines())
	return 0, nil
}
