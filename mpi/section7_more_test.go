package mpi

import (
	"errors"
	"fmt"
)

// groupOf is ranks of the communicator as a group.
func groupOf(c *Comm, ranks ...int) (Group, error) {
	all, err := c.Group()
	if err != nil {
		return all, err
	}
	return all.Incl(ranks...)
}

// setRule is an operation of two groups of eight ranks.
func setRule(name string, a, b, want []int, op func(a, b Group) Group) rule {
	return rule{"7.3.2", name, 8, func(c *Comm) error {
		g, err := groupOf(c, a...)
		h, bad := groupOf(c, b...)
		if err = errors.Join(err, bad); err != nil {
			return err
		}
		got := op(g, h)
		return errors.Join(listIs("ranks", got.WorldRanks(), want), is("size", got.Size(), len(want)))
	}}
}

// setRules are those of groups as sets (7.3).
func setRules() []rule {
	return []rule{
		setRule("a union has the first group's order first", []int{5, 1}, []int{2, 5, 0}, []int{5, 1, 2, 0}, Group.Union),
		setRule("a union with nothing", []int{5, 1}, nil, []int{5, 1}, Group.Union),
		setRule("a union of nothing", nil, []int{5, 1}, []int{5, 1}, Group.Union),
		setRule("an intersection has the first group's order", []int{5, 1, 3}, []int{3, 2, 5}, []int{5, 3},
			Group.Intersection),
		setRule("an intersection of groups apart", []int{5, 1}, []int{2, 0}, nil, Group.Intersection),
		setRule("an intersection with itself", []int{4, 2}, []int{2, 4}, []int{4, 2}, Group.Intersection),
		setRule("a difference has the first group's order", []int{5, 1, 3}, []int{1, 7}, []int{5, 3}, Group.Difference),
		setRule("a difference with all", []int{5, 1}, []int{0, 1, 2, 3, 4, 5}, nil, Group.Difference),
		setRule("a difference with nothing", []int{5, 1}, nil, []int{5, 1}, Group.Difference),
		{"7.3.2", "the group of a communicator", 5, func(c *Comm) error {
			g, err := c.Group()
			return errors.Join(err, is("size", g.Size(), 5), listIs("ranks", g.WorldRanks(), []int{0, 1, 2, 3, 4}))
		}},
		{"7.3.2", "some ranks in an order", 4, func(c *Comm) error {
			g, err := groupOf(c, 3, 0, 2)
			return errors.Join(err, listIs("ranks", g.WorldRanks(), []int{3, 0, 2}))
		}},
		{"7.3.2", "no ranks", 2, func(c *Comm) error {
			g, err := groupOf(c)
			return errors.Join(err, is("size", g.Size(), 0), is("empty", g.Compare(Group{}), Ident))
		}},
		{"7.3.2", "a rank that comes twice", 3, func(c *Comm) error {
			_, err := groupOf(c, 1, 1)
			return fails("Incl", err, ErrRank)
		}},
		{"7.3.2", "a rank that there is not", 3, func(c *Comm) error {
			_, err := groupOf(c, 3)
			_, bad := groupOf(c, -1)
			return errors.Join(fails("3", err, ErrRank), fails("-1", bad, ErrRank))
		}},
		{"7.3.2", "all but some", 6, func(c *Comm) error {
			all, err := c.Group()
			g, bad := all.Excl(4, 0)
			same, worse := all.Excl()
			return errors.Join(err, bad, worse, listIs("ranks", g.WorldRanks(), []int{1, 2, 3, 5}),
				is("none", same.Compare(all), Ident))
		}},
		{"7.3.2", "some of some", 6, func(c *Comm) error {
			g, err := groupOf(c, 5, 3, 1)
			h, bad := g.Incl(2, 0)
			return errors.Join(err, bad, listIs("ranks", h.WorldRanks(), []int{1, 5}))
		}},
		{"7.3.2", "a range with one rank", 3, func(c *Comm) error {
			all, err := c.Group()
			g, bad := all.RangeIncl(Range{First: 2, Last: 2, Stride: 5})
			return errors.Join(err, bad, listIs("ranks", g.WorldRanks(), []int{2}))
		}},
		{"7.3.2", "a range that does not reach its end", 7, func(c *Comm) error {
			all, err := c.Group()
			g, bad := all.RangeIncl(Range{First: 0, Last: 5, Stride: 3})
			return errors.Join(err, bad, listIs("ranks", g.WorldRanks(), []int{0, 3}))
		}},
		{"7.3.1", "the empty group", 1, func(*Comm) error {
			_, ok := Group{}.RankOf(0)
			return errors.Join(is("size", Group{}.Size(), 0), is("rank", ok, false))
		}},
	}
}

