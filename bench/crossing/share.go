package crossing

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/golci/golci/internal/job/boot"
)

// Ends measures between the cores of ranks 0 and 1 of a job. Each rank has one.
type Ends struct {
	rank  int
	lines *Lines // nil in ranks that do not measure
}

// Share makes the ends of a job, once. All ranks call it, and wait for each other. Without shared memory nothing is
// measured.
func Share(ctx context.Context, job *boot.Job) (*Ends, error) {
	const key = "line"
	e := &Ends{rank: job.Rank}
	if job.Size < 2 {
		return e, nil
	}
	if job.Rank == 0 {
		place := "none"
		if lines, f, err := create(); err == nil {
			defer f.Close()
			e.lines, place = lines, fmt.Sprint(os.Getpid(), f.Fd())
		}
		if err := job.Put(key, []byte(place)); err != nil {
			return nil, err
		}
	}
	if err := job.Fence(ctx); err != nil {
		return nil, err
	}
	return e, e.agree(ctx, job, key)
}

// agree attaches rank 1, and tells rank 0 whether that has come about.
func (e *Ends) agree(ctx context.Context, job *boot.Job, key string) error {
	if job.Rank == 1 {
		place, err := job.Get(ctx, 0, key)
		if err != nil {
			return err
		}
		var pid, fd int
		if _, err := fmt.Sscan(string(place), &pid, &fd); err == nil {
			e.lines, _ = attach(pid, fd)
		}
		if err := job.Put(key, fmt.Append(nil, e.lines != nil)); err != nil {
			return err
		}
	}
	if err := job.Fence(ctx); err != nil || job.Rank != 0 {
		return err
	}
	both, err := job.Get(ctx, 1, key)
	if string(both) != "true" {
		e.lines = nil
	}
	return err
}

// Measure is called by both ranks at the same time, which then spin for a few ms. Rank 0 gets ns one way, all others 0.
func (e *Ends) Measure() float64 {
	if e.lines == nil {
		return 0
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if e.rank == 0 {
		return Lead(e.lines)
	}
	Follow(e.lines)
	return 0
}
