package mpitest

import (
	"math/rand/v2"

	"github.com/golci/golci/mpi"
)

// operation is an operation of reductions, and what the model has for it.
type operation[T elem] struct {
	op mpi.Op[T]
	f  func(a, b T) T
}

// drawOperation draws an operation on elements of size bytes. The last one does not commute: elements are functions
// x*m+c, in halves of their bits, and are composed.
func drawOperation[T elem](r *rand.Rand, size int) operation[T] {
	half := 4 * size
	mask := uint64(1)<<half - 1
	compose := func(a, b T) T {
		ma, ca, mb, cb := uint64(a)>>half&mask, uint64(a)&mask, uint64(b)>>half&mask, uint64(b)&mask
		return T(ma*mb&mask<<half | (ma*cb+ca)&mask)
	}
	list := []operation[T]{
		{mpi.Sum[T], func(a, b T) T { return a + b }},
		{mpi.Prod[T], func(a, b T) T { return a * b }},
		{mpi.Max[T], func(a, b T) T { return max(a, b) }},
		{mpi.Min[T], func(a, b T) T { return min(a, b) }},
		{mpi.Bxor[T], func(a, b T) T { return a ^ b }},
		{mpi.Func(compose), compose},
		{mpi.Func(compose), compose},
	}
	return list[r.IntN(len(list))]
}

// combined is what ranks contribute, combined in their order; nil of none.
func (x *job[T]) combined(ranks []int, n int) (all []T) {
	for i, rank := range ranks {
		if i == 0 {
			all = x.of(rank, n)
			continue
		}
		for k, v := range x.of(rank, n) {
			all[k] = x.op.f(all[k], v)
		}
	}
	return all
}

// vectors makes the buffers of a reduction of n elements of each rank, of which this one gets want.
func (x *job[T]) vectors(n int, in bool, want []T) {
	x.send, x.recv, x.want = x.of(x.s.a.me, n), untouched[T](len(want)), want
	if in {
		copy(x.recv, x.send)
	}
}

func (x *job[T]) reduce() call {
	c, in := x.g.c, x.in && x.isRoot()
	return x.call("Reduce", func() {
		x.send, x.recv, x.want = nil, nil, nil
		if x.gives {
			x.vectors(x.n, false, nil)
		}
		if x.isRoot() {
			x.vectors(x.n, in, x.combined(x.g.sources(), x.n))
		}
	}, func() error { return mpi.Reduce(c, x.placed(in), x.recv, x.op.op, x.arg) },
		func() (mpi.Request, error) { return mpi.Ireduce(c, x.placed(in), x.recv, x.op.op, x.arg) },
		func() (mpi.Request, error) { return mpi.ReduceInit(c, x.placed(in), x.recv, x.op.op, x.arg) })
}

func (x *job[T]) allreduce() call {
	c := x.g.c
	return x.call("Allreduce", func() { x.vectors(x.n, x.in, x.combined(x.g.sources(), x.n)) },
		func() error { return mpi.Allreduce(c, x.placed(x.in), x.recv, x.op.op) },
		func() (mpi.Request, error) { return mpi.Iallreduce(c, x.placed(x.in), x.recv, x.op.op) },
		func() (mpi.Request, error) { return mpi.AllreduceInit(c, x.placed(x.in), x.recv, x.op.op) })
}

func (x *job[T]) block() call {
	c, part := x.g.c, x.n/x.others()
	at, all := part*x.g.index(), part*x.others()
	x.in = false // the result of one in place is shorter than its buffer
	return x.call("ReduceScatterBlock", func() {
		x.vectors(all, false, x.combined(x.g.local, all)[at:at+part])
	}, func() error { return mpi.ReduceScatterBlock(c, x.send, x.recv, x.op.op) },
		func() (mpi.Request, error) { return mpi.IreduceScatterBlock(c, x.send, x.recv, x.op.op) },
		func() (mpi.Request, error) { return mpi.ReduceScatterBlockInit(c, x.send, x.recv, x.op.op) })
}

func (x *job[T]) scatterReduce() call {
	c, counts := x.g.c, x.sourceCounts()
	at, all := 0, 0
	for i, n := range counts {
		if i < x.g.index() {
			at += n
		}
		all += n
	}
	x.in = false
	return x.call("ReduceScatter", func() {
		x.vectors(all, false, x.combined(x.g.local, all)[at:at+counts[x.g.index()]])
	}, func() error { return mpi.ReduceScatter(c, x.send, x.recv, counts, x.op.op) },
		func() (mpi.Request, error) { return mpi.IreduceScatter(c, x.send, x.recv, counts, x.op.op) },
		func() (mpi.Request, error) { return mpi.ReduceScatterInit(c, x.send, x.recv, counts, x.op.op) })
}

func (x *job[T]) scan() call {
	c := x.g.c
	return x.call("Scan", func() { x.vectors(x.n, x.in, x.combined(x.g.local[:x.g.index()+1], x.n)) },
		func() error { return mpi.Scan(c, x.placed(x.in), x.recv, x.op.op) },
		func() (mpi.Request, error) { return mpi.Iscan(c, x.placed(x.in), x.recv, x.op.op) },
		func() (mpi.Request, error) { return mpi.ScanInit(c, x.placed(x.in), x.recv, x.op.op) })
}

// exscan leaves the buffer of rank 0 as it is.
func (x *job[T]) exscan() call {
	c := x.g.c
	return x.call("Exscan", func() {
		want := x.combined(x.g.local[:x.g.index()], x.n)
		if want == nil {
			if want = untouched[T](x.n); x.in {
				want = x.of(x.s.a.me, x.n)
			}
		}
		x.vectors(x.n, x.in, want)
	}, func() error { return mpi.Exscan(c, x.placed(x.in), x.recv, x.op.op) },
		func() (mpi.Request, error) { return mpi.Iexscan(c, x.placed(x.in), x.recv, x.op.op) },
		func() (mpi.Request, error) { return mpi.ExscanInit(c, x.placed(x.in), x.recv, x.op.op) })
}
