package mpitest

import (
	"fmt"
	"math/rand/v2"

	"github.com/golci/golci/mpi"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/core"
)

// part is what travels in a part of a buffer: n elements. Nothing does if data is nil, as no neighbour is there.
type part struct {
	n    int
	data []byte
}

// lengths are what a rank has of its own in a collective.
type lengths struct {
	tone byte // of all bytes that travel
	more int  // the rank takes all lengths for so many elements longer
}

// spreads is a collective whose buffers have datatypes with gaps. What does not depend on the rank is drawn alike on
// all of them.
type spreads struct {
	s      site
	g      *group
	k      argument.Description
	size   int   // bytes of an element
	n      int   // elements of each rank, where they are equal
	counts []int // elements of each rank of the world, else
	in     bool  // in place, where that may be
	root   int   // rank in the world
	lengths

	send, recv *frame // nil: the rank has none, or it is in place
}

// drawSpreads draws a collective.
func drawSpreads(s site, g *group, r *rand.Rand, own lengths) *spreads {
	a, b := g.sides()
	x := &spreads{s: s, g: g, size: 1 + r.IntN(9), in: r.IntN(3) == 0 && !g.inter(), lengths: own}
	if r.IntN(20) == 0 && own.tone == tone {
		x.size = 0
	}
	most := (32 << 10) / (len(a) + len(b))
	x.n = length(r, max(x.size, 1), most)
	for range s.a.p.Ranks {
		x.counts = append(x.counts, length(r, max(x.size, 1), most)*r.IntN(3)/2)
	}
	if side := [][]int{a, b}[r.IntN(2)]; true {
		x.root = side[r.IntN(len(side))]
	}
	kinds := int(argument.KindExscan)
	switch {
	case g.inter():
		kinds = int(argument.KindReduceScatterBlock)
	case g.in != nil && r.IntN(2) == 0:
		x.k.Kind = argument.KindNeighborAllgather + argument.Kind(r.IntN(5))
		x.draw(r)
		return x
	}
	x.k.Kind = argument.KindBcast + argument.Kind(r.IntN(kinds))
	x.draw(r)
	return x
}

// bytes are those of n elements that belong to a key.
func (x *spreads) bytes(key, n int) []byte {
	b := fill[uint8](x.s.step.Seed, key, n*x.size)
	for i := range b {
		b[i] = b[i]&^tones | x.tone
	}
	return b
}

// of is what a rank contributes: n elements.
func (x *spreads) of(rank, n int) part { return part{n, x.bytes(rank, n)} }

// pair is what a rank sends to another one.
func (x *spreads) pair(from, to, n int) part { return part{n, x.bytes(100+from*100+to, n)} }

func (x *spreads) equal(int) int      { return x.n + x.more }
func (x *spreads) count(rank int) int { return x.counts[rank] + x.more }

// each has a part for each of some ranks.
func each(ranks []int, f func(rank int) part) []part {
	parts := make([]part, len(ranks))
	for i, rank := range ranks {
		parts[i] = f(rank)
	}
	return parts
}

// draw draws the buffers. The choices of a rank's own layouts depend on the rank.
func (x *spreads) draw(r *rand.Rand) {
	own := rand.New(rand.NewPCG(r.Uint64(), uint64(x.s.a.me)))
	me := x.s.a.me
	of := func(n func(int) int) func(int) part {
		return func(rank int) part { return x.of(rank, n(rank)) }
	}
	x.k.Root = x.rootArg()
	here, gives := me == x.root, !x.g.inter() || x.g.rootThere(x.root)
	switch x.k.Kind {
	case argument.KindGather, argument.KindGatherv, argument.KindScatter, argument.KindScatterv, argument.KindReduce:
		x.in = x.in && here
	}
	b := builder{x, own}
	switch x.k.Kind {
	case argument.KindBcast:
		b.bcast(here, gives)
	case argument.KindGather:
		b.gather(equal, of(x.equal), gives, here)
	case argument.KindGatherv:
		b.gather(counted, of(x.count), gives, here)
	case argument.KindScatter:
		b.scatter(equal, of(x.equal), gives, here)
	case argument.KindScatterv:
		b.scatter(counted, of(x.count), gives, here)
	case argument.KindAllgather:
		b.gather(equal, of(x.equal), true, true)
	case argument.KindAllgatherv:
		b.gather(counted, of(x.count), true, true)
	case argument.KindAlltoall:
		b.exchange(equal, func(_, _ int) int { return x.equal(0) })
	case argument.KindAlltoallv:
		b.exchange(counted, x.between)
	case argument.KindAlltoallw:
		b.exchange(typed+style(own.IntN(2)), x.between)
	case argument.KindNeighborAllgather, argument.KindNeighborAllgatherv, argument.KindNeighborAlltoall,
		argument.KindNeighborAlltoallv, argument.KindNeighborAlltoallw:
		b.near()
	default:
		b.reduction()
	}
}

// between is how many elements go from one rank to another one. In place as many come back.
func (x *spreads) between(from, to int) int {
	if x.in {
		from, to = min(from, to), max(from, to)
	}
	return x.counts[(from+2*to)%len(x.counts)] + x.more
}

// rootThere tells that a rank of the world is in the other group.
func (g *group) rootThere(rank int) bool { return placeOf(g.remote, rank) >= 0 }

// rootArg is what the rank gives as root.
func (x *spreads) rootArg() int {
	switch {
	case !x.g.inter():
		return placeOf(x.g.local, x.root)
	case x.g.rootThere(x.root):
		return placeOf(x.g.remote, x.root)
	case x.root == x.s.a.me:
		return argument.RootHere
	}
	return argument.ProcNull
}

// call is the collective in its forms.
func (x *spreads) call() call {
	c := (*core.Comm)(x.g.c)
	x.k.What = fmt.Sprintf("[%v]", x)
	return call{
		name: x.k.What,
		fresh: func() {
			for _, f := range []*frame{x.send, x.recv} {
				if f != nil {
					f.fresh()
				}
			}
		},
		check: x.check,
		wait:  func() error { return c.Do(&x.k) },
		start: func() (mpi.Request, error) { q, err := c.Start(&x.k); return mpi.Request(q), err },
		make:  func() (mpi.Request, error) { q, err := c.CollInit(&x.k); return mpi.Request(q), err },
	}
}

// check compares all bytes of both buffers, and of what lies round and between their parts.
func (x *spreads) check() error {
	for i, f := range []*frame{x.send, x.recv} {
		if f == nil {
			continue
		}
		if err := same(x.s, []string{"send buffer", "receive buffer"}[i], f.settle(), f.after); err != nil {
			return x.s.wrong(x.String(), err)
		}
	}
	return nil
}
