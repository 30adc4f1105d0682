package mpi

import (
	"errors"
	"fmt"
)

// passive is a case that begins and ends outside of epochs; the ranks wait for each other before and after check.
func passive(
	section, name string, f func(w *Win[int64], c *Comm) error, check func(w *Win[int64], c *Comm) error,
) winCase {
	return winCase{section, name, func(w *Win[int64], c *Comm) error {
		return all(w.Fence(ModeNoSucceed), f(w, c), c.Barrier(), check(w, c), c.Barrier(), w.Fence(0))
	}}
}

// elementIs is a check of one element.
func elementIs(i int, want func(c *Comm) int64) func(w *Win[int64], c *Comm) error {
	return func(w *Win[int64], c *Comm) error {
		return w.Locked(LockShared, c.Rank(), func() error { return has("element", mine(w, i), want(c)) })
	}
}

// counted is a check of rank 0: each rank has counted n.
func counted(w *Win[int64], c *Comm, i, n int) error {
	if c.Rank() != 0 {
		return nil
	}
	return elementIs(i, constant(int64(n*c.Size())))(w, c)
}

func constant(v int64) func(*Comm) int64 { return func(*Comm) int64 { return v } }

func leftPlusOne(c *Comm) int64 { return int64(left(c) + 1) }

func unlooked(*Win[int64], *Comm) error { return nil }

