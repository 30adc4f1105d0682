package mpitest

import (
	"math/rand/v2"

	"github.com/golci/golci/mpi"
)

// neighborhood performs a neighbourhood collective: of equal parts, or of parts with a length of their sender.
func (a *actor) neighborhood(s site, g *group, r *rand.Rand) error {
	x := &job[int32]{s: s, g: g, n: length(r, 4, 64<<10)}
	for range len(g.local) {
		x.counts = append(x.counts, length(r, 4, 64<<10))
	}
	calls := []func() call{x.near, x.nearParts, x.nearLengths}
	return a.perform(s, r, calls[r.IntN(len(calls))]())
}

// arrive sets what comes of n elements from each neighbour; those of no neighbour stay.
func (x *job[T]) arrive(n func(rank int) int, part func(e edge, n int) []T) {
	x.want, x.recv = nil, nil
	for _, e := range x.g.in[x.g.index()] {
		k := n(max(e.rank, 0))
		at := len(x.want)
		x.want = append(x.want, untouched[T](at + k)[at:]...)
		if e.rank >= 0 {
			copy(x.want[at:], part(e, k))
		}
	}
	x.recv = untouched[T](len(x.want))
}

func (x *job[T]) near() call {
	c := x.g.c
	return x.call("NeighborAllgather", func() {
		x.send = x.of(x.g.index(), x.n)
		x.arrive(x.equal, func(e edge, n int) []T { return x.of(e.rank, n) })
	}, func() error { return mpi.NeighborAllgather(c, x.send, x.recv) },
		func() (mpi.Request, error) { return mpi.IneighborAllgather(c, x.send, x.recv) },
		func() (mpi.Request, error) { return mpi.NeighborAllgatherInit(c, x.send, x.recv) })
}

func (x *job[T]) nearParts() call {
	c := x.g.c
	return x.call("NeighborAlltoall", func() {
		x.send = nil
		for i := range x.g.out[x.g.index()] {
			x.send = append(x.send, x.pair(x.g.index(), i, x.n)...)
		}
		x.arrive(x.equal, func(e edge, n int) []T { return x.pair(e.rank, e.back, n) })
	}, func() error { return mpi.NeighborAlltoall(c, x.send, x.recv) },
		func() (mpi.Request, error) { return mpi.IneighborAlltoall(c, x.send, x.recv) },
		func() (mpi.Request, error) { return mpi.NeighborAlltoallInit(c, x.send, x.recv) })
}

func (x *job[T]) nearLengths() call {
	c := x.g.c
	var counts []int
	for _, e := range x.g.in[x.g.index()] {
		counts = append(counts, x.counts[max(e.rank, 0)])
	}
	return x.call("NeighborAllgatherv", func() {
		x.send = x.of(x.g.index(), x.counts[x.g.index()])
		x.arrive(x.count, func(e edge, n int) []T { return x.of(e.rank, n) })
	}, func() error { return mpi.NeighborAllgatherv(c, x.send, x.recv, counts, nil) },
		func() (mpi.Request, error) { return mpi.IneighborAllgatherv(c, x.send, x.recv, counts, nil) },
		func() (mpi.Request, error) { return mpi.NeighborAllgathervInit(c, x.send, x.recv, counts, nil) })
}
