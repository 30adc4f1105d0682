package mpi

import (
	"errors"
	"fmt"
)

// collCall is one collective on buffers: its three forms, what fills the buffers before and what checks them after.
type collCall struct {
	wait           func() error
	start, initial func() (Request, error)
	fill           func()
	check          func() error
}

// collKind is a collective. on gives a call with n elements for each part, in place if the collective has that.
type collKind struct {
	name     string
	sections [3]string // that waits, that does not wait, persistent
	inPlace  bool
	on       func(c *Comm, n int, inPlace bool) collCall
}

// forms are the ways to call a collective.
var forms = []struct {
	name string
	run  func(k collCall) error
}{
	{"waits", func(k collCall) error { k.fill(); return all(k.wait(), k.check()) }},
	{"does not wait", func(k collCall) error { k.fill(); return all(done(k.start()), k.check()) }},
	{"persistent", func(k collCall) error {
		r, err := k.initial()
		for range 2 {
			k.fill()
			if err = errors.Join(err, r.Start(), done(r, nil), k.check()); err != nil {
				return err
			}
		}
		return r.Free()
	}},
}

// own puts the caller's parts where they belong.
func own(dst []int64, rank, parts, n int) { copy(dst, sendBuf(rank, parts, n)) }

// erase makes what was not received visible.
func erase(buf []int64) {
	for i := range buf {
		buf[i] = -1
	}
}

// fromAll checks parts of n numbers that came from all ranks: number p of each.
func fromAll(c *Comm, recv []int64, n, p int) error {
	var err error
	for r := range c.Size() {
		err = errors.Join(err, cameFrom(recv[r*n:][:n], r, p))
	}
	return err
}

// term is what a rank contributes to element i of a reduction, and total the sum of those of the ranks below n.
func term(rank, i int) int64 { return int64((rank+1)*(rank+1) + i) }

func total(n, i int) int64 {
	var sum int64
	for r := range n {
		sum += term(r, i)
	}
	return sum
}

// terms fills what a rank contributes.
func terms(dst []int64, rank int) {
	for i := range dst {
		dst[i] = term(rank, i)
	}
}

// sums checks elements of a reduction over n ranks, the first of which has index from.
func hasSums(got []int64, n, from int) error {
	for i, v := range got {
		if want := total(n, from+i); v != want {
			return fmt.Errorf("element %d is %d, want %d", from+i, v, want)
		}
	}
	return nil
}