var lockCases = []winCase{
	passive("12.5.3", "put in a shared lock", func(w *Win[int64], c *Comm) error {
		return all(w.Lock(LockShared, right(c), 0), w.Put([]int64{int64(c.Rank() + 1)}, right(c), 0), w.Unlock(right(c)))
	}, elementIs(0, leftPlusOne)),
	passive("12.5.3", "put in an exclusive lock", func(w *Win[int64], c *Comm) error {
		return all(w.Lock(LockExclusive, right(c), 0), w.Put([]int64{int64(c.Rank() + 1)}, right(c), 1), w.Unlock(right(c)))
	}, elementIs(1, leftPlusOne)),
	passive("12.5.3", "exclusive locks exclude", func(w *Win[int64], _ *Comm) error {
		for range 10 {
			err := w.Locked(LockExclusive, 0, func() error {
				v := []int64{-1}
				err := all(w.Get(v, 0, 0), w.Flush(0))
				v[0]++
				return all(err, w.Put(v, 0, 0))
			})
			if err != nil {
				return err
			}
		}
		return nil
	}, func(w *Win[int64], c *Comm) error {
		return counted(w, c, 0, 10)
	}),
	passive("12.5.3", "lock of the null process", func(w *Win[int64], _ *Comm) error {
		return all(w.Lock(LockShared, ProcNull, 0), w.Put([]int64{1}, ProcNull, 0), w.Unlock(ProcNull))
	}, elementIs(0, constant(0))),
	passive("12.5.3", "lock of itself", func(w *Win[int64], c *Comm) error {
		return all(w.Lock(LockExclusive, c.Rank(), 0), w.Put([]int64{3}, c.Rank(), 0), w.Unlock(c.Rank()))
	}, elementIs(0, constant(3))),
	passive("12.5.3", "locks of all, one by one", func(w *Win[int64], c *Comm) error {
		for r := range c.Size() {
			if err := all(w.Lock(LockShared, r, 0), w.Accumulate([]int64{1}, r, 2, Sum)); err != nil {
				return err
			}
		}
		for r := range c.Size() {
			if err := w.Unlock(r); err != nil {
				return err
			}
		}
		return nil
	}, elementIs(2, func(c *Comm) int64 { return int64(c.Size()) })),
	passive("12.5.3", "lock_all", func(w *Win[int64], c *Comm) error {
		return all(w.LockAll(0), w.Put([]int64{int64(c.Rank() + 1)}, right(c), 3), w.UnlockAll())
	}, elementIs(3, leftPlusOne)),
	passive("12.5.5", "lock without a check", func(w *Win[int64], c *Comm) error {
		return all(w.Lock(LockShared, right(c), ModeNoCheck), w.Put([]int64{2}, right(c), 3), w.Unlock(right(c)))
	}, elementIs(3, constant(2))),
	passive("12.5.5", "lock_all without a check", func(w *Win[int64], c *Comm) error {
		return all(w.LockAll(ModeNoCheck), w.Put([]int64{2}, right(c), 3), w.UnlockAll())
	}, elementIs(3, constant(2))),
	passive("12.5.4", "flush", func(w *Win[int64], c *Comm) error {
		got := []int64{-1}
		return all(w.LockAll(0), w.Put([]int64{5}, right(c), 0), w.Flush(right(c)), w.Get(got, right(c), 0),
			w.Flush(right(c)), has("got", func() int64 { return got[0] }, 5), w.UnlockAll())
	}, elementIs(0, constant(5))),
	passive("12.5.4", "flush_all", func(w *Win[int64], c *Comm) error {
		got := []int64{-1, -1}
		return all(w.LockAll(0), w.Get(got, right(c), 6), w.FlushAll(),
			has("got", func() []int64 { return got }, []int64{0, 0}), w.UnlockAll())
	}, unlooked),
	passive("12.5.4", "flush_local", func(w *Win[int64], c *Comm) error {
		from := []int64{6}
		err := all(w.LockAll(0), w.Put(from, right(c), 0), w.FlushLocal(right(c)))
		from[0] = 7
		return all(err, w.UnlockAll())
	}, elementIs(0, constant(6))),
	passive("12.5.4", "flush_local_all", func(w *Win[int64], c *Comm) error {
		from := []int64{6}
		err := all(w.LockAll(0), w.Put(from, right(c), 0), w.FlushLocalAll())
		from[0] = 7
		return all(err, w.UnlockAll())
	}, elementIs(0, constant(6))),
	passive("12.5.4", "sync", func(w *Win[int64], _ *Comm) error {
		return all(w.LockAll(0), w.Sync(), w.UnlockAll())
	}, unlooked),
	passive("12.7", "put and flag", func(w *Win[int64], c *Comm) error {
		err := all(w.LockAll(0), w.Put([]int64{77}, right(c), 0), w.Flush(right(c)),
			w.Accumulate([]int64{1}, right(c), 1, Replace), w.Flush(right(c)))
		var flag int64
		for flag == 0 && err == nil {
			err = all(w.FetchAndOp(0, &flag, c.Rank(), 1, NoOp), w.Flush(c.Rank()))
		}
		got := []int64{-1}
		return all(err, w.Get(got, c.Rank(), 0), w.FlushAll(), has("data", func() int64 { return got[0] }, 77), w.UnlockAll())
	}, elementIs(1, constant(1))),
	passive("12.3.5", "rput", func(w *Win[int64], c *Comm) error {
		return all(w.LockAll(0), done(w.Rput([]int64{4}, right(c), 0)), w.UnlockAll())
	}, elementIs(0, constant(4))),
	passive("12.3.5", "rget", func(w *Win[int64], c *Comm) error {
		got := []int64{-1}
		return all(w.LockAll(0), done(w.Rget(got, right(c), 5)), has("got", func() int64 { return got[0] }, 0), w.UnlockAll())
	}, unlooked),
	passive("12.3.5", "raccumulate", func(w *Win[int64], c *Comm) error {
		return all(w.LockAll(0), done(w.Raccumulate([]int64{4}, right(c), 0, Sum)), w.UnlockAll())
	}, elementIs(0, constant(4))),
	passive("12.3.5", "rget_accumulate", func(w *Win[int64], c *Comm) error {
		old := []int64{-1}
		return all(w.LockAll(0), done(w.RgetAccumulate([]int64{4}, old, right(c), 0, Sum)),
			has("old", func() int64 { return old[0] }, 0), w.UnlockAll())
	}, elementIs(0, constant(4))),
	passive("12.3.5", "rput to the null process", func(w *Win[int64], _ *Comm) error {
		return all(w.LockAll(0), done(w.Rput([]int64{4}, ProcNull, 0)), w.UnlockAll())
	}, elementIs(0, constant(0))),
	passive("12.3.4", "get_accumulate counts", func(w *Win[int64], c *Comm) error {
		last := int64(-1)
		for range 20 {
			old := []int64{0}
			err := all(w.LockAll(0), w.GetAccumulate([]int64{1}, old, 0, 0, Sum), w.UnlockAll())
			if err != nil || old[0] <= last {
				return errors.Join(err, fmt.Errorf("%d after %d", old[0], last))
			}
			last = old[0]
		}
		return nil
	}, func(w *Win[int64], c *Comm) error {
		return counted(w, c, 0, 20)
	}),
	passive("12.3.4", "a lock of compare_and_swap", func(w *Win[int64], c *Comm) error {
		err := w.LockAll(0)
		for range 5 {
			for old := int64(-1); old != 0 && err == nil; {
				err = all(w.CompareAndSwap(1, 0, &old, 0, 0), w.Flush(0))
			}
			v := []int64{-1}
			err = all(err, w.Get(v, 0, 1), w.Flush(0))
			v[0]++
			err = all(err, w.Put(v, 0, 1), w.Flush(0), w.Accumulate([]int64{0}, 0, 0, Replace), w.Flush(0))
		}
		return all(err, w.UnlockAll())
	}, func(w *Win[int64], c *Comm) error {
		return counted(w, c, 1, 5)
	}),
}