// sumOf checks that all ranks of a communicator work together.
func sumOf(c *Comm) error {
	n, err := AllreduceOne(c, c.Rank(), Sum)
	return errors.Join(err, is("sum of ranks", n, c.Size()*(c.Size()-1)/2))
}

// splitRules are those of what makes communicators of parts of others, and of their ends (7.4).
func splitRules() []rule {
	rules := []rule{
		{"7.4.1", "size and rank", 7, func(c *Comm) error {
			self := c.Proc().Self()
			return errors.Join(is("size", c.Size(), 7), is("self", self.Size(), 1), is("rank", self.Rank(), 0))
		}},
		{"7.4.1", "self is of one rank", 3, func(c *Comm) error {
			b := make([]int, 1)
			s := c.Proc().Self()
			_, err := Sendrecv(s, []int{c.Rank()}, 0, 0, b, 0, 0)
			return errors.Join(err, is("message", b[0], c.Rank()), s.Barrier())
		}},
		{"7.4.2", "colours", 6, func(c *Comm) error {
			d, err := c.Split(c.Rank()%3, 0)
			if err != nil {
				return err
			}
			return errors.Join(is("size", d.Size(), 2), is("rank", d.Rank(), c.Rank()/3), sumOf(d), d.Free())
		}},
		{"7.4.2", "keys", 5, func(c *Comm) error {
			d, err := c.Split(0, -c.Rank())
			if err != nil {
				return err
			}
			return errors.Join(is("rank", d.Rank(), 4-c.Rank()), sumOf(d), d.Free())
		}},
		{"7.4.2", "of equal keys the old order counts", 8, func(c *Comm) error {
			d, err := c.Split(7, c.Rank()%2)
			if err != nil {
				return err
			}
			return errors.Join(is("rank", d.Rank(), c.Rank()/2+4*(c.Rank()%2)), d.Free())
		}},
		{"7.4.2", "no colour, no communicator", 3, func(c *Comm) error {
			color := 0
			if c.Rank() == 1 {
				color = Undefined
			}
			d, err := c.Split(color, 0)
			if c.Rank() == 1 || err != nil {
				return errors.Join(err, is("none", d == nil, true))
			}
			return errors.Join(is("size", d.Size(), 2), sumOf(d), d.Free())
		}},
		{"7.4.2", "each rank a colour", 4, func(c *Comm) error {
			d, err := c.Split(c.Rank(), 0)
			return errors.Join(err, is("size", d.Size(), 1), d.Barrier(), d.Free())
		}},
		{"7.4.2", "nobody has a colour", 2, func(c *Comm) error {
			d, err := c.Split(Undefined, 0)
			return errors.Join(err, is("none", d == nil, true))
		}},
		{"7.4.2", "a negative colour", 1, func(c *Comm) error {
			_, err := c.Split(-1, 0)
			return fails("Split", err, ErrArgument)
		}},
		{"7.4.2", "a communicator of a group", 5, func(c *Comm) error {
			g, err := groupOf(c, 4, 1, 2)
			d, bad := c.Create(g)
			if err = errors.Join(err, bad); err != nil {
				return err
			}
			_, in := g.RankOf(c.Rank())
			if err = is("member", d != nil, in); err != nil || d == nil {
				return err
			}
			r, _ := g.RankOf(c.Rank())
			return errors.Join(is("rank", d.Rank(), r), sumOf(d), d.Free())
		}},
		{"7.4.2", "communicators of groups apart, in one call", 6, func(c *Comm) error {
			mine := [][]int{{0, 1, 2}, {3, 4, 5}}[c.Rank()/3]
			g, err := groupOf(c, mine...)
			d, bad := c.Create(g)
			if err = errors.Join(err, bad); err != nil {
				return err
			}
			w, err := d.WorldRank(0)
			return errors.Join(err, is("first", w, mine[0]), sumOf(d), d.Free())
		}},
		{"7.4.2", "a communicator that only its ranks make", 4, func(c *Comm) error {
			if c.Rank() == 0 {
				return nil
			}
			g, err := groupOf(c, 3, 2, 1)
			d, bad := c.CreateGroup(g, 5)
			if err = errors.Join(err, bad); err != nil {
				return err
			}
			return errors.Join(is("rank", d.Rank(), 3-c.Rank()), sumOf(d), d.Free())
		}},
		{"7.4.2", "two at once, by their tags", 2, func(c *Comm) error {
			g, err := c.Group()
			if err != nil {
				return err
			}
			var ds [2]*Comm
			return errors.Join(c.Proc().Parallel(2, func(i int) error {
				var err error
				ds[i], err = c.CreateGroup(g, i)
				return err
			}), sumOf(ds[0]), sumOf(ds[1]), ds[0].Free(), ds[1].Free())
		}},
		{"7.4.2", "a group with a wrong tag", 1, func(c *Comm) error {
			g, err := c.Group()
			_, bad := c.CreateGroup(g, -1)
			return errors.Join(err, fails("CreateGroup", bad, ErrTag))
		}},
		{"7.4.3", "a freed communicator is of no use", 2, func(c *Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			_, bad := func() (*Comm, error) { err = d.Free(); return d.Dup() }()
			return errors.Join(err, fails("Dup", bad, ErrComm), fails("Free", d.Free(), ErrComm))
		}},
		{"7.4.3", "the world cannot be freed", 1, func(c *Comm) error {
			p := c.Proc()
			return errors.Join(fails("world", p.World().Free(), ErrComm), fails("self", p.Self().Free(), ErrComm))
		}},
		{"7.4.3", "a duplicate outlives what it is of", 4, func(c *Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			e, err := d.Dup()
			if err != nil {
				return err
			}
			return errors.Join(d.Free(), sumOf(e), e.Free())
		}},
		{"7.4.2", "messages stay in their communicator", 2, func(c *Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			peer := 1 - c.Rank()
			err = errors.Join(Send(d, []int{1}, peer, 0), c.Barrier())
			_, ok, bad := c.Iprobe(AnySource, AnyTag)
			return errors.Join(err, bad, is("found", ok, false), second(Recv(d, make([]int, 1), peer, 0)), d.Free())
		}},
		{"7.4.4", "promises of all ranks", 2, func(c *Comm) error {
			d, err := c.DupWith(Assert{NoAnyTag: true, NoAnySource: true})
			if err != nil {
				return err
			}
			_, bad := Recv(d, make([]int, 1), 0, AnyTag)
			_, worse := Recv(d, make([]int, 1), AnySource, 0)
			return errors.Join(fails("tag", bad, ErrAssert), fails("source", worse, ErrAssert), d.Free())
		}},
		{"7.8", "names", 2, func(c *Comm) error {
			d, err := c.Dup()
			err = errors.Join(err, d.SetName("a name"), is("name", d.Name(), "a name"))
			return errors.Join(err, is("nil", (*Comm)(nil).Name(), ""), is("world", c.Proc().World().Name(), "world"),
				is("self", c.Proc().Self().Name(), "self"), d.Free())
		}},
		{"7.8", "a duplicate has a name of its own", 1, func(c *Comm) error {
			d, err := c.Dup()
			err = errors.Join(err, d.SetName("x"))
			e, bad := d.Dup()
			return errors.Join(err, bad, is("copied", e.Name() == "x", false), d.Free(), e.Free())
		}},
	}
	for n := 1; n <= 8; n++ {
		name := fmt.Sprintf("communicators of communicators of %d ranks", n)
		rules = append(rules, rule{"7.4.2", name, n, func(c *Comm) error {
			var made []*Comm
			for d := c; d.Size() > 1; {
				e, err := d.Split(min(d.Rank(), 1), d.Size()-d.Rank())
				if err != nil {
					return err
				}
				made, d = append(made, e), e
				if err := sumOf(d); err != nil {
					return err
				}
			}
			var err error
			for _, d := range made {
				err = errors.Join(err, d.Free())
			}
			return err
		}})
	}
	return rules
}