var collKinds = []collKind{
	{"Barrier", [3]string{"6.3", "6.12.1", "6.13.1"}, false, func(c *Comm, _ int, _ bool) collCall {
		return collCall{c.Barrier, c.Ibarrier, c.BarrierInit, func() {}, func() error { return nil }}
	}},
	{"Bcast", [3]string{"6.4", "6.12.2", "6.13.2"}, false, func(c *Comm, n int, _ bool) collCall {
		root, buf := c.Size()-1, make([]int64, n)
		return collCall{
			func() error { return Bcast(c, buf, root) },
			func() (Request, error) { return Ibcast(c, buf, root) },
			func() (Request, error) { return BcastInit(c, buf, root) },
			func() {
				if erase(buf); c.Rank() == root {
					own(buf, root, 1, n)
				}
			},
			func() error { return cameFrom(buf, root, 0) },
		}
	}},
	{"Gather", [3]string{"6.5", "6.12.3", "6.13.3"}, true, func(c *Comm, n int, inPlace bool) collCall {
		root, send, recv := c.Size()/2, make([]int64, n), make([]int64, n*c.Size())
		from := send
		if inPlace && c.Rank() == root {
			from = InPlace(recv)
		}
		return collCall{
			func() error { return Gather(c, from, recv, root) },
			func() (Request, error) { return Igather(c, from, recv, root) },
			func() (Request, error) { return GatherInit(c, from, recv, root) },
			func() {
				own(send, c.Rank(), 1, n)
				if erase(recv); inPlace {
					own(recv[c.Rank()*n:], c.Rank(), 1, n)
				}
			},
			func() error {
				if c.Rank() != root {
					return nil
				}
				return fromAll(c, recv, n, 0)
			},
		}
	}},
	{"Scatter", [3]string{"6.6", "6.12.4", "6.13.4"}, true, func(c *Comm, n int, inPlace bool) collCall {
		root, send, recv := c.Size()-1, make([]int64, n*c.Size()), make([]int64, n)
		to := recv
		if inPlace && c.Rank() == root {
			to = InPlace(recv)
		}
		return collCall{
			func() error { return Scatter(c, send, to, root) },
			func() (Request, error) { return Iscatter(c, send, to, root) },
			func() (Request, error) { return ScatterInit(c, send, to, root) },
			func() { own(send, c.Rank(), c.Size(), n); erase(recv) },
			func() error {
				if inPlace && c.Rank() == root {
					return listIs("send", send, sendBuf(root, c.Size(), n))
				}
				return cameFrom(recv, root, c.Rank())
			},
		}
	}},
	{"Allgather", [3]string{"6.7", "6.12.5", "6.13.5"}, true, func(c *Comm, n int, inPlace bool) collCall {
		send, recv := make([]int64, n), make([]int64, n*c.Size())
		from := send
		if inPlace {
			from = InPlace(recv)
		}
		return collCall{
			func() error { return Allgather(c, from, recv) },
			func() (Request, error) { return Iallgather(c, from, recv) },
			func() (Request, error) { return AllgatherInit(c, from, recv) },
			func() {
				own(send, c.Rank(), 1, n)
				if erase(recv); inPlace {
					own(recv[c.Rank()*n:], c.Rank(), 1, n)
				}
			},
			func() error { return fromAll(c, recv, n, 0) },
		}
	}},
	{"Alltoall", [3]string{"6.8", "6.12.6", "6.13.6"}, true, func(c *Comm, n int, inPlace bool) collCall {
		send, recv := make([]int64, n*c.Size()), make([]int64, n*c.Size())
		from := send
		if inPlace {
			from = InPlace(recv)
		}
		return collCall{
			func() error { return Alltoall(c, from, recv) },
			func() (Request, error) { return Ialltoall(c, from, recv) },
			func() (Request, error) { return AlltoallInit(c, from, recv) },
			func() {
				own(send, c.Rank(), c.Size(), n)
				if erase(recv); inPlace {
					own(recv, c.Rank(), c.Size(), n)
				}
			},
			func() error { return fromAll(c, recv, n, c.Rank()) },
		}
	}},
}