// exposed posts to the left rank and starts to the right one with modes, calls f, and ends both.
func exposed(
	name string, m Mode, f func(w *Win[int64], c *Comm) error, check func(w *Win[int64], c *Comm) error,
) winCase {
	return passive("12.5.2", name, func(w *Win[int64], c *Comm) error {
		err := w.Post([]int{left(c)}, m&^ModeNoCheck)
		if m&ModeNoCheck != 0 {
			err = all(err, c.Barrier())
		}
		return all(err, w.Start([]int{right(c)}, 0), f(w, c),
			w.Complete(), w.Wait())
	}, check)
}

var groupCases = []winCase{
	exposed("put after start", 0, func(w *Win[int64], c *Comm) error {
		return w.Put([]int64{int64(c.Rank() + 1)}, right(c), 0)
	}, elementIs(0, leftPlusOne)),
	exposed("get after start", 0, func(w *Win[int64], c *Comm) error {
		return w.Get(make([]int64, 8), right(c), 0)
	}, unlooked),
	exposed("accumulate after start", 0, func(w *Win[int64], c *Comm) error {
		return w.Accumulate([]int64{2, 3}, right(c), 0, Sum)
	}, elementIs(1, constant(3))),
	exposed("post without stores and puts", ModeNoPut|ModeNoStore, func(w *Win[int64], c *Comm) error {
		return w.Get(make([]int64, 1), right(c), 7)
	}, unlooked),
	exposed("an access to another rank", 0, func(w *Win[int64], c *Comm) error {
		if c.Size() < 3 {
			return nil
		}
		return failsAs(ErrRMASync, ClassRMASync, func() error { return w.Put([]int64{1}, left(c), 0) })
	}, elementIs(0, constant(0))),
	passive("12.5.2", "test instead of wait", func(w *Win[int64], c *Comm) error {
		err := all(w.Post([]int{left(c)}, 0), w.Start([]int{right(c)}, 0))
		err = all(err, w.Put([]int64{3}, right(c), 4), w.Complete())
		for ended := false; !ended && err == nil; {
			ended, err = w.Test()
		}
		return err
	}, elementIs(4, constant(3))),
	passive("12.5.2", "all ranks put to one", func(w *Win[int64], c *Comm) error {
		var everybody []int
		for r := range c.Size() {
			everybody = append(everybody, r)
		}
		var err error
		if c.Rank() == 0 {
			err = w.Post(everybody, 0)
		}
		err = all(err, w.Start([]int{0}, 0), w.Put([]int64{int64(c.Rank() + 1)}, 0, c.Rank()), w.Complete())
		if c.Rank() == 0 {
			err = all(err, w.Wait())
		}
		return err
	}, func(w *Win[int64], c *Comm) error {
		return counted(w, c, c.Size()-1, 1)
	}),
	passive("12.5.2", "an empty group", func(w *Win[int64], _ *Comm) error {
		return all(w.Post(nil, 0), w.Start(nil, 0), w.Complete(), w.Wait())
	}, unlooked),
	passive("12.5.1", "fences with promises", func(w *Win[int64], c *Comm) error {
		return all(w.Fence(ModeNoPrecede), w.Put([]int64{8}, right(c), 0),
			w.Fence(ModeNoStore|ModeNoPut|ModeNoSucceed), has("element", mine(w, 0), 8))
	}, elementIs(0, constant(8))),
	passive("12.5.1", "many fences", func(w *Win[int64], c *Comm) error {
		for i := range 20 {
			v := int64(i)
			err := all(w.Fence(0), w.Put([]int64{v}, right(c), i%8), w.Fence(0), has("element", mine(w, i%8), v))
			if err != nil {
				return err
			}
		}
		return w.Fence(ModeNoSucceed)
	}, unlooked),
}

