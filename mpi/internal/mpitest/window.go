package mpitest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/golci/golci/mpi"
)

// The elements of a window: a counter for FetchAndOp, one for a locked Get and Put, sums, then a part of each origin.
const (
	counterAt = iota
	lockedAt
	sumsAt
	sumsLen = 40
	partsAt = sumsAt + sumsLen
)

// epochs is one-sided communication of one window. Each rank accesses the targets that are drawn for it.
type epochs struct {
	s    site
	g    *group
	w    *mpi.Win[int64]
	n    int // elements of an origin's part
	want []int64
	old  []int64 // what each FetchAndOp of this rank has found, by target
}

// window does some epochs in a window, which all ranks make and free.
func (a *actor) window(s site, g *group, r *rand.Rand) error {
	size := len(g.local)
	x := &epochs{s: s, g: g, n: length(r, 8, 128<<10/size)}
	all := partsAt + size*x.n
	var err error
	if x.want = make([]int64, all); r.IntN(2) == 0 {
		x.w, err = mpi.AllocateWin[int64](g.c, all)
	} else {
		x.w, err = mpi.CreateWin(g.c, make([]int64, all))
	}
	if err != nil {
		return s.wrong("make a window", err)
	}
	for round := range 1 + r.IntN(3) {
		way := r.IntN(4)
		if err := x.epoch(way, round); err != nil {
			return s.wrong(fmt.Sprintf("epoch %d, way %d", round, way), err)
		}
		if err := g.c.Barrier(); err != nil {
			return s.wrong("Barrier", err)
		}
		if err := x.check(way, round); err != nil {
			return err
		}
		if err := g.c.Barrier(); err != nil { // memory is compared before the next epoch
			return s.wrong("Barrier", err)
		}
	}
	return s.wrong("Free", x.w.Free())
}

func (x *epochs) key(round, from, to int) int { return round*10000 + from*100 + to }

// epoch opens an epoch, accesses all ranks, and ends it. It brings back what was put.
func (x *epochs) epoch(way, round int) error {
	size := len(x.g.local)
	ranks := make([]int, size)
	for i := range ranks {
		ranks[i] = (i + x.g.index()) % size
	}
	x.old = make([]int64, size)
	each := func(f func(rank int) error) error {
		for _, rank := range ranks {
			if err := f(rank); err != nil {
				return err
			}
		}
		return nil
	}
	access := func(rank int) error { return x.access(rank, round) }
	switch way {
	case 0:
		return errors.Join(x.w.Fence(0), each(access), x.w.Fence(0))
	case 1:
		return errors.Join(x.w.Post(ranks, 0), x.w.Start(ranks, 0), each(access), x.w.Complete(), x.w.Wait())
	case 2:
		return errors.Join(x.w.LockAll(0), each(access), each(x.w.Flush), each(func(rank int) error {
			return x.fetchBack(rank, round)
		}), x.w.UnlockAll())
	}
	return each(func(rank int) error {
		return x.w.Locked(mpi.LockExclusive, rank, func() error {
			var count [1]int64
			err := errors.Join(x.w.Get(count[:], rank, lockedAt), x.w.Flush(rank))
			count[0]++
			return errors.Join(err, x.w.Put(count[:], rank, lockedAt), access(rank), x.w.Flush(rank))
		})
	})
}

// access puts, accumulates and fetches at one rank. Sums do not depend on the order of origins.
func (x *epochs) access(rank, round int) error {
	me := x.g.index()
	key := x.key(round, me, rank)
	return errors.Join(
		x.w.Put(fill[int64](x.s.step.Seed, key, x.n), rank, partsAt+me*x.n),
		x.w.Accumulate(fill[int64](x.s.step.Seed, key+50, sumsLen), rank, sumsAt, mpi.Sum),
		x.w.FetchAndOp(1, &x.old[rank], rank, counterAt, mpi.Sum),
	)
}

// fetchBack gets what this rank has put, by a request.
func (x *epochs) fetchBack(rank, round int) error {
	b, me := untouched[int64](x.n), x.g.index()
	q, err := x.w.Rget(b, rank, partsAt+me*x.n)
	if err == nil {
		_, err = q.Wait()
	}
	if err != nil {
		return err
	}
	return same(x.s, "Rget", b, fill[int64](x.s.step.Seed, x.key(round, me, rank), x.n))
}

// check compares this rank's memory with the model, and the numbers that FetchAndOp has found on all ranks.
func (x *epochs) check(way, round int) error {
	size, me := len(x.g.local), x.g.index()
	before := x.want[counterAt]
	x.want[counterAt] += int64(size)
	if way == 3 {
		x.want[lockedAt] += int64(size)
	}
	for from := range size {
		key := x.key(round, from, me)
		copy(x.want[partsAt+from*x.n:], fill[int64](x.s.step.Seed, key, x.n))
		for i, v := range fill[int64](x.s.step.Seed, key+50, sumsLen) {
			x.want[sumsAt+i] += v
		}
	}
	if err := errors.Join(x.locked(), same(x.s, "window", x.w.Memory(), x.want)); err != nil {
		return err
	}
	found := make([]int64, size)
	if err := mpi.Alltoall(x.g.c, x.old, found); err != nil {
		return x.s.wrong("Alltoall", err)
	}
	seen := make([]int64, size)
	for _, v := range found {
		if v -= before; v < 0 || v >= int64(size) || seen[v] != 0 {
			return x.s.wrong("FetchAndOp", fmt.Errorf("origins found %v, want each number from %d once", found, before))
		}
		seen[v] = 1
	}
	return nil
}

// locked orders this rank's loads behind the accesses of others, as 12.7 asks for.
func (x *epochs) locked() error {
	me := x.g.index()
	return x.w.Locked(mpi.LockShared, me, x.w.Sync)
}
