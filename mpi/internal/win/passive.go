package win

import (
	"github.com/golci/golci/mpi/internal/epoch"
)

// Lock begins accesses to one rank (12.5.3). It waits until the rank has granted the lock, unless a says NoCheck.
// Errors: errs.Rank, errs.LockType, errs.Assert, errs.RMASync.
func (w *Window) Lock(kind epoch.LockType, rank int, a epoch.Assert) error {
	const what = "Win_lock"
	args := epoch.Args{Target: rank, Lock: kind, Assert: a}
	if err := w.allow(epoch.Lock, args); err != nil {
		return w.winErrorf(what, err)
	}
	if rank != epoch.ProcNull {
		if err := w.claimLocks(what, []int{rank}, kind, a); err != nil {
			return w.winErrorf(what, err)
		}
	}
	return w.winErrorf(what, w.doEpoch(epoch.Lock, args))
}

// claimLocks asks ranks for their locks, and waits for them.
func (w *Window) claimLocks(what string, ranks []int, kind epoch.LockType, a epoch.Assert) error {
	w.mu.Lock()
	for _, r := range ranks {
		if w.unchecked == nil {
			w.unchecked = make([]bool, len(w.ranks))
		}
		w.unchecked[r] = a&epoch.NoCheck != 0
	}
	w.mu.Unlock()
	if a&epoch.NoCheck != 0 {
		return nil
	}
	for _, r := range ranks {
		w.tellRank(r, wantLock, uint64(kind))
	}
	err := w.awaitNotices(what, gotLock, ranks)
	if err != nil {
		w.forfeit(ranks)
	}
	return err
}

// forfeit gives back the locks of a wait that has ended, those that have come and those to come.
func (w *Window) forfeit(ranks []int) {
	var back []int
	w.mu.Lock()
	for _, r := range ranks {
		if w.takeNotices(gotLock, []int{r}) {
			back = append(back, r)
		} else {
			w.forfeited[r]++
		}
	}
	w.mu.Unlock()
	for _, r := range back {
		w.tellRank(r, gaveLock, 0)
	}
}

// releaseLocks gives locks back.
func (w *Window) releaseLocks(ranks []int) {
	for _, r := range ranks {
		w.mu.Lock()
		unchecked := w.unchecked != nil && w.unchecked[r]
		w.mu.Unlock()
		if !unchecked {
			w.tellRank(r, gaveLock, 0)
		}
	}
}

// allRanks are the ranks of the window.
func (w *Window) allRanks() []int {
	all := make([]int, len(w.ranks))
	for i := range all {
		all[i] = i
	}
	return all
}

// Unlock ends what Lock began. It waits until the accesses to the rank are done there. Errors: errs.Rank, errs.RMASync,
// and those of the accesses.
func (w *Window) Unlock(rank int) error {
	const what = "Win_unlock"
	args := epoch.Args{Target: rank}
	if err := w.allow(epoch.Unlock, args); err != nil {
		return w.winErrorf(what, err)
	}
	var err error
	if rank != epoch.ProcNull {
		err = w.settleRank(rank)
		w.releaseLocks([]int{rank})
	}
	if e := w.doEpoch(epoch.Unlock, args); err == nil {
		err = e
	}
	return w.winErrorf(what, err)
}

// LockAll is a shared Lock of all ranks.
func (w *Window) LockAll(a epoch.Assert) error {
	const what = "Win_lock_all"
	args := epoch.Args{Assert: a}
	if err := w.allow(epoch.LockAll, args); err != nil {
		return w.winErrorf(what, err)
	}
	if err := w.claimLocks(what, w.allRanks(), epoch.Shared, a); err != nil {
		return w.winErrorf(what, err)
	}
	return w.winErrorf(what, w.doEpoch(epoch.LockAll, args))
}

// UnlockAll ends what LockAll began. It waits as Unlock does.
func (w *Window) UnlockAll() error {
	const what = "Win_unlock_all"
	if err := w.allow(epoch.UnlockAll, epoch.Args{}); err != nil {
		return w.winErrorf(what, err)
	}
	err := w.settleAll()
	w.releaseLocks(w.allRanks())
	if e := w.doEpoch(epoch.UnlockAll, epoch.Args{}); err == nil {
		err = e
	}
	return w.winErrorf(what, err)
}

// Flush waits until the accesses to a rank are done there (12.5.4). It is FlushLocal, too.
func (w *Window) Flush(rank int) error {
	const what = "Win_flush"
	if !w.opened(rank, true) {
		if err := w.allow(epoch.Flush, epoch.Args{Target: rank}); err != nil || rank == epoch.ProcNull {
			return w.winErrorf(what, err)
		}
	}
	if w.mapped != nil && w.flavor != Dynamic { // nothing is pending
		w.fence.Add(0) // between the stores of accesses and what follows
		w.c.Srv.PollInTurn()
		return nil
	}
	return w.winErrorf(what, w.settleRank(rank))
}

// FlushAll is Flush of all ranks.
func (w *Window) FlushAll() error {
	const what = "Win_flush_all"
	if err := w.allow(epoch.FlushAll, epoch.Args{}); err != nil {
		return w.winErrorf(what, err)
	}
	return w.winErrorf(what, w.settleAll())
}

// Sync orders loads and stores of this rank with accesses of others (12.5.4). It makes progress.
func (w *Window) Sync() error {
	const what = "Win_sync"
	if err := w.allow(epoch.Sync, epoch.Args{}); err != nil {
		return w.winErrorf(what, err)
	}
	w.c.Srv.Poll() // its locks order memory
	return nil
}

// settleRank waits for the accesses to a rank that have been started.
func (w *Window) settleRank(rank int) (err error) {
	w.mu.Lock()
	list := w.pending[rank].list
	w.pending[rank].list = nil
	w.mu.Unlock()
	if len(list) == 0 {
		w.c.Srv.Poll()
	} else {
		w.c.Srv.PollInTurn() // all may be done
	}
	for i := range list {
		if e := list[i].waitAccess(); err == nil {
			err = e
		}
	}
	return err
}

// settleAll is settleRank for all ranks.
func (w *Window) settleAll() (err error) {
	for r := range w.ranks {
		w.mu.Lock()
		some := len(w.pending[r].list) > 0
		w.mu.Unlock()
		if !some {
			continue
		}
		if e := w.settleRank(r); err == nil {
			err = e
		}
	}
	w.c.Srv.Poll()
	return err
}
