package mpitest

import (
	"errors"
	"math/rand/v2"

	"github.com/golci/golci/mpi"
)

// call is a collective in its forms. fresh makes the buffers anew; check compares them with the model.
type call struct {
	name        string
	fresh       func()
	check       func() error
	wait        func() error
	start, make func() (mpi.Request, error)
}

// perform performs a collective in one of its forms.
func (a *actor) perform(s site, r *rand.Rand, k call) error {
	form := r.IntN(4)
	k.fresh()
	switch form {
	case 0, 1:
		q, err := k.start()
		if err != nil {
			return s.wrong("I"+k.name, err)
		}
		a.later(s, q, func(mpi.Status) error { return k.check() })
		return nil
	case 2:
		if err := k.wait(); err != nil {
			return s.wrong(k.name, err)
		}
		return k.check()
	}
	q, err := k.make()
	for range 1 + r.IntN(2) {
		if err == nil {
			k.fresh()
			err = q.Start()
		}
		if err == nil {
			_, err = q.Wait()
		}
		if err == nil {
			err = k.check()
		}
	}
	return s.wrong(k.name+"Init", errors.Join(err, q.Free()))
}

// collective performs a random collective of random elements.
func (a *actor) collective(s site, g *group, r *rand.Rand) error {
	var k call
	switch r.IntN(3) {
	case 0:
		k = callOf[uint8](s, g, r, 1)
	case 1:
		k = callOf[int32](s, g, r, 4)
	default:
		k = callOf[int64](s, g, r, 8)
	}
	return a.perform(s, r, k)
}

// job is a collective of elements T. All fields but send, recv and want are drawn alike on all ranks.
type job[T elem] struct {
	s          site
	g          *group
	n          int // elements of each rank
	op         operation[T]
	in         bool  // in place
	counts     []int // of each rank of the world
	root       int   // rank in the world
	arg        int   // the root argument
	gives      bool  // the rank has a part in rooted collectives
	send, recv []T
	want       []T
}

func callOf[T elem](s site, g *group, r *rand.Rand, size int) call {
	a, b := g.sides()
	most := 1 << 20 / (len(a) + len(b))
	x := &job[T]{s: s, g: g, n: length(r, size, most), op: drawOperation[T](r, size), in: r.IntN(3) == 0 && !g.inter()}
	for range s.a.p.Ranks {
		x.counts = append(x.counts, length(r, size, most))
	}
	if side := [][]int{a, b}[r.IntN(2)]; true {
		x.root = side[r.IntN(len(side))]
	}
	x.arg, x.gives = placeOf(g.local, x.root), !g.inter()
	calls := []func() call{
		x.barrier, x.bcast, x.gather, x.gatherv, x.scatter, x.scatterv, x.allgather, x.allgatherv, x.alltoall,
		x.alltoallv, x.alltoallw, x.reduce, x.allreduce, x.allreduce, x.block, x.scatterReduce, x.scan, x.exscan,
	}
	if g.inter() { // programs in Go have this one between two groups; the others are of the C library
		return x.alltoallw()
	}
	return calls[r.IntN(len(calls))]()
}

// of is what a rank contributes.
func (x *job[T]) of(rank, n int) []T { return fill[T](x.s.step.Seed, rank, n) }

// pair is what a rank sends to another one.
func (x *job[T]) pair(from, to, n int) []T { return fill[T](x.s.step.Seed, 100+from*100+to, n) }

func (x *job[T]) isRoot() bool { return x.root == x.s.a.me }

// placed gives the send buffer, or what stands for it.
func (x *job[T]) placed(in bool) []T {
	if in {
		return mpi.InPlace(x.recv)
	}
	return x.send
}

func (x *job[T]) call(name string, fresh func(), wait func() error, start, lasting func() (mpi.Request, error)) call {
	anew := func() { // a persistent request keeps its buffers
		send, recv := x.send, x.recv
		fresh()
		x.send, x.recv = again(send, x.send), again(recv, x.recv)
	}
	return call{name, anew, func() error { return same(x.s, name, x.recv, x.want) }, wait, start, lasting}
}

// again is now in the memory of old, if there is such.
func again[T elem](old, now []T) []T {
	if len(old) != len(now) {
		return now
	}
	copy(old, now)
	return old
}

func (x *job[T]) barrier() call {
	c := x.g.c
	return x.call("Barrier", func() {}, c.Barrier, c.Ibarrier, c.BarrierInit)
}

