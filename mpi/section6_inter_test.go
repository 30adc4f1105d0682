package mpi

import (
	"errors"
	"time"
)

// leavesLate has each rank come last to a barrier once. It looks for what others send it when they have left: there
// must be nothing. barrier may be that of two groups that d has in one.
func leavesLate(d *Comm, barrier func() error) error {
	for late := range d.Size() {
		if d.Rank() != late {
			if err := errors.Join(barrier(), Send(d, one(), late, late)); err != nil {
				return err
			}
			continue
		}
		time.Sleep(2 * time.Millisecond) // time for those who do not wait to send
		_, early, err := d.Iprobe(AnySource, late)
		if err = errors.Join(err, is("somebody left before", early, false), barrier()); err != nil {
			return err
		}
		for range d.Size() - 1 {
			if _, err := Recv(d, one(), AnySource, late); err != nil {
				return err
			}
		}
	}
	return nil
}

// lateRule is a barrier in any of its forms.
func lateRule(section, name string, ranks int, barrier func(c *Comm) error) rule {
	return rule{section, name, ranks, func(c *Comm) error { return leavesLate(c, func() error { return barrier(c) }) }}
}

// rootOf is the root argument of a collective whose root is the last rank of the low group.
func rootOf(c *Comm, low bool) int {
	switch n, _ := c.RemoteSize(); { // c has two groups
	case !low:
		return n - 1
	case c.Rank() == c.Size()-1:
		return Root
	}
	return ProcNull
}

// evenNumbers are 0, 2, 4 and so on.
func evenNumbers(n int) []int64 {
	b := make([]int64, n)
	for i := range b {
		b[i] = int64(2 * i)
	}
	return b
}

// merged has a barrier of two groups, of which d has all ranks.
func merged(barrier func(c *Comm) error) func(c *Comm, low bool) error {
	return func(c *Comm, low bool) error {
		d, err := c.Merge(!low)
		if err != nil {
			return err
		}
		return errors.Join(leavesLate(d, func() error { return barrier(c) }), d.Free())
	}
}

// interCollectiveRules are those of collectives of two groups (6.2.3).
func interCollectiveRules() []rule {
	var rules []rule
	for _, n := range []int{2, 5, 8} {
		rules = append(
			rules,
			lateRule("6.3", "nobody leaves a barrier before all have come, "+string(rune('0'+n)), n, (*Comm).Barrier),
			lateRule("6.12.1", "nobody finds a barrier done before all have come, "+string(rune('0'+n)), n, func(c *Comm) error {
				return done(c.Ibarrier())
			}),
			rule{
				"6.3", "nobody leaves a barrier of two groups before all have come, " + string(rune('0'+n)), n,
				halves(merged((*Comm).Barrier)),
			},
			rule{
				"6.12.1", "nobody finds a barrier of two groups done before all have come, " + string(rune('0'+n)), n,
				halves(merged(
					func(c *Comm) error { return done(c.Ibarrier()) },
				)),
			},
		)
	}
	return append(rules, []rule{
		{"6.13.1", "a persistent barrier of two groups", 6, halves(merged(func(c *Comm) error {
			r, err := c.BarrierInit()
			return errors.Join(err, r.Start(), done(r, nil), r.Free())
		}))},
		{"6.4", "Bcast from one group to the other", 7, halves(func(c *Comm, low bool) error {
			buf := []int64{5, 6}
			if !low {
				buf = []int64{-1, -1}
			}
			return errors.Join(Bcast(c, buf, rootOf(c, low)), listIs("values", buf, []int64{5, 6}))
		})},
		{"6.5", "Gather from the other group", 8, halves(func(c *Comm, low bool) error {
			n, err := c.RemoteSize()
			root, recv := rootOf(c, low), make([]int64, n)
			if err = errors.Join(err, Gather(c, []int64{int64(2 * c.Rank())}, recv, root)); root != Root {
				return err
			}
			return errors.Join(err, listIs("all", recv, evenNumbers(n)))
		})},
		{"6.6", "Scatter to the other group", 6, halves(func(c *Comm, low bool) error {
			n, err := c.RemoteSize()
			recv := []int64{-1}
			err = errors.Join(err, Scatter(c, evenNumbers(n), recv, rootOf(c, low)))
			if low {
				return errors.Join(err, is("buffer", recv[0], -1))
			}
			return errors.Join(err, is("part", recv[0], int64(2*c.Rank())))
		})},
		{"6.7", "Allgather of two groups", 7, halves(func(c *Comm, _ bool) error {
			n, err := c.RemoteSize()
			recv := make([]int64, n)
			err = errors.Join(err, Allgather(c, []int64{int64(2 * c.Rank())}, recv))
			return errors.Join(err, listIs("all", recv, evenNumbers(n)))
		})},
		{"6.8", "Alltoall of two groups", 5, halves(func(c *Comm, _ bool) error {
			n, err := c.RemoteSize()
			send, recv := make([]int64, n), make([]int64, n)
			for i := range send {
				send[i] = int64(10*c.Rank() + i)
			}
			err = errors.Join(err, Alltoall(c, send, recv))
			for i, v := range recv {
				err = errors.Join(err, is("part", v, int64(10*i+c.Rank())))
			}
			return err
		})},
		{"6.9.1", "Reduce of the other group", 6, halves(func(c *Comm, low bool) error {
			n, err := c.RemoteSize()
			root, recv := rootOf(c, low), []int64{-1}
			err = errors.Join(err, Reduce(c, []int64{int64(c.Rank() + 1)}, recv, Sum, root))
			if root != Root {
				return errors.Join(err, is("buffer", recv[0], -1))
			}
			return errors.Join(err, is("sum", recv[0], int64(n*(n+1)/2)))
		})},
		{"6.9.6", "Allreduce of two groups", 8, halves(func(c *Comm, _ bool) error {
			n, err := c.RemoteSize()
			recv := []int64{-1}
			err = errors.Join(err, Allreduce(c, []int64{int64(c.Rank() + 1)}, recv, Sum))
			return errors.Join(err, is("sum", recv[0], int64(n*(n+1)/2)))
		})},
		{"6.11.1", "Scan has one group", 2, halves(func(c *Comm, _ bool) error {
			return fails("Scan", Scan(c, []int64{1}, []int64{1}, Sum), ErrComm)
		})},
		{"6.11.2", "Exscan has one group", 4, halves(func(c *Comm, _ bool) error {
			return fails("Exscan", Exscan(c, []int64{1}, []int64{1}, Sum), ErrComm)
		})},
		{"6.4", "no root in the other group", 3, halves(func(c *Comm, low bool) error {
			n, err := c.RemoteSize()
			return errors.Join(err, fails("Bcast", Bcast(c, []int64{1}, n), ErrRoot))
		})},
		{"6.9.6", "two groups have nothing in place", 2, halves(func(c *Comm, _ bool) error {
			b := []int64{1}
			return fails("Allreduce", Allreduce(c, InPlace(b), b, Sum), ErrBuffer)
		})},
	}...)
}
