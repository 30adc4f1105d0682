package mpitest

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/coll/argument"
)

// reduction makes the buffers of a reduction, which have one datatype.
func (b builder) reduction() {
	if b.k.Kind == argument.KindReduceScatter || b.k.Kind == argument.KindReduceScatterBlock {
		b.scatterReduction()
		return
	}
	me, n, ranks := b.s.a.me, b.equal(0), b.g.sources()
	gives, gets := true, true
	switch b.k.Kind {
	case argument.KindReduce:
		gets = me == b.root
		gives = !b.g.inter() || b.g.rootThere(b.root)
	case argument.KindScan:
		ranks = b.g.local[:b.g.index()+1]
	case argument.KindExscan:
		ranks = b.g.local[:b.g.index()]
	}
	own, result := b.of(me, n), part{n, b.combined(ranks, n)}
	if len(ranks) == 0 && b.in {
		result = own
	}
	b.vectors(gives, gets, own, result)
}

// vectors makes the buffers of a contribution and of a result.
func (b builder) vectors(gives, gets bool, own, result part) {
	of := drawLayout(b.r, b.size)
	b.operates(of)
	in := b.in && gets
	if gets {
		b.recv = newFrame([]area{{0, result.n, of}})
		if in {
			b.recv = newFrame([]area{{0, max(own.n, result.n), of}})
			b.starts(0, own.data)
			b.recv.set(b.recv.after, 0, own.data)
			b.recv.open(0, len(result.data))
		}
		b.recv.set(b.recv.after, 0, result.data)
		b.k.Out = b.recv.side(single)
		b.k.Out.N = int64(result.n)
	}
	switch {
	case in:
		b.k.In = argument.Side{Place: true}
	case gives:
		b.send = newFrame([]area{{0, own.n, of}})
		b.send.set(b.send.before, 0, own.data)
		copy(b.send.after, b.send.before)
		b.k.In = b.send.side(single)
	}
	if b.k.In.T == nil && b.k.Out.T == nil {
		b.k.Out.T = of.t
	}
}

// scatterReduction makes the buffers of a reduction whose result is dealt among the ranks of a group. Both groups of an
// inter-communicator have vectors of one length.
func (b builder) scatterReduction() {
	local, others := b.g.local, b.g.sources()
	counts := countsOf(b.counts, local)
	total := 0
	for i := range counts {
		switch {
		case b.g.inter():
			counts[i] = (b.n%23 + b.more) * len(others)
		case b.k.Kind == argument.KindReduceScatterBlock:
			counts[i] = b.n/len(local) + b.more
		default:
			counts[i] = counts[i]/len(local) + b.more
		}
		total += counts[i]
	}
	at, mine := 0, counts[b.g.index()]
	for _, n := range counts[:b.g.index()] {
		at += n
	}
	all := b.combined(others, total)
	b.vectors(true, true, b.of(b.s.a.me, total), part{mine, all[at*b.size:][:mine*b.size]})
	if b.k.Kind == argument.KindReduceScatter {
		b.k.Out.Parts = argument.Parts{Counts: counts}
	}
}

// String describes the collective as this rank sees it.
func (x *spreads) String() string {
	return fmt.Sprintf("kind %d, root %d, %d elements of %d bytes, in place %v %v, tone %#x, more %d", x.k.Kind, x.k.Root,
		x.n, x.size, x.k.In.Place, x.k.Out.Place, x.tone, x.more)
}