func (x *job[T]) bcast() call {
	c := x.g.c
	return x.call("Bcast", func() {
		x.want, x.recv = x.of(x.root, x.n), untouched[T](x.n)
		if x.isRoot() {
			copy(x.recv, x.want)
		} else if !x.gives {
			x.want = untouched[T](x.n)
		}
	}, func() error { return mpi.Bcast(c, x.recv, x.arg) },
		func() (mpi.Request, error) { return mpi.Ibcast(c, x.recv, x.arg) },
		func() (mpi.Request, error) { return mpi.BcastInit(c, x.recv, x.arg) })
}

// joined is what sources contribute, one behind the other.
func (x *job[T]) joined(n func(rank int) int) (all []T) {
	for _, rank := range x.g.sources() {
		all = append(all, x.of(rank, n(rank))...)
	}
	return all
}

func (x *job[T]) equal(int) int       { return x.n }
func (x *job[T]) count(rank int) int  { return x.counts[rank] }
func (x *job[T]) others() int         { return len(x.g.sources()) }
func (x *job[T]) sourceCounts() []int { return countsOf(x.counts, x.g.sources()) }
func countsOf(counts, ranks []int) []int {
	out := make([]int, len(ranks))
	for i, rank := range ranks {
		out[i] = counts[rank]
	}
	return out
}

// own copies this rank's part to its place in recv.
func (x *job[T]) own(n func(rank int) int) {
	at := 0
	for _, rank := range x.g.local {
		if rank == x.s.a.me {
			copy(x.recv[at:], x.of(rank, n(rank)))
		}
		at += n(rank)
	}
}

// collect makes the buffers of a gathering of parts of n elements.
func (x *job[T]) collect(n func(rank int) int, gets, gives bool) {
	x.send, x.recv, x.want = nil, nil, nil
	if gives {
		x.send = x.of(x.s.a.me, n(x.s.a.me))
	}
	if gets {
		x.want = x.joined(n)
		x.recv = untouched[T](len(x.want))
		if x.in {
			x.own(n)
		}
	}
}

func (x *job[T]) gather() call {
	c, in := x.g.c, x.in && x.isRoot()
	return x.call("Gather", func() { x.collect(x.equal, x.isRoot(), x.gives) },
		func() error { return mpi.Gather(c, x.placed(in), x.recv, x.arg) },
		func() (mpi.Request, error) { return mpi.Igather(c, x.placed(in), x.recv, x.arg) },
		func() (mpi.Request, error) { return mpi.GatherInit(c, x.placed(in), x.recv, x.arg) })
}

func (x *job[T]) gatherv() call {
	c, in, counts := x.g.c, x.in && x.isRoot(), x.sourceCounts()
	return x.call("Gatherv", func() { x.collect(x.count, x.isRoot(), x.gives) },
		func() error { return mpi.Gatherv(c, x.placed(in), x.recv, counts, nil, x.arg) },
		func() (mpi.Request, error) { return mpi.Igatherv(c, x.placed(in), x.recv, counts, nil, x.arg) },
		func() (mpi.Request, error) { return mpi.GathervInit(c, x.placed(in), x.recv, counts, nil, x.arg) })
}

// spread makes the buffers of a scattering.
func (x *job[T]) spread(n func(rank int) int) {
	x.send, x.recv, x.want = nil, nil, nil
	me := x.s.a.me
	if x.isRoot() {
		x.send = x.joined(n)
	}
	if x.gives && !(x.in && x.isRoot()) {
		x.recv, x.want = untouched[T](n(me)), x.of(me, n(me))
	}
}

// target is where a scattered part goes.
func (x *job[T]) target() []T {
	if x.in && x.isRoot() {
		return mpi.InPlace(x.send)
	}
	return x.recv
}

func (x *job[T]) scatter() call {
	c := x.g.c
	return x.call("Scatter", func() { x.spread(x.equal) },
		func() error { return mpi.Scatter(c, x.send, x.target(), x.arg) },
		func() (mpi.Request, error) { return mpi.Iscatter(c, x.send, x.target(), x.arg) },
		func() (mpi.Request, error) { return mpi.ScatterInit(c, x.send, x.target(), x.arg) })
}

func (x *job[T]) scatterv() call {
	c, counts := x.g.c, x.sourceCounts()
	return x.call("Scatterv", func() { x.spread(x.count) },
		func() error { return mpi.Scatterv(c, x.send, counts, nil, x.target(), x.arg) },
		func() (mpi.Request, error) { return mpi.Iscatterv(c, x.send, counts, nil, x.target(), x.arg) },
		func() (mpi.Request, error) { return mpi.ScattervInit(c, x.send, counts, nil, x.target(), x.arg) })
}

