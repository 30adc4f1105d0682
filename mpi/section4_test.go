package mpi

import (
	"errors"
	"fmt"
)

// parted has rank 0 send and rank 1 receive n elements in partitions of each side's own number. ready tells the order.
func parted(n, out, in int, ready func(r *Request) error) func(c *Comm) error {
	return pairOf(func(c *Comm) error {
		buf := make([]int32, n)
		r, err := PsendInit(c, buf, out, 1, 5)
		for round := range 2 {
			if err = errors.Join(err, r.Start()); err != nil {
				return err
			}
			copy(buf, upTo(int32(1000*round), n))
			err = errors.Join(ready(&r), done(r, nil))
		}
		return errors.Join(err, r.Free())
	}, func(c *Comm) error {
		buf := make([]int32, n)
		r, err := PrecvInit(c, buf, in, 0, 5)
		for round := range 2 {
			err = errors.Join(err, r.Start(), done(r, nil), listIs("message", buf, upTo(int32(1000*round), n)))
		}
		return errors.Join(err, r.Free())
	})
}

// upwards and downwards are orders of n partitions.
func upwards(n int) func(r *Request) error {
	return func(r *Request) error { return r.PreadyRange(0, n-1) }
}

func downwards(n int) func(r *Request) error {
	return func(r *Request) error {
		var err error
		for i := n - 1; i >= 0; i-- {
			err = errors.Join(err, r.Pready(i))
		}
		return err
	}
}

