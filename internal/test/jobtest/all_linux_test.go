package jobtest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

// roleAll does every collective, with each rank as root, and then ping-pongs in pairs.
func roleAll(c *mpi.Comm) error {
	for root := range c.Size() {
		for _, n := range []int{1, 1000, 20_000} {
			if err := rooted(c, root, n); err != nil {
				return fmt.Errorf("root %d, %d elements: %w", root, n, err)
			}
		}
	}
	for _, n := range []int{1, 1000, 20_000} {
		if err := rootless(c, n); err != nil {
			return fmt.Errorf("%d elements: %w", n, err)
		}
	}
	if err := pairs(c); err != nil {
		return err
	}
	fmt.Printf("rank %d of %d done\n", c.Rank(), c.Size())
	return nil
}

var errWrong = errors.New("wrong values")

// check compares what f has left in got with want.
func check(what string, err error, got []int, want func(i int) int) error {
	if err != nil {
		return err
	}
	for i, v := range got {
		if v != want(i) {
			return fmt.Errorf("%s: %w: element %d is %d, want %d", what, errWrong, i, v, want(i))
		}
	}
	return nil
}

// fill makes n values that tell the rank they come from.
func fill(rank, n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = value(rank, i)
	}
	return v
}

func value(rank, i int) int { return rank*1_000_003 + i }

// sumOf is what the values of all ranks at i add up to.
func sumOf(size, i int) int { return size*(size-1)/2*1_000_003 + size*i }

// unequal are counts that differ by rank, and where the parts begin.
func unequal(size, n int) (counts, displs []int, total int) {
	for r := range size {
		counts, displs = append(counts, n*(r%3)+1), append(displs, total)
		total += counts[r]
	}
	return counts, displs, total
}

// part finds the rank and the place within its part of element i of unequal parts.
func part(displs []int, i int) (rank, at int) {
	rank, found := slices.BinarySearch(displs, i)
	if !found {
		rank--
	}
	return rank, i - displs[rank]
}

// rooted does the collectives that have a root.
func rooted(c *mpi.Comm, root, n int) error {
	me, size := c.Rank(), c.Size()
	b := fill(me, n)
	errs := []error{check("Bcast", mpi.Bcast(c, b, root), b, func(i int) int { return value(root, i) })}
	counts, displs, total := unequal(size, n)
	var all, sum, flat []int
	if me == root {
		all, sum, flat = make([]int, n*size), make([]int, n), make([]int, total)
	}
	errs = append(
		errs,
		check("Reduce", mpi.Reduce(c, fill(me, n), sum, mpi.Sum, root), sum, func(i int) int { return sumOf(size, i) }),
		check("Gather", mpi.Gather(c, fill(me, n), all, root), all, func(i int) int { return value(i/n, i%n) }),
		check("Gatherv", mpi.Gatherv(c, fill(me, counts[me]), flat, counts, displs, root), flat, func(i int) int { return value(part(displs, i)) }),
	)
	mine, own := make([]int, n), make([]int, counts[me])
	return errors.Join(append(
		errs,
		check("Scatter", mpi.Scatter(c, all, mine, root), mine, func(i int) int { return value(me, i) }),
		check("Scatterv", mpi.Scatterv(c, flat, counts, displs, own, root), own, func(i int) int { return value(me, i) }),
	)...)
}

// rootless does the others.
func rootless(c *mpi.Comm, n int) error {
	me, size := c.Rank(), c.Size()
	counts, displs, total := unequal(size, n)
	sum, all, flat, turned := make([]int, n), make([]int, n*size), make([]int, total), make([]int, n*size)
	errs := []error{
		c.Barrier(),
		check("Allreduce", mpi.Allreduce(c, fill(me, n), sum, mpi.Sum), sum, func(i int) int { return sumOf(size, i) }),
		check("Allgather", mpi.Allgather(c, fill(me, n), all), all, func(i int) int { return value(i/n, i%n) }),
		check("Allgatherv", mpi.Allgatherv(c, fill(me, counts[me]), flat, counts, displs), flat, func(i int) int { return value(part(displs, i)) }),
		check("Alltoall", mpi.Alltoall(c, fill(me, n*size), turned), turned, func(i int) int { return value(i/n, me*n+i%n) }),
	}
	// To rank r go counts[r] elements from everybody.
	same, at := make([]int, size), make([]int, size)
	for r := range size {
		same[r], at[r] = counts[me], r*counts[me]
	}
	got := make([]int, size*counts[me])
	err := mpi.Alltoallv(c, fill(me, total), counts, displs, got, same, at)
	return errors.Join(append(errs, check("Alltoallv", err, got, func(i int) int {
		return value(i/counts[me], displs[me]+i%counts[me])
	}))...)
}

const (
	pairThreads = 16
	pairRounds  = 100
)

// pairs has threads of ranks 0 and 1, 2 and 3, and so on, pass a number to and fro.
func pairs(c *mpi.Comm) error {
	peer := c.Rank() ^ 1
	if peer >= c.Size() {
		return nil
	}
	errs := make([]error, pairThreads)
	threads := make([]fult.Handle, pairThreads)
	for i := range threads {
		var err error
		if threads[i], err = c.Proc().Go(func() { errs[i] = pingPong(c, peer, i) }); err != nil {
			return err
		}
	}
	for _, h := range threads {
		if err := h.Join(); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

func pingPong(c *mpi.Comm, peer, tag int) error {
	b := []int{0}
	for round := range pairRounds {
		if c.Rank() < peer {
			b[0] = value(round, tag)
			if err := mpi.Send(c, b, peer, tag); err != nil {
				return err
			}
			b[0] = -1
		}
		if _, err := mpi.Recv(c, b, peer, tag); err != nil {
			return err
		}
		if b[0] != value(round, tag) {
			return fmt.Errorf("round %d of thread %d: %w: %d", round, tag, errWrong, b[0])
		}
		if c.Rank() > peer {
			if err := mpi.Send(c, b, peer, tag); err != nil {
				return err
			}
		}
	}
	return nil
}