// interRules are those of communicators of two groups (7.6).
func interRules() []rule {
	return []rule{
		{"7.6.1", "sizes of both groups", 7, halves(func(c *Comm, low bool) error {
			n, err := c.RemoteSize()
			want := map[bool][2]int{true: {2, 5}, false: {5, 2}}[low]
			return errors.Join(err, is("own", c.Size(), want[0]), is("other", n, want[1]), is("inter", c.Inter(), true))
		})},
		{"7.6.1", "a communicator of one group", 2, func(c *Comm) error {
			_, err := c.RemoteSize()
			return errors.Join(is("inter", c.Inter(), false), fails("RemoteSize", err, ErrComm))
		}},
		{"7.6", "messages go to the other group", 5, halves(func(c *Comm, low bool) error {
			n, err := c.RemoteSize()
			for r := range n {
				err = errors.Join(err, Send(c, []int{c.Rank()}, r, c.Rank()))
			}
			for r := range n {
				b := make([]int, 1)
				st, bad := Recv(c, b, r, AnyTag)
				err = errors.Join(err, bad, is("source", st.Source, r), is("message", b[0], r), is("tag", st.Tag, r))
			}
			return err
		})},
		{"7.6", "any source is of the other group", 3, halves(func(c *Comm, low bool) error {
			if low {
				return errors.Join(Send(c, []int{1}, 1, 0), Send(c, []int{1}, 0, 0))
			}
			st, err := Recv(c, make([]int, 1), AnySource, 0)
			return errors.Join(err, is("source", st.Source, 0))
		})},
		{"7.6", "no rank of the other group", 2, halves(func(c *Comm, _ bool) error {
			return fails("Send", Send(c, one(), 1, 0), ErrRank)
		})},
		{"7.6.2", "merged, the low group first", 8, halves(func(c *Comm, low bool) error {
			d, err := c.Merge(!low)
			if err != nil {
				return err
			}
			w, err := d.WorldRank(d.Rank())
			return errors.Join(err, is("rank", d.Rank(), w), is("size", d.Size(), 8), is("inter", d.Inter(), false), sumOf(d),
				d.Free())
		})},
		{"7.6.2", "merged, the high group first", 4, halves(func(c *Comm, low bool) error {
			d, err := c.Merge(low)
			if err != nil {
				return err
			}
			want := map[bool]int{true: 3, false: c.Rank()}[low]
			return errors.Join(is("rank", d.Rank(), want), sumOf(d), d.Free())
		})},
		{"7.6.2", "merged without an order", 6, halves(func(c *Comm, _ bool) error {
			d, err := c.Merge(false)
			if err != nil {
				return err
			}
			return errors.Join(is("size", d.Size(), 6), sumOf(d), d.Free())
		})},
		{"7.6.2", "groups that overlap", 2, func(c *Comm) error {
			_, err := c.CreateInter(0, c, c.Rank(), 0)
			return is("refused", err != nil, true)
		}},
		{"7.6.2", "no leader", 1, func(c *Comm) error {
			_, err := c.CreateInter(1, c, 0, 0)
			return fails("CreateInter", err, ErrRank)
		}},
		{"7.4.2", "a duplicate of two groups", 5, halves(func(c *Comm, low bool) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			n, err := d.RemoteSize()
			recv := make([]int64, n)
			err = errors.Join(err, Allgather(d, []int64{int64(2 * d.Rank())}, recv))
			return errors.Join(err, listIs("all", recv, evenNumbers(n)), d.Free())
		})},
		{"7.6.2", "a leader that is not the first", 4, func(c *Comm) error {
			half, err := c.Split(c.Rank()/2, 0)
			if err != nil {
				return err
			}
			both, err := half.CreateInter(1, c, 3-2*(c.Rank()/2), 9)
			if err != nil {
				return err
			}
			b := make([]int, 1)
			_, err = Sendrecv(both, []int{c.Rank()}, both.Rank(), 0, b, both.Rank(), 0)
			return errors.Join(err, is("message", b[0], (c.Rank()+2)%4), both.Free(), half.Free())
		}},
	}
}
