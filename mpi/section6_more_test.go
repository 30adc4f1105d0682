package mpi

import (
	"errors"
	"fmt"
)

// placeRules are those of roots, and of which arguments matter where.
func placeRules() []rule {
	var rules []rule
	for root := range 8 {
		name := fmt.Sprintf("every call of a Bcast has its own root, %d first", root)
		rules = append(rules, rule{"6.4", name, 8, func(c *Comm) error {
			var err error
			for i := range c.Size() {
				at := (root + i) % c.Size()
				x, bad := BcastOne(c, 10*c.Rank(), at)
				err = errors.Join(err, bad, is("value", x, 10*at))
			}
			return err
		}})
	}
	return append(rules, []rule{
		{"6.12.1", "a barrier that was started does not end before all have come", 2, func(c *Comm) error {
			if c.Rank() == 1 {
				return errors.Join(second(Recv(c, make([]int, 1), 0, 0)), done(c.Ibarrier()))
			}
			r, err := c.Ibarrier()
			_, ok, bad := r.Test()
			return errors.Join(err, bad, is("done", ok, false), Send(c, []int{1}, 1, 0), done(r, nil))
		}},
		{"6.5", "the receive buffer matters at root only", 4, func(c *Comm) error {
			var recv []int
			if c.Rank() == 2 {
				recv = make([]int, 4)
			}
			err := Gather(c, []int{c.Rank()}, recv, 2)
			return errors.Join(err, listIs("recv", recv, []int{0, 1, 2, 3}[:len(recv)]))
		}},
		{"6.6", "the send buffer matters at root only", 4, func(c *Comm) error {
			var send []int
			if c.Rank() == 3 {
				send = []int{5, 6, 7, 8}
			}
			recv := make([]int, 1)
			return errors.Join(Scatter(c, send, recv, 3), is("part", recv[0], 5+c.Rank()))
		}},
		{"6.9.1", "the result is at root only", 3, func(c *Comm) error {
			recv := []int{-1}
			err := Reduce(c, []int{1}, recv, Sum, 1)
			return errors.Join(err, is("result", recv[0], []int{-1, 3, -1}[c.Rank()]))
		}},
		{"6.9.1", "what is sent stays as it is", 5, func(c *Comm) error {
			send := upTo(int32(c.Rank()), 3000)
			err := errors.Join(Allreduce(c, send, make([]int32, 3000), Sum), Scan(c, send, make([]int32, 3000), Max))
			return errors.Join(err, listIs("send", send, upTo(int32(c.Rank()), 3000)))
		}},
		{"6.11.2", "the first rank's result stays as it is", 3, func(c *Comm) error {
			recv := []int{-7}
			err := Exscan(c, []int{c.Rank() + 1}, recv, Sum)
			return errors.Join(err, is("result", recv[0], []int{-7, 1, 3}[c.Rank()]))
		}},
		{"6.10.2", "a rank may get nothing", 4, func(c *Comm) error {
			counts := []int{0, 3, 0, 1}
			recv := make([]int, counts[c.Rank()])
			err := ReduceScatter(c, []int{1, 2, 3, 4}, recv, counts, Sum)
			return errors.Join(err, listIs("result", recv, [][]int{{}, {4, 8, 12}, {}, {16}}[c.Rank()]))
		}},
		{"6.7", "ranks that give nothing", 5, func(c *Comm) error {
			counts := []int{0, 2, 0, 0, 1}
			recv := make([]int, 3)
			err := Allgatherv(c, tens(c.Rank(), counts[c.Rank()]), recv, counts, nil)
			return errors.Join(err, listIs("all", recv, []int{10, 11, 40}))
		}},
		{"6.8", "in place, of different lengths", 3, func(c *Comm) error {
			counts := make([]int, 3) // what two ranks exchange is equally long
			for p := range counts {
				counts[p] = 1 + (c.Rank()+p)%2
			}
			buf := make([]int, counts[0]+counts[1]+counts[2])
			var want []int
			at := 0
			for p, n := range counts {
				for i := range n {
					buf[at+i] = 100*c.Rank() + 10*p + i
					want = append(want, 100*p+10*c.Rank()+i)
				}
				at += n
			}
			err := Alltoallv(c, InPlace(buf), nil, nil, buf, counts, nil)
			return errors.Join(err, listIs("parts", buf, want))
		}},
		{"6.12", "collectives end in any order", 4, func(c *Comm) error {
			a, b, d := []int{c.Rank()}, []int{c.Rank()}, make([]int, 1)
			ra, err := Ibcast(c, a, 1)
			rb, bad := Ibcast(c, b, 3)
			rd, worse := Iallreduce(c, []int{1}, d, Sum)
			if err = errors.Join(err, bad, worse); err != nil {
				return err
			}
			rs := []Request{rd, rb, ra}
			for range rs {
				_, _, bad := Waitany(rs)
				err = errors.Join(err, bad)
			}
			return errors.Join(err, is("first", a[0], 1), is("second", b[0], 3), is("sum", d[0], 4))
		}},
		{"6.12", "messages pass a collective that is under way", 2, func(c *Comm) error {
			r, err := c.Ibarrier()
			b := make([]int, 1)
			st, bad := Sendrecv(c, []int{c.Rank()}, 1-c.Rank(), AnyTagFree, b, AnySource, AnyTag)
			return errors.Join(err, bad, is("tag", st.Tag, AnyTagFree), is("message", b[0], 1-c.Rank()), done(r, nil))
		}},
		{"6.12", "a collective cannot be cancelled", 2, func(c *Comm) error {
			r, err := c.Ibarrier()
			bad := r.Cancel()
			return errors.Join(err, fails("Cancel", bad, ErrRequest), done(r, nil))
		}},
		{"6.12", "a wait for a collective has an empty status", 3, func(c *Comm) error {
			r, err := c.Ibarrier()
			st, bad := r.Wait()
			return errors.Join(err, bad, is("bytes", st.Bytes(), 0), is("cancelled", st.Cancelled(), false))
		}},
		{"6.2.1", "two communicators have collectives of their own", 4, func(c *Comm) error {
			d, err := c.Split(c.Rank()/2, 0)
			if err != nil {
				return err
			}
			r, err := c.Ibarrier()
			sum, bad := AllreduceOne(d, c.Rank(), Sum)
			return errors.Join(err, bad, is("sum", sum, 1+4*(c.Rank()/2)), done(r, nil), d.Free())
		}},
	}...)
}

