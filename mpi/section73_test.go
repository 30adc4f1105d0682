package mpi

import (
	"context"
	"errors"
)

// groupRules are the local operations on groups (7.3), and comparisons.
func groupRules() []rule {
	return []rule{
		{"7.3.2", "ranges, one of them backwards", 8, func(c *Comm) error {
			all, err := c.Group()
			g, bad := all.RangeIncl(Range{First: 1, Last: 6, Stride: 3}, Range{First: 7, Last: 5, Stride: -2})
			return errors.Join(err, bad, listIs("ranks", g.WorldRanks(), []int{1, 4, 7, 5}))
		}},
		{"7.3.2", "ranges that are left out", 5, func(c *Comm) error {
			all, err := c.Group()
			g, bad := all.RangeExcl(Range{First: 0, Last: 4, Stride: 2})
			return errors.Join(err, bad, listIs("ranks", g.WorldRanks(), []int{1, 3}))
		}},
		{"7.3.2", "ranges that are none", 2, func(c *Comm) error {
			all, err := c.Group()
			_, a := all.RangeIncl(Range{First: 0, Last: 1})
			_, b := all.RangeExcl(Range{First: 0, Last: 2, Stride: 2})
			_, d := all.RangeIncl(Range{First: 0, Last: 1, Stride: 1}, Range{First: 1, Last: 1, Stride: 1})
			return errors.Join(err, fails("no stride", a, ErrArgument), fails("beyond", b, ErrArgument),
				fails("twice", d, ErrArgument))
		}},
		{"7.3.1", "rank of a process", 3, func(c *Comm) error {
			all, err := c.Group()
			g, bad := all.Incl(2, 0)
			two, ok := g.RankOf(2)
			_, there := g.RankOf(1)
			_, far := g.RankOf(1 << 40)
			return errors.Join(err, bad, is("rank", two, 0), is("found", ok, true), is("1 is there", there, false),
				is("2^40 is there", far, false))
		}},
		{"7.3.1", "ranks of one group in another", 4, func(c *Comm) error {
			all, err := c.Group()
			g, bad := all.Incl(3, 1)
			there, worse := all.Translate([]int{1, 0, ProcNull, 3}, g)
			_, none := all.Translate([]int{4}, g)
			return errors.Join(err, bad, worse, listIs("ranks", there, []int{1, Undefined, ProcNull, 0}),
				fails("rank 4", none, ErrRank))
		}},
		{"7.3.1", "comparison of groups", 3, func(c *Comm) error {
			all, err := c.Group()
			back, a := all.Incl(2, 1, 0)
			part, b := all.Incl(0, 1)
			return errors.Join(err, a, b, is("itself", all.Compare(all), Ident), is("another order", all.Compare(back), Similar),
				is("a part", all.Compare(part), Unequal), is("none", Group{}.Compare(Group{}), Ident))
		}},
		{"7.4.1", "comparison of communicators", 2, func(c *Comm) error {
			d, err := c.Dup()
			back, a := c.Split(0, -c.Rank())
			own, b := c.Split(c.Rank(), 0)
			if err := errors.Join(err, a, b); err != nil {
				return err
			}
			for _, k := range []struct {
				what string
				with *Comm
				want Comparison
			}{
				{"itself", c, Ident},
				{"a view of it", c.WithContext(context.Background()), Ident},
				{"a duplicate", d, Congruent},
				{"another order", back, Similar},
				{"a part", own, Unequal},
			} {
				got, bad := c.Compare(k.with)
				err = errors.Join(err, bad, is(k.what, got, k.want))
			}
			err = errors.Join(err, d.Free())
			_, bad := c.Compare(d)
			return errors.Join(err, fails("a freed one", bad, ErrComm), is("text", Congruent.String(), "MPI_CONGRUENT"))
		}},
		{"7.6.1", "the other group of an inter-communicator", 3, func(c *Comm) error {
			half, err := c.Split(min(c.Rank(), 1), 0)
			if err != nil {
				return err
			}
			both, err := half.CreateInter(0, c, 1-min(c.Rank(), 1), 0)
			if err != nil {
				return err
			}
			g, err := both.RemoteGroup()
			want := []int{1, 2}
			if c.Rank() > 0 {
				want = []int{0}
			}
			_, none := c.RemoteGroup()
			with, bad := both.Compare(both)
			unlike, worse := both.Compare(c)
			return errors.Join(err, bad, worse, listIs("group", g.WorldRanks(), want), fails("no such group", none, ErrComm),
				is("itself", with, Ident), is("of one group", unlike, Unequal))
		}},
	}
}