// partitionedRules are those of partitioned communication (4.2).
func partitionedRules() []rule {
	var rules []rule
	for i, k := range [][3]int{
		{1, 1, 1},
		{12, 4, 4},
		{12, 4, 3},
		{12, 3, 4},
		{12, 12, 1},
		{12, 1, 12},
		{40_000, 8, 5},
		{0, 2, 2},
	} {
		rules = append(
			rules,
			rule{
				"4.2.2", fmt.Sprintf("%d elements, %d to %d partitions, upwards", k[0], k[1], k[2]), 2 + i%7,
				parted(k[0], k[1], k[2], upwards(k[1])),
			},
			rule{
				"4.2.2", fmt.Sprintf("%d elements, %d to %d partitions, downwards", k[0], k[1], k[2]), 2,
				parted(k[0], k[1], k[2], downwards(k[1])),
			},
		)
	}
	return append(rules, []rule{
		{"4.2.2", "a list of partitions", 2, parted(6, 3, 2, func(r *Request) error { return r.PreadyList([]int{2, 0, 1}) })},
		{"4.2.2", "a partition that arrives before others are ready", 2, pairOf(func(c *Comm) error {
			buf := []int{1, 2}
			r, err := PsendInit(c, buf, 2, 1, 5)
			if err = errors.Join(err, r.Start(), r.Pready(1)); err != nil {
				return err
			}
			_, err = Recv(c, make([]int, 1), 1, 6)
			return errors.Join(err, r.Pready(0), done(r, nil), r.Free())
		}, func(c *Comm) error {
			buf := make([]int, 2)
			r, err := PrecvInit(c, buf, 2, 0, 5)
			err = errors.Join(err, r.Start())
			for ok := false; !ok && err == nil; {
				ok, err = r.Parrived(1)
			}
			early, bad := r.Parrived(0)
			err = errors.Join(err, bad, is("second", buf[1], 2), is("first is there", early, false), Send(c, []int{1}, 0, 6))
			return errors.Join(err, done(r, nil), is("first", buf[0], 1), r.Free())
		})},
		{"4.2.2", "all have arrived when the wait has ended", 2, pairOf(func(c *Comm) error {
			r, err := PsendInit(c, []int{1, 2}, 2, 1, 5)
			return errors.Join(err, r.Start(), r.PreadyRange(0, 1), done(r, nil), r.Free())
		}, func(c *Comm) error {
			r, err := PrecvInit(c, make([]int, 2), 2, 0, 5)
			err = errors.Join(err, r.Start(), done(r, nil))
			ok, bad := r.Parrived(1)
			return errors.Join(err, bad, is("arrived", ok, true), r.Free())
		})},
		{"4.2.1", "pairs with one tag meet in the order of their making", 2, func(c *Comm) error {
			var rs [2]Request
			var bufs [2][]int
			var err error
			for i := range rs {
				var bad error
				if c.Rank() == 0 {
					rs[i], bad = PsendInit(c, []int{10 + i}, 1, 1, 5)
				} else {
					bufs[i] = make([]int, 1)
					rs[i], bad = PrecvInit(c, bufs[i], 1, 0, 5)
				}
				err = errors.Join(err, bad)
			}
			if err != nil {
				return err
			}
			if c.Rank() == 0 {
				err = errors.Join(rs[1].Start(), rs[1].Pready(0), rs[0].Start(), rs[0].Pready(0))
			} else {
				err = StartAll(rs[:])
			}
			err = errors.Join(err, Waitall(rs[:], nil))
			if c.Rank() == 1 {
				err = errors.Join(err, is("first", bufs[0][0], 10), is("second", bufs[1][0], 11))
			}
			return errors.Join(err, rs[0].Free(), rs[1].Free())
		}},
		{"4.2.1", "no wildcards", 1, func(c *Comm) error {
			_, err := PrecvInit(c, make([]int, 1), 1, AnySource, 0)
			_, bad := PrecvInit(c, make([]int, 1), 1, 0, AnyTag)
			return errors.Join(fails("source", err, ErrRank), fails("tag", bad, ErrTag))
		}},
		{"4.2.1", "elements that cannot be divided", 1, func(c *Comm) error {
			_, err := PsendInit(c, make([]int, 3), 2, 0, 0)
			return fails("PsendInit", err, ErrArgument)
		}},
		{"4.2.2", "a partition that does not exist", 1, func(c *Comm) error {
			r, err := PsendInit(c, make([]int, 2), 2, 0, 0)
			p, bad := PrecvInit(c, make([]int, 2), 2, 0, 0)
			err = errors.Join(err, bad, r.Start(), p.Start(), fails("Pready", r.Pready(2), ErrArgument),
				fails("negative", r.Pready(-1), ErrArgument), r.PreadyRange(0, 1), Waitall([]Request{r, p}, nil))
			return errors.Join(err, r.Free(), p.Free())
		}},
		{"4.2.2", "ready twice", 1, func(c *Comm) error {
			r, err := PsendInit(c, make([]int, 2), 2, 0, 0)
			p, bad := PrecvInit(c, make([]int, 2), 2, 0, 0)
			err = errors.Join(err, bad, r.Start(), p.Start(), r.Pready(0), fails("Pready", r.Pready(0), ErrArgument),
				r.Pready(1),
				Waitall([]Request{r, p}, nil))
			return errors.Join(err, r.Free(), p.Free())
		}},
		{"4.2.2", "Pready of a receive, Parrived of a send", 1, func(c *Comm) error {
			r, err := PsendInit(c, make([]int, 2), 2, 0, 0)
			p, bad := PrecvInit(c, make([]int, 2), 2, 0, 0)
			_, worse := r.Parrived(0)
			err = errors.Join(err, bad, fails("Parrived", worse, ErrRequest), fails("Pready", p.Pready(0), ErrRequest))
			err = errors.Join(err, r.Start(), p.Start(), r.PreadyRange(0, 1), Waitall([]Request{r, p}, nil))
			return errors.Join(err, r.Free(), p.Free())
		}},
		{"4.2", "partitions meet no other messages", 2, pairOf(func(c *Comm) error {
			r, err := PsendInit(c, []int32{1}, 1, 1, 5)
			err = errors.Join(err, r.Start(), r.Pready(0), Send(c, []int32{2}, 1, 5))
			return errors.Join(err, done(r, nil), r.Free())
		}, func(c *Comm) error {
			buf := make([]int32, 1)
			r, err := PrecvInit(c, buf, 1, 0, 5)
			err = errors.Join(err, receives(c, 1, 0, 5, []int32{2}, 0, 5), r.Start(), done(r, nil), is("partition", buf[0], 1))
			return errors.Join(err, r.Free())
		})},
	}...)
}