// AnyTagFree is a tag of messages beside collectives.
const AnyTagFree = 12

// tens are n numbers that tell the rank.
func tens(rank, n int) []int {
	b := make([]int, n)
	for i := range b {
		b[i] = 10*rank + i
	}
	return b
}

// wrongCall is a call with wrong arguments on all ranks, which all of them must be told at once.
func wrongCall(section, name string, ranks int, want error, call func(c *Comm) error) rule {
	return rule{section, name, ranks, func(c *Comm) error { return fails("call", call(c), want) }}
}

// collectiveErrorRules are those of wrong arguments of collectives.
func collectiveErrorRules() []rule {
	return []rule{
		wrongCall("6.4", "Bcast of no root", 3, ErrRoot, func(c *Comm) error { return Bcast(c, one(), 3) }),
		wrongCall("6.4", "Bcast of a negative root", 2, ErrRoot, func(c *Comm) error { return Bcast(c, one(), -1) }),
		wrongCall("6.5", "Gather to no root", 2, ErrRoot, func(c *Comm) error { return Gather(c, one(), make([]int, 2), 2) }),
		wrongCall("6.6", "Scatter from no root", 4, ErrRoot, func(c *Comm) error {
			return Scatter(c, make([]int, 4), one(), -3)
		}),
		wrongCall("6.9.1", "Reduce to no root", 5, ErrRoot, func(c *Comm) error { return Reduce(c, one(), one(), Sum, 5) }),
		wrongCall("6.12.2", "Ibcast of no root", 2, ErrRoot, func(c *Comm) error { return done(Ibcast(c, one(), 2)) }),
		wrongCall("6.2.3", "the root of two groups in one", 2, ErrRoot, func(c *Comm) error { return Bcast(c, one(), Root) }),
		wrongCall("6.7", "Allgather without room", 3, ErrCount, func(c *Comm) error {
			return Allgather(c, one(), make([]int, 2))
		}),
		wrongCall("6.8", "Alltoall of unequal parts", 2, ErrCount, func(c *Comm) error {
			return Alltoall(c, make([]int, 3), make([]int, 4))
		}),
		wrongCall("6.9.6", "Allreduce without room", 2, ErrCount, func(c *Comm) error {
			return Allreduce(c, make([]int, 2), one(), Sum)
		}),
		wrongCall("6.9.6", "Allreduce in buffers that overlap", 1, ErrBuffer, func(c *Comm) error {
			b := make([]int, 3)
			return Allreduce(c, b[:2], b[1:], Sum)
		}),
		wrongCall("6.9.6", "Allreduce of what cannot travel", 1, ErrType, func(c *Comm) error {
			return Allreduce(c, []string{"a"}, make([]string, 1), Func(func(a, b string) string { return a + b }))
		}),
		wrongCall("6.9.1", "an operation of accumulations", 2, ErrOp, func(c *Comm) error {
			return Allreduce(c, one(), one(), Replace)
		}),
		wrongCall("6.9.2", "no operation", 2, ErrOp, func(c *Comm) error { return Scan(c, one(), one(), nil) }),
		wrongCall("6.4", "Bcast in place", 1, ErrBuffer, func(c *Comm) error { return Bcast(c, InPlace(one()), 0) }),
		wrongCall("6.7", "Allgatherv with a negative count", 2, ErrCount, func(c *Comm) error {
			return Allgatherv(c, one(), make([]int, 2), []int{1, -1}, nil)
		}),
		wrongCall("6.7", "Allgatherv with too few counts", 3, ErrCount, func(c *Comm) error {
			return Allgatherv(c, one(), make([]int, 3), []int{1, 1}, nil)
		}),
		wrongCall("6.8", "Alltoallv outside of the buffer", 2, ErrCount, func(c *Comm) error {
			return Alltoallv(c, make([]int, 2), []int{1, 1}, []int{0, 2}, make([]int, 2), []int{1, 1}, nil)
		}),
		wrongCall("6.10.2", "ReduceScatter with a negative count", 2, ErrCount, func(c *Comm) error {
			return ReduceScatter(c, make([]int, 2), make([]int, 2), []int{2, -1}, Sum)
		}),
		wrongCall("6.10.1", "ReduceScatterBlock of too few elements", 3, ErrCount, func(c *Comm) error {
			return ReduceScatterBlock(c, make([]int, 2), one(), Sum)
		}),
		{"6.4", "ranks that give different lengths", 2, func(c *Comm) error {
			err := Bcast(c, make([]int, 1+c.Rank()), 0)
			if c.Rank() == 1 {
				return errors.Join(is("refused", errors.Is(err, ErrCount) || errors.Is(err, ErrTruncate), true))
			}
			return nil // root has sent
		}},
		{"6.3", "a collective on a freed communicator", 2, func(c *Comm) error {
			d, err := c.Dup()
			return errors.Join(err, d.Free(), fails("Barrier", d.Barrier(), ErrComm),
				fails("Bcast", Bcast(d, one(), 0), ErrComm))
		}},
	}
}

// halves is a test on an inter-communicator: the first third of the ranks, at least one, and the others. low tells
// which.
func halves(f func(c *Comm, low bool) error) func(c *Comm) error {
	return func(c *Comm) error {
		cut := max(1, c.Size()/3)
		low := c.Rank() < cut
		part, err := c.Split(map[bool]int{true: 0, false: 1}[low], 0)
		if err != nil {
			return err
		}
		d, err := part.CreateInter(0, c, map[bool]int{true: cut, false: 0}[low], 4)
		if err != nil {
			return err
		}
		return errors.Join(f(d, low), d.Free(), part.Free())
	}
}