func (x *job[T]) allgather() call {
	c := x.g.c
	return x.call("Allgather", func() { x.collect(x.equal, true, true) },
		func() error { return mpi.Allgather(c, x.placed(x.in), x.recv) },
		func() (mpi.Request, error) { return mpi.Iallgather(c, x.placed(x.in), x.recv) },
		func() (mpi.Request, error) { return mpi.AllgatherInit(c, x.placed(x.in), x.recv) })
}

func (x *job[T]) allgatherv() call {
	c, counts := x.g.c, x.sourceCounts()
	return x.call("Allgatherv", func() { x.collect(x.count, true, true) },
		func() error { return mpi.Allgatherv(c, x.placed(x.in), x.recv, counts, nil) },
		func() (mpi.Request, error) { return mpi.Iallgatherv(c, x.placed(x.in), x.recv, counts, nil) },
		func() (mpi.Request, error) { return mpi.AllgathervInit(c, x.placed(x.in), x.recv, counts, nil) })
}

// exchange makes the buffers of an exchange of n elements with each other rank.
func (x *job[T]) exchange(out, back func(rank int) int) {
	x.send, x.want = nil, nil
	me := x.s.a.me
	for _, rank := range x.g.sources() {
		x.send = append(x.send, x.pair(me, rank, out(rank))...)
		x.want = append(x.want, x.pair(rank, me, back(rank))...)
	}
	x.recv = untouched[T](len(x.want))
	if x.in {
		copy(x.recv, x.send)
	}
}

func (x *job[T]) alltoall() call {
	c, part := x.g.c, x.n/x.others()
	n := func(int) int { return part }
	return x.call("Alltoall", func() { x.exchange(n, n) },
		func() error { return mpi.Alltoall(c, x.placed(x.in), x.recv) },
		func() (mpi.Request, error) { return mpi.Ialltoall(c, x.placed(x.in), x.recv) },
		func() (mpi.Request, error) { return mpi.AlltoallInit(c, x.placed(x.in), x.recv) })
}

func (x *job[T]) alltoallv() call {
	c, me := x.g.c, x.s.a.me
	number := func(from, to int) int {
		if x.in { // what comes is as long as what goes
			from, to = min(from, to), max(from, to)
		}
		return x.counts[(from+2*to)%len(x.counts)] / 8
	}
	out := func(rank int) int { return number(me, rank) }
	back := func(rank int) int { return number(rank, me) }
	var scounts, rcounts []int
	for _, rank := range x.g.sources() {
		scounts, rcounts = append(scounts, out(rank)), append(rcounts, back(rank))
	}
	return x.call("Alltoallv", func() { x.exchange(out, back) },
		func() error { return mpi.Alltoallv(c, x.placed(x.in), scounts, nil, x.recv, rcounts, nil) },
		func() (mpi.Request, error) {
			return mpi.Ialltoallv(c, x.placed(x.in), scounts, nil, x.recv, rcounts, nil)
		},
		func() (mpi.Request, error) {
			return mpi.AlltoallvInit(c, x.placed(x.in), scounts, nil, x.recv, rcounts, nil)
		})
}

// alltoallw has parts of bytes, each of its own length.
func (x *job[T]) alltoallw() call {
	c, me := x.g.c, x.s.a.me
	number := func(from, to int) int { return x.counts[(from+2*to)%len(x.counts)] / 8 }
	out := func(rank int) int { return number(me, rank) }
	back := func(rank int) int { return number(rank, me) }
	parts := func() (to, from []mpi.Part) {
		send, recv := x.send, x.recv
		for _, rank := range x.g.sources() {
			to, from = append(to, mpi.PartOf(send[:out(rank)])), append(from, mpi.PartOf(recv[:back(rank)]))
			send, recv = send[out(rank):], recv[back(rank):]
		}
		return to, from
	}
	x.in = false
	return x.call("Alltoallw", func() { x.exchange(out, back) },
		func() error { to, from := parts(); return mpi.Alltoallw(c, to, from) },
		func() (mpi.Request, error) { to, from := parts(); return mpi.Ialltoallw(c, to, from) },
		func() (mpi.Request, error) { to, from := parts(); return mpi.AlltoallwInit(c, to, from) })
}
