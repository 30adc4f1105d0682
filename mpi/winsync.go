package mpi

import (
	"github.com/golci/golci/mpi/internal/epoch"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Mode is what a rank promises when it opens or ends an epoch (12.5.5). Modes are added. Zero promises nothing.
type Mode int

// Modes. ErrMode: the call does not know this one.
const (
	ModeNoCheck   Mode = Mode(epoch.NoCheck)   // of Start, Post and locks: the others are ready, or nobody competes
	ModeNoPrecede Mode = Mode(epoch.NoPrecede) // of Fence: no access of this rank came before
	ModeNoPut     Mode = Mode(epoch.NoPut)     // of Fence and Post: nobody will change this rank's memory
	ModeNoStore   Mode = Mode(epoch.NoStore)   // of Fence and Post: this rank has not stored to its memory
	ModeNoSucceed Mode = Mode(epoch.NoSucceed) // of Fence: no access will follow
)

// LockType is a kind of Lock.
type LockType int

// Kinds of locks.
const (
	LockExclusive LockType = LockType(epoch.Exclusive) // nobody else has the lock
	LockShared    LockType = LockType(epoch.Shared)    // others may have shared locks
)

// synchronize calls a method of the window.
func (w *Win[T]) synchronize(what string, f func() error) error {
	if w.null() {
		return w.goneError(what)
	}
	return sentinel.AddTo(f())
}

// Fence ends an epoch of accesses by all ranks and begins another one (12.5.1). Collective; it waits, and may switch
// threads. All accesses made before have then taken place. Errors, of all calls that end or begin an epoch: ErrWin;
// ErrRMASync if the state of the window does not allow it; ErrMode; and those of the accesses that it ends.
func (w *Win[T]) Fence(m Mode) error {
	return w.synchronize("Win_fence", func() error { return w.w.Fence(epoch.Assert(m)) })
}

// Start begins accesses to ranks of the window (12.5.2). It waits until all of them have called Post, and may switch
// threads. Errors: those of Fence, and ErrGroup for ranks that are not of the window.
func (w *Win[T]) Start(ranks []int, m Mode) error {
	return w.synchronize("Win_start", func() error { return w.w.Start(ranks, epoch.Assert(m)) })
}

// Complete ends the accesses that Start began (12.5.2). It waits until they have taken place.
func (w *Win[T]) Complete() error {
	return w.synchronize("Win_complete", func() error { return w.w.Complete() })
}

// Post lets ranks of the window access this rank's memory, which they begin by Start (12.5.2). It does not wait. Errors
// as for Start.
func (w *Win[T]) Post(ranks []int, m Mode) error {
	return w.synchronize("Win_post", func() error { return w.w.Post(ranks, epoch.Assert(m)) })
}

// Wait ends what Post began: it waits until all those ranks have called Complete (12.5.2). It may switch threads.
func (w *Win[T]) Wait() error { return w.synchronize("Win_wait", func() error { return w.w.Wait() }) }

// Test polls once, and reports whether all ranks have called Complete; it is Wait then (12.5.2). It does not block.
func (w *Win[T]) Test() (done bool, err error) {
	err = w.synchronize("Win_test", func() (err error) {
		done, err = w.w.Test()
		return err
	})
	return done, err
}

// Lock begins accesses to one rank, which need no call of that rank (12.5.3). It waits for the lock, and may switch
// threads. rank may be ProcNull. Errors: those of Fence, ErrRank, ErrLockType.
func (w *Win[T]) Lock(kind LockType, rank int, m Mode) error {
	return w.synchronize("Win_lock", func() error { return w.w.Lock(epoch.LockType(kind), rank, epoch.Assert(m)) })
}

// Unlock ends what Lock began (12.5.3). It waits until the accesses have taken place.
func (w *Win[T]) Unlock(rank int) error {
	return w.synchronize("Win_unlock", func() error { return w.w.Unlock(rank) })
}

// LockAll is a shared Lock of all ranks (12.5.3). It is not collective.
func (w *Win[T]) LockAll(m Mode) error {
	return w.synchronize("Win_lock_all", func() error { return w.w.LockAll(epoch.Assert(m)) })
}

// UnlockAll ends what LockAll began (12.5.3), as Unlock does.
func (w *Win[T]) UnlockAll() error {
	return w.synchronize("Win_unlock_all", func() error { return w.w.UnlockAll() })
}

// Locked runs f with a lock of one rank: Lock, f, Unlock. The lock is given back even if f fails or panics. The error
// is the first of those of Lock, f and Unlock.
func (w *Win[T]) Locked(kind LockType, rank int, f func() error) (err error) {
	if err := w.Lock(kind, rank, 0); err != nil {
		return err
	}
	defer func() {
		if e := w.Unlock(rank); err == nil {
			err = e
		}
	}()
	return f()
}

// Flush waits until the accesses of this rank to another one have taken place there, within an epoch of Lock or LockAll
// (12.5.4). Errors: ErrWin, ErrRank, ErrRMASync, and those of the accesses.
func (w *Win[T]) Flush(rank int) error {
	if w.null() {
		return w.goneError("Win_flush")
	}
	return sentinel.AddTo(w.w.Flush(rank)) // it is short, so it has no closure
}

// FlushAll is Flush of all ranks (12.5.4).
func (w *Win[T]) FlushAll() error {
	return w.synchronize("Win_flush_all", func() error { return w.w.FlushAll() })
}

// FlushLocal waits until the slices given to accesses to a rank may be used again (12.5.4). Here that is when Flush
// returns.
func (w *Win[T]) FlushLocal(rank int) error { return w.Flush(rank) }

// FlushLocalAll is FlushLocal of all ranks (12.5.4).
func (w *Win[T]) FlushLocalAll() error { return w.FlushAll() }

// Sync orders loads and stores of this rank to its memory with accesses of others, within an epoch of Lock or LockAll
// (12.5.4). It polls once.
func (w *Win[T]) Sync() error { return w.synchronize("Win_sync", func() error { return w.w.Sync() }) }
