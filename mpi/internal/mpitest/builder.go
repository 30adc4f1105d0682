package mpitest

import (
	"math/rand/v2"
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/op"
)

// builder makes the buffers of a collective on one rank. The datatypes are the rank's own choice.
type builder struct {
	*spreads
	r *rand.Rand
}

// sends makes the send buffer of parts.
func (b builder) sends(how style, parts []part) {
	b.send = b.frame(how, parts)
	for i, p := range parts {
		b.send.set(b.send.before, i, p.data)
	}
	copy(b.send.after, b.send.before)
	b.k.In = b.send.side(how)
}

// receives makes the receive buffer of parts.
func (b builder) receives(how style, parts []part) {
	b.recv = b.frame(how, parts)
	for i, p := range parts {
		b.recv.set(b.recv.after, i, p.data)
	}
	b.k.Out = b.recv.side(how)
}

// frame makes the memory of parts.
func (b builder) frame(how style, parts []part) *frame {
	counts := make([]int, len(parts))
	for i, p := range parts {
		counts[i] = p.n
	}
	return newFrame(layOut(b.r, how, counts, b.size))
}

// starts has part i of the receive buffer hold what the rank contributes.
func (b builder) starts(i int, data []byte) { b.recv.set(b.recv.before, i, data) }

func (b builder) bcast(here, takes bool) {
	if !here && !takes {
		return
	}
	p := b.of(b.root, b.equal(b.root))
	b.receives(single, []part{p})
	if here {
		b.starts(0, p.data)
	}
}

func (b builder) gather(how style, of func(rank int) part, gives, gets bool) {
	if gets {
		b.receives(how, each(b.g.sources(), of))
	}
	switch me := b.s.a.me; {
	case b.in && gets:
		b.k.In = argument.Side{Place: true}
		b.starts(placeOf(b.g.local, me), of(me).data)
	case gives:
		b.sends(single, []part{of(me)})
	}
}

func (b builder) scatter(how style, of func(rank int) part, takes, here bool) {
	if here {
		b.sends(how, each(b.g.sources(), of))
	}
	switch {
	case b.in && here:
		b.k.Out = argument.Side{Place: true}
	case takes:
		b.receives(single, []part{of(b.s.a.me)})
	}
}

// exchange sends n elements from each rank to each other one.
func (b builder) exchange(how style, n func(from, to int) int) {
	me := b.s.a.me
	out := each(b.g.sources(), func(rank int) part { return b.pair(me, rank, n(me, rank)) })
	b.receives(how, each(b.g.sources(), func(rank int) part { return b.pair(rank, me, n(rank, me)) }))
	if !b.in {
		b.sends(how, out)
		return
	}
	b.k.In = argument.Side{Place: true}
	for i, p := range out {
		b.starts(i, p.data)
	}
}

// near makes the buffers of a collective of neighbours. Of those that are not there nothing comes.
func (b builder) near() {
	me, how := b.g.index(), counted
	switch b.k.Kind {
	case argument.KindNeighborAllgather, argument.KindNeighborAlltoall:
		how = equal
	case argument.KindNeighborAlltoallw:
		how = typed + style(b.r.IntN(2))
	}
	all := b.k.Kind == argument.KindNeighborAllgather || b.k.Kind == argument.KindNeighborAllgatherv
	lens := func(from, place int) int {
		switch {
		case how == equal:
			return b.equal(from)
		case all:
			return b.count(from)
		}
		return b.count((from + 3*place) % len(b.counts))
	}
	travels := func(from, place int) part {
		if all {
			return b.of(from, lens(from, 0))
		}
		return b.pair(from, place, lens(from, place))
	}
	var in, out []part
	for i, e := range b.g.in[me] {
		if e.rank < 0 {
			in = append(in, part{n: lens(b.r.IntN(len(b.counts)), i)})
		} else {
			in = append(in, travels(e.rank, e.back))
		}
	}
	b.receives(how, in)
	if all {
		b.sends(single, []part{travels(me, 0)})
		return
	}
	for i := range b.g.out[me] {
		out = append(out, travels(me, i))
	}
	b.sends(how, out)
}

// composed is an operation that does not commute: a byte is a function m*x+c, in its low bits.
func (x *spreads) composed(a, b byte) byte {
	ma, ca, mb, cb := a>>3&7, a&7, b>>3&7, b&7
	return x.tone | ma*mb&7<<3 | (ma*cb+ca)&7
}

// combined is what ranks contribute, combined in their order; nil of none.
func (x *spreads) combined(ranks []int, n int) []byte {
	var all []byte
	for i, rank := range ranks {
		b := x.bytes(rank, n)
		if i > 0 {
			for k := range b {
				b[k] = x.composed(all[k], b[k])
			}
		}
		all = b
	}
	return all
}

// operates sets the operation on elements of a layout.
func (b builder) operates(of layout) {
	x := b.spreads
	o, err := op.New(op.User{Fn: func(in, inout unsafe.Pointer, n int64, _ *dtype.Type) error {
		for i := range int(n) {
			for _, at := range of.places {
				low, high := (*byte)(unsafe.Add(in, i*of.extent+at)), (*byte)(unsafe.Add(inout, i*of.extent+at))
				*high = x.composed(*low, *high)
			}
		}
		return nil
	}})
	if err != nil {
		panic(err) // of a bug in this package
	}
	b.k.Op = o
}