// wrong is a case of a call that is refused outside of epochs, with nothing changed.
func wrong(name string, err error, class ErrorClass, f func(w *Win[int64], c *Comm) error) winCase {
	return passive("12.6", name, func(w *Win[int64], c *Comm) error {
		return failsAs(err, class, func() error { return f(w, c) })
	}, elementIs(0, constant(0)))
}

// refusedIn is wrong in an epoch of lock_all.
func refusedIn(name string, err error, class ErrorClass, f func(w *Win[int64], c *Comm) error) winCase {
	return passive("12.6", name, func(w *Win[int64], c *Comm) error {
		return all(w.LockAll(0), failsAs(err, class, func() error { return f(w, c) }), w.UnlockAll())
	}, elementIs(0, constant(0)))
}

var errorCases = []winCase{
	wrong("put outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return w.Put(unit, 0, 0) }),
	wrong("get outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error {
		return w.Get(make([]int64, 1), 0, 0)
	}),
	wrong("accumulate outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error {
		return w.Accumulate(unit, 0, 0, Sum)
	}),
	wrong("flush outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return w.Flush(0) }),
	wrong("flush_all outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return w.FlushAll() }),
	wrong("unlock outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return w.Unlock(0) }),
	wrong("unlock_all outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return w.UnlockAll() }),
	wrong("complete outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return w.Complete() }),
	wrong("wait outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return w.Wait() }),
	wrong("test outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return second(w.Test()) }),
	wrong("sync outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return w.Sync() }),
	wrong("rput outside", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error {
		return second(w.Rput(unit, 0, 0))
	}),
	wrong("lock of no rank", ErrRank, ClassRank, func(w *Win[int64], c *Comm) error {
		return w.Lock(LockShared, c.Size(), 0)
	}),
	wrong("lock of a negative rank", ErrRank, ClassRank, func(w *Win[int64], _ *Comm) error {
		return w.Lock(LockShared, -1, 0)
	}),
	wrong("lock of no kind", ErrLockType, ClassLockType, func(w *Win[int64], _ *Comm) error { return w.Lock(0, 0, 0) }),
	wrong("lock with a mode of fences", ErrMode, ClassAssert, func(w *Win[int64], _ *Comm) error {
		return w.Lock(LockShared, 0, ModeNoSucceed)
	}),
	wrong("fence with a mode of locks", ErrMode, ClassAssert, func(w *Win[int64], _ *Comm) error {
		return w.Fence(ModeNoCheck)
	}),
	wrong("start of no rank", ErrGroup, ClassGroup, func(w *Win[int64], c *Comm) error {
		return w.Start([]int{c.Size()}, 0)
	}),
	wrong("post to no rank", ErrGroup, ClassGroup, func(w *Win[int64], _ *Comm) error { return w.Post([]int{-2}, 0) }),
	wrong("attach", ErrRMAFlavor, ClassRMAFlavor, func(w *Win[int64], _ *Comm) error { return second(w.Attach(unit)) }),
	wrong("detach", ErrRMAFlavor, ClassRMAFlavor, func(w *Win[int64], _ *Comm) error { return w.Detach(unit) }),
	wrong("query of no rank", ErrRank, ClassRank, func(w *Win[int64], c *Comm) error {
		return second(w.SharedQuery(c.Size()))
	}),
	refusedIn("flush of no rank", ErrRank, ClassRank, func(w *Win[int64], c *Comm) error { return w.Flush(c.Size()) }),
	refusedIn("flush of a negative rank", ErrRank, ClassRank, func(w *Win[int64], _ *Comm) error { return w.Flush(-1) }),
	refusedIn("put to no rank", ErrRank, ClassRank, func(w *Win[int64], c *Comm) error {
		return w.Put(unit, c.Size(), 0)
	}),
	refusedIn("put before the window", ErrDisp, ClassDisp, func(w *Win[int64], _ *Comm) error {
		return w.Put(unit, 0, -1)
	}),
	refusedIn("put behind the window", ErrRMARange, ClassRMARange, func(w *Win[int64], _ *Comm) error {
		return w.Put(unit, 0, 8)
	}),
	refusedIn("put beyond the end", ErrRMARange, ClassRMARange, func(w *Win[int64], _ *Comm) error {
		return w.Put(make([]int64, 2), 0, 7)
	}),
	refusedIn("get beyond the end", ErrRMARange, ClassRMARange, func(w *Win[int64], _ *Comm) error {
		return w.Get(make([]int64, 9), 0, 0)
	}),
	refusedIn("put far away", ErrRMARange, ClassRMARange, func(w *Win[int64], _ *Comm) error {
		return w.Put(unit, 0, 1<<62)
	}),
	refusedIn("accumulate beyond the end", ErrRMARange, ClassRMARange, func(w *Win[int64], _ *Comm) error {
		return w.Accumulate(unit, 0, 8, Sum)
	}),
	refusedIn("accumulate by no operation", ErrOp, ClassOp, func(w *Win[int64], _ *Comm) error {
		return w.Accumulate(unit, 0, 0, nil)
	}),
	refusedIn("accumulate by a function of the program", ErrOp, ClassOp, func(w *Win[int64], _ *Comm) error {
		return w.Accumulate(unit, 0, 0, Func(func(a, _ int64) int64 { return a }))
	}),
	refusedIn("get_accumulate of unlike lengths", ErrTruncate, ClassTruncate, func(w *Win[int64], _ *Comm) error {
		return w.GetAccumulate(unit, make([]int64, 2), 0, 0, Sum)
	}),
	refusedIn("get_accumulate into its source", ErrBuffer, ClassBuffer, func(w *Win[int64], _ *Comm) error {
		v := make([]int64, 2)
		return w.GetAccumulate(v, v, 0, 0, Sum)
	}),
	refusedIn("fetch_and_op into nothing", ErrBuffer, ClassBuffer, func(w *Win[int64], _ *Comm) error {
		return w.FetchAndOp(1, nil, 0, 0, Sum)
	}),
	refusedIn("put of unlike parts", ErrTruncate, ClassTruncate, func(w *Win[int64], _ *Comm) error {
		return w.PutStrided(make([]int64, 4), Strided{2, 1, 2}, 0, 0, Strided{3, 1, 1})
	}),
	refusedIn("put of a part that is not there", ErrCount, ClassCount, func(w *Win[int64], _ *Comm) error {
		return w.PutStrided(unit, Strided{2, 1, 2}, 0, 0, Strided{2, 1, 1})
	}),
	refusedIn("put to no part", ErrCount, ClassCount, func(w *Win[int64], _ *Comm) error {
		return w.PutStrided(unit, Strided{1, 1, 1}, 0, 0, Strided{1, 2, 1})
	}),
	refusedIn("lock in lock_all", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error {
		return w.Lock(LockShared, 0, 0)
	}),
	refusedIn("lock_all in lock_all", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error {
		return w.LockAll(0)
	}),
	refusedIn("fence in lock_all", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return w.Fence(0) }),
	refusedIn("free in lock_all", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return w.Free() }),
	refusedIn("unlock in lock_all", ErrRMASync, ClassRMASync, func(w *Win[int64], _ *Comm) error { return w.Unlock(0) }),
}