var reduceKinds = []collKind{
	{"Reduce", [3]string{"6.9.1", "6.12.7", "6.13.7"}, true, func(c *Comm, n int, inPlace bool) collCall {
		root, send, recv := c.Size()/2, make([]int64, n), make([]int64, n)
		from := send
		if inPlace && c.Rank() == root {
			from = InPlace(recv)
		}
		return collCall{
			func() error { return Reduce(c, from, recv, Sum, root) },
			func() (Request, error) { return Ireduce(c, from, recv, Sum, root) },
			func() (Request, error) { return ReduceInit(c, from, recv, Sum, root) },
			func() { terms(send, c.Rank()); terms(recv, c.Rank()) },
			func() error {
				if c.Rank() != root {
					return nil
				}
				return hasSums(recv, c.Size(), 0)
			},
		}
	}},
	{"Allreduce", [3]string{"6.9.6", "6.12.8", "6.13.8"}, true, func(c *Comm, n int, inPlace bool) collCall {
		send, recv := make([]int64, n), make([]int64, n)
		from := send
		if inPlace {
			from = InPlace(recv)
		}
		return collCall{
			func() error { return Allreduce(c, from, recv, Sum) },
			func() (Request, error) { return Iallreduce(c, from, recv, Sum) },
			func() (Request, error) { return AllreduceInit(c, from, recv, Sum) },
			func() { terms(send, c.Rank()); terms(recv, c.Rank()) },
			func() error { return hasSums(recv, c.Size(), 0) },
		}
	}},
	{"ReduceScatterBlock", [3]string{"6.10.1", "6.12.9", "6.13.9"}, true, func(c *Comm, n int, inPlace bool) collCall {
		send, recv := make([]int64, n*c.Size()), make([]int64, n)
		from := send
		if inPlace {
			from, recv = InPlace(recv), make([]int64, n*c.Size())
		}
		return collCall{
			func() error { return ReduceScatterBlock(c, from, recv, Sum) },
			func() (Request, error) { return IreduceScatterBlock(c, from, recv, Sum) },
			func() (Request, error) { return ReduceScatterBlockInit(c, from, recv, Sum) },
			func() { terms(send, c.Rank()); terms(recv, c.Rank()) },
			func() error { return hasSums(recv[:n], c.Size(), n*c.Rank()) },
		}
	}},
	{"ReduceScatter", [3]string{"6.10.2", "6.12.10", "6.13.10"}, true, func(c *Comm, n int, inPlace bool) collCall {
		counts, at, all := make([]int, c.Size()), 0, 0
		for r := range counts {
			if counts[r] = n * (r % 3); r < c.Rank() {
				at += counts[r]
			}
			all += counts[r]
		}
		send, recv := make([]int64, all), make([]int64, counts[c.Rank()])
		from := send
		if inPlace {
			from, recv = InPlace(recv), make([]int64, all)
		}
		return collCall{
			func() error { return ReduceScatter(c, from, recv, counts, Sum) },
			func() (Request, error) { return IreduceScatter(c, from, recv, counts, Sum) },
			func() (Request, error) { return ReduceScatterInit(c, from, recv, counts, Sum) },
			func() { terms(send, c.Rank()); terms(recv, c.Rank()) },
			func() error { return hasSums(recv[:counts[c.Rank()]], c.Size(), at) },
		}
	}},
	{"Scan", [3]string{"6.11.1", "6.12.11", "6.13.11"}, true, func(c *Comm, n int, inPlace bool) collCall {
		send, recv := make([]int64, n), make([]int64, n)
		from := send
		if inPlace {
			from = InPlace(recv)
		}
		return collCall{
			func() error { return Scan(c, from, recv, Sum) },
			func() (Request, error) { return Iscan(c, from, recv, Sum) },
			func() (Request, error) { return ScanInit(c, from, recv, Sum) },
			func() { terms(send, c.Rank()); terms(recv, c.Rank()) },
			func() error { return hasSums(recv, c.Rank()+1, 0) },
		}
	}},
	{"Exscan", [3]string{"6.11.2", "6.12.12", "6.13.12"}, true, func(c *Comm, n int, inPlace bool) collCall {
		send, recv := make([]int64, n), make([]int64, n)
		from := send
		if inPlace {
			from = InPlace(recv)
		}
		return collCall{
			func() error { return Exscan(c, from, recv, Sum) },
			func() (Request, error) { return Iexscan(c, from, recv, Sum) },
			func() (Request, error) { return ExscanInit(c, from, recv, Sum) },
			func() { terms(send, c.Rank()); terms(recv, c.Rank()) },
			func() error {
				if c.Rank() == 0 {
					return nil // its result is undefined
				}
				return hasSums(recv, c.Rank(), 0)
			},
		}
	}},
}

// kindRules are those of collectives in each form: few and many elements, none, and in place.
func kindRules(kinds []collKind) []rule {
	var rules []rule
	for i, k := range kinds {
		for j, form := range forms {
			add := func(what string, ranks, n int, inPlace bool) {
				name := fmt.Sprintf("%s that %s%s", k.name, form.name, what)
				rules = append(rules, rule{k.sections[j], name, ranks, func(c *Comm) error {
					return form.run(k.on(c, n, inPlace))
				}})
			}
			add("", 2+(i*3+j*2)%7, 3, false)
			if k.name == "Barrier" {
				continue
			}
			add(", many elements", 1+(i+j)%5, 9000, false)
			add(", no elements", 1+(i+j*3)%8, 0, false)
			if k.inPlace {
				add(", in place", 1+(i*5+j)%8, 5, true)
			}
		}
	}
	return rules
}

// collectiveRules are those of collectives of equal parts and of reductions (6.3 to 6.13).
func collectiveRules() []rule { return append(kindRules(collKinds), kindRules(reduceKinds)...) }

// vectorRules are those of collectives of parts of different lengths, with gaps.
func vectorRules() []rule { return kindRules(vectorKinds) }
