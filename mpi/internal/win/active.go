package win

import (
	"slices"

	"github.com/golci/golci/mpi/internal/epoch"
)

// Fence ends an epoch of accesses and exposure of all ranks, and begins another one (12.5.1). Collective; it waits.
// Errors: errs.RMASync, errs.Assert, and those of the accesses that it ends.
func (w *Window) Fence(a epoch.Assert) error {
	const what = "Win_fence"
	args := epoch.Args{Assert: a}
	if err := w.allow(epoch.Fence, args); err != nil {
		return w.winErrorf(what, err)
	}
	err := w.settleAll()
	if e := w.c.BarrierFor(what); err == nil {
		err = e
	}
	if e := w.doEpoch(epoch.Fence, args); err == nil {
		err = e
	}
	return w.winErrorf(what, err)
}

// Start begins accesses to the ranks of group, which are of the window (12.5.2). It waits until they have called Post,
// unless a says NoCheck. Errors: errs.Group, errs.Assert, errs.RMASync.
func (w *Window) Start(group []int, a epoch.Assert) error {
	const what = "Win_start"
	args := epoch.Args{Group: slices.Clone(group), Assert: a}
	if err := w.allow(epoch.Start, args); err != nil {
		return w.winErrorf(what, err)
	}
	if a&epoch.NoCheck == 0 {
		if err := w.awaitNotices(what, hasPosted, args.Group); err != nil {
			return w.winErrorf(what, err)
		}
	}
	return w.winErrorf(what, w.doEpoch(epoch.Start, args))
}

// Complete ends the accesses that Start began. It waits until they are done.
func (w *Window) Complete() error {
	const what = "Win_complete"
	if err := w.allow(epoch.Complete, epoch.Args{}); err != nil {
		return w.winErrorf(what, err)
	}
	err := w.settleAll()
	w.mu.Lock()
	group := w.epoch.Targets()
	w.mu.Unlock()
	for _, r := range group {
		w.countNotice(r, hasEnded)
	}
	if e := w.doEpoch(epoch.Complete, epoch.Args{}); err == nil {
		err = e
	}
	return w.winErrorf(what, err)
}

// Post lets the ranks of group access this rank's memory (12.5.2). It does not wait. Errors as for Start.
func (w *Window) Post(group []int, a epoch.Assert) error {
	args := epoch.Args{Group: slices.Clone(group), Assert: a}
	if err := w.doEpoch(epoch.Post, args); err != nil {
		return w.winErrorf("Win_post", err)
	}
	if a&epoch.NoCheck == 0 {
		for _, r := range group {
			w.countNotice(r, hasPosted)
		}
	}
	return nil
}

// Wait ends what Post began, when all ranks of its group have called Complete.
func (w *Window) Wait() error {
	const what = "Win_wait"
	if err := w.allow(epoch.Wait, epoch.Args{}); err != nil {
		return w.winErrorf(what, err)
	}
	w.mu.Lock()
	group := w.epoch.Exposed()
	w.mu.Unlock()
	err := w.awaitNotices(what, hasEnded, group)
	if err == nil {
		err = w.doEpoch(epoch.Wait, epoch.Args{})
	}
	return w.winErrorf(what, err)
}

// Test is Wait that does not wait. It reports whether the exposure has ended.
func (w *Window) Test() (bool, error) {
	const what = "Win_test"
	if err := w.allow(epoch.Wait, epoch.Args{}); err != nil {
		return false, w.winErrorf(what, err)
	}
	w.c.Srv.Poll()
	w.mu.Lock()
	ok := w.takeNotices(hasEnded, w.epoch.Exposed())
	w.mu.Unlock()
	if !ok {
		return false, nil
	}
	return true, w.winErrorf(what, w.doEpoch(epoch.Wait, epoch.Args{}))
}
