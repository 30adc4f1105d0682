package mpi

import (
	"errors"
	"fmt"
)

// gapped are parts of ranks: that of rank r has n elements and r%3 more, and lies one element behind the one before,
// in the order of the ranks backwards.
func gapped(c *Comm, n int) (counts, displs []int, length int) {
	counts, displs = make([]int, c.Size()), make([]int, c.Size())
	for r := c.Size() - 1; r >= 0; r-- {
		counts[r], displs[r] = n+r%3, length
		length += counts[r] + 1
	}
	return counts, displs, length
}

// fromGaps checks parts that came from all ranks, and the gaps behind them.
func fromGaps(recv []int64, counts, displs []int) error {
	var err error
	for r, n := range counts {
		err = errors.Join(err, cameFrom(recv[displs[r]:][:n], r, 0), is("gap", recv[displs[r]+n], -1))
	}
	return err
}

// between is how many elements go from one rank to another in an Alltoallv.
func between(from, to, n int) int { return n * ((from + 2*to) % 3) }

// dealt are the lengths of an Alltoallv and where parts begin, with a gap behind each.
func dealt(size, n int, f func(peer int) (from, to int)) (counts, displs []int, length int) {
	for p := range size {
		from, to := f(p)
		k := between(from, to, n)
		counts, displs = append(counts, k), append(displs, length)
		length += k + 1
	}
	return counts, displs, length
}

var vectorKinds = []collKind{
	{"Gatherv", [3]string{"6.5", "6.12.3", "6.13.3"}, true, func(c *Comm, n int, inPlace bool) collCall {
		root := c.Size() - 1
		counts, displs, length := gapped(c, n)
		send, recv := make([]int64, counts[c.Rank()]), make([]int64, length)
		from := send
		if inPlace && c.Rank() == root {
			from = InPlace(recv)
		}
		if c.Rank() != root {
			recv, counts, displs = nil, nil, nil // they are root's
		}
		return collCall{
			func() error { return Gatherv(c, from, recv, counts, displs, root) },
			func() (Request, error) { return Igatherv(c, from, recv, counts, displs, root) },
			func() (Request, error) { return GathervInit(c, from, recv, counts, displs, root) },
			func() {
				own(send, c.Rank(), 1, len(send))
				if erase(recv); inPlace && c.Rank() == root {
					own(recv[displs[root]:], root, 1, len(send))
				}
			},
			func() error { return fromGaps(recv, counts, displs) },
		}
	}},
	{"Scatterv", [3]string{"6.6", "6.12.4", "6.13.4"}, true, func(c *Comm, n int, inPlace bool) collCall {
		root := c.Size() / 2
		counts, displs, length := gapped(c, n)
		send, recv := make([]int64, length), make([]int64, counts[c.Rank()])
		to := recv
		if inPlace && c.Rank() == root {
			to = InPlace(recv)
		}
		at := displs[c.Rank()]
		return collCall{
			func() error { return Scatterv(c, send, counts, displs, to, root) },
			func() (Request, error) { return Iscatterv(c, send, counts, displs, to, root) },
			func() (Request, error) { return ScattervInit(c, send, counts, displs, to, root) },
			func() { terms(send, c.Rank()); erase(recv) },
			func() error {
				got := recv
				if inPlace && c.Rank() == root {
					got = send[at:][:len(recv)]
				}
				for i, v := range got {
					if want := term(root, at+i); v != want {
						return fmt.Errorf("element %d is %d, want %d", i, v, want)
					}
				}
				return nil
			},
		}
	}},
	{"Allgatherv", [3]string{"6.7", "6.12.5", "6.13.5"}, true, func(c *Comm, n int, inPlace bool) collCall {
		counts, displs, length := gapped(c, n)
		send, recv := make([]int64, counts[c.Rank()]), make([]int64, length)
		from := send
		if inPlace {
			from = InPlace(recv)
		}
		return collCall{
			func() error { return Allgatherv(c, from, recv, counts, displs) },
			func() (Request, error) { return Iallgatherv(c, from, recv, counts, displs) },
			func() (Request, error) { return AllgathervInit(c, from, recv, counts, displs) },
			func() {
				own(send, c.Rank(), 1, len(send))
				if erase(recv); inPlace {
					own(recv[displs[c.Rank()]:], c.Rank(), 1, len(send))
				}
			},
			func() error { return fromGaps(recv, counts, displs) },
		}
	}},
	{"Alltoallv", [3]string{"6.8", "6.12.6", "6.13.6"}, false, func(c *Comm, n int, _ bool) collCall {
		scounts, sdispls, slength := dealt(c.Size(), n, func(p int) (int, int) { return c.Rank(), p })
		rcounts, rdispls, rlength := dealt(c.Size(), n, func(p int) (int, int) { return p, c.Rank() })
		send, recv := make([]int64, slength), make([]int64, rlength)
		return collCall{
			func() error { return Alltoallv(c, send, scounts, sdispls, recv, rcounts, rdispls) },
			func() (Request, error) { return Ialltoallv(c, send, scounts, sdispls, recv, rcounts, rdispls) },
			func() (Request, error) { return AlltoallvInit(c, send, scounts, sdispls, recv, rcounts, rdispls) },
			func() {
				erase(recv)
				for p, k := range scounts {
					for i := range k {
						send[sdispls[p]+i] = value(c.Rank(), p, i)
					}
				}
			},
			func() error {
				var err error
				for p, k := range rcounts {
					err = errors.Join(err, cameFrom(recv[rdispls[p]:][:k], p, c.Rank()), is("gap", recv[rdispls[p]+k], -1))
				}
				return err
			},
		}
	}},
	{"Alltoallw", [3]string{"6.8", "6.12.6", "6.13.6"}, false, func(c *Comm, n int, _ bool) collCall {
		send, recv := make([][]int64, c.Size()), make([][]int64, c.Size())
		out, in := make([]Part, c.Size()), make([]Part, c.Size())
		for p := range c.Size() {
			k := between(c.Rank(), p, n)
			send[p] = make([]int64, 2*k+1)
			out[p] = StridedPart(send[p], Strided{k, 1, 2})
			recv[p] = make([]int64, between(p, c.Rank(), n))
			in[p] = PartOf(recv[p])
		}
		return collCall{
			func() error { return Alltoallw(c, out, in) },
			func() (Request, error) { return Ialltoallw(c, out, in) },
			func() (Request, error) { return AlltoallwInit(c, out, in) },
			func() {
				for p := range send {
					erase(send[p])
					erase(recv[p])
					for i := range len(send[p]) / 2 {
						send[p][2*i] = value(c.Rank(), p, i)
					}
				}
			},
			func() error {
				var err error
				for p := range recv {
					err = errors.Join(err, cameFrom(recv[p], p, c.Rank()))
				}
				return err
			},
		}
	}},
}
