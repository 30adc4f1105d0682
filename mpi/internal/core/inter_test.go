package core

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/group"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// halves splits c in ranks below low and the others, and joins the two by their lowest ranks.
func halves(c *Comm, low int) (*Comm, error) {
	color, far := 0, low
	if c.Rank() >= low {
		color, far = 1, 0
	}
	half, err := c.Split(color, c.Rank())
	if err != nil {
		return nil, err
	}
	return half.CreateInter(0, c, far, 7)
}

// talk sends a word to each rank of the other group and receives one from each.
func talk(c *Comm) error {
	n, err := c.RemoteSize()
	if err != nil {
		return err
	}
	e := signature.ByteElem
	for r := range n {
		if err := c.SendAny("Send", e, []byte{byte(c.Rank()), byte(r)}, r, 3, comm.Standard); err != nil {
			return err
		}
	}
	var from []int
	for range n {
		b := make([]byte, 2)
		st, err := c.RecvAny("Recv", e, b, AnySource, 3)
		if err != nil {
			return err
		}
		if int(b[0]) != st.Source || int(b[1]) != c.Rank() {
			return fmt.Errorf("rank %d got %v from %d", c.Rank(), b, st.Source)
		}
		from = append(from, st.Source)
	}
	slices.Sort(from)
	for i, r := range from {
		if i != r {
			return fmt.Errorf("messages came from %v", from)
		}
	}
	return nil
}

// checkInter checks groups, messages, and that both sides have one id and uid.
func checkInter(world, c *Comm, local, remote []int) error {
	if !c.Inter() || c.Size() != len(local) {
		return fmt.Errorf("inter %t, size %d, want %d", c.Inter(), c.Size(), len(local))
	}
	for i, list := range [][]int{local, remote} {
		g, err := c.Group()
		if i == 1 {
			g, err = c.RemoteGroup()
		}
		if err != nil {
			return err
		}
		for r, w := range list {
			if g.Size() != len(list) || int(g.At(r)) != w {
				return fmt.Errorf("group %d is %v, want %v", i, g.List(), list)
			}
		}
	}
	if w, err := c.WorldRank(c.Rank()); err != nil || w != world.Rank() {
		return fmt.Errorf("world rank %d, %v", w, err)
	}
	all, err := c.meeting("test").gather(uint64(c.id), c.coll.UID)
	if err != nil {
		return err
	}
	for i := 0; i < len(all); i += 2 {
		if all[i] != uint64(c.id) || all[i+1] != c.coll.UID {
			return fmt.Errorf("the sides have the ids and uids %v", all)
		}
	}
	return talk(c)
}

func ints(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// TestInter (7.6.1, 7.6.2): creation, messages, duplication and the end of inter-communicators, and merging.
func TestInter(t *testing.T) {
	for n := 2; n <= 7; n++ {
		for low := 1; low < n; low++ {
			run(t, n, func(c *Comm) error {
				x, err := halves(c, low)
				if err != nil {
					return err
				}
				local, remote := ints(0, low), ints(low, n)
				if c.Rank() >= low {
					local, remote = remote, local
				}
				d, err := x.Dup()
				if err != nil {
					return err
				}
				e, r, err := x.Idup()
				if err != nil {
					return err
				}
				if _, err := r.Wait("Wait"); err != nil {
					return err
				}
				for _, y := range []*Comm{x, d, e} {
					if err := checkInter(c, y, local, remote); err != nil {
						return err
					}
				}
				if d.id == x.id || e.id == x.id || e.id == d.id {
					return errors.New("a duplicate has the id of another one")
				}
				if err := d.Free(); err != nil {
					return err
				}
				for _, high := range []int{0, 1, 2, 3} { // bit 0: of ranks below low, bit 1: of the others
					side := 0
					if c.Rank() >= low {
						side = 1
					}
					m, err := x.Merge(high>>side&1 == 1)
					if err != nil {
						return err
					}
					want := c.Rank()
					if high == 1 {
						want = (c.Rank() - low + n) % n
					}
					if m.Size() != n || m.Rank() != want || m.Inter() {
						return fmt.Errorf("high %d: rank %d of %d, want %d", high, m.Rank(), m.Size(), want)
					}
					if err := m.Barrier(); err != nil {
						return err
					}
				}
				return x.Free()
			})
		}
	}
}

// TestSplitInter (7.4.2): both groups are split. A colour that one group lacks gives nothing.
func TestSplitInter(t *testing.T) {
	run(t, 7, func(c *Comm) error {
		x, err := halves(c, 4)
		if err != nil {
			return err
		}
		color := []int{0, 1, 0, 2, 1, 0, Undefined}[c.Rank()] // 2 is in one group only
		d, err := x.Split(color, -c.Rank())
		if err != nil {
			return err
		}
		want := map[int][2][]int{0: {{2, 0}, {5}}, 1: {{1}, {4}}}[color]
		if len(want[0]) == 0 {
			if d != nil {
				return fmt.Errorf("colour %d gave a communicator", color)
			}
		} else {
			local, remote := want[0], want[1]
			if c.Rank() >= 4 {
				local, remote = remote, local
			}
			if err := checkInter(c, d, local, remote); err != nil {
				return err
			}
		}
		part := []int{c.Rank()}
		if c.Rank() >= 4 {
			part = []int{4, 6}
		} else {
			part[0] = 2
		}
		g, err := group.New([]int32{int32(part[0])})
		if len(part) == 2 {
			g, err = group.New([]int32{6, 4})
		}
		if err != nil {
			return err
		}
		made, err := x.Create(g)
		if err != nil {
			return err
		}
		if _, in := g.RankOf(int32(c.Rank())); !in {
			if made != nil {
				return errors.New("a rank outside of the group got a communicator")
			}
			return nil
		}
		local, remote := []int{2}, []int{6, 4}
		if c.Rank() >= 4 {
			local, remote = remote, local
		}
		return checkInter(c, made, local, remote)
	})
}

// TestCreate (7.4.2): communicators of groups, where all ranks of the parent call, and where only the group does.
func TestCreate(t *testing.T) {
	run(t, 6, func(c *Comm) error {
		world, err := c.Group()
		if err != nil {
			return err
		}
		odd, err := world.RangeIncl([]group.Triplet{{First: 5, Last: 1, Stride: -2}})
		if err != nil {
			return err
		}
		even := group.Difference(world, odd)
		for _, create := range []func() (*Comm, error){
			func() (*Comm, error) { return c.Create(odd) },
			func() (*Comm, error) { return c.CreateGroup(odd, 1) },
			func() (*Comm, error) { return c.CreateGroup(odd, 1) },
			func() (*Comm, error) { // groups without a common rank, at the same time
				if c.Rank()%2 == 0 {
					return c.Create(even)
				}
				return c.Create(odd)
			},
		} {
			d, err := create()
			if err != nil {
				return err
			}
			want := (5 - c.Rank()) / 2
			if c.Rank()%2 == 0 {
				if d == nil {
					continue
				}
				want = c.Rank() / 2
			}
			if d == nil || d.Rank() != want || d.Size() != 3 {
				return fmt.Errorf("rank %d became %v", c.Rank(), d)
			}
			if err := d.Barrier(); err != nil {
				return err
			}
			if err := d.Free(); err != nil {
				return err
			}
		}
		self, err := c.proc.Self().Group()
		if err != nil {
			return err
		}
		d, err := c.CreateGroup(self, TagUB)
		if err != nil || d.Size() != 1 {
			return fmt.Errorf("a communicator of one rank: %v", err)
		}
		if _, err := d.Create(world); c.Rank() > 0 && !errors.Is(err, errs.Group) {
			return fmt.Errorf("a group with others: %v", err)
		}
		if _, err := c.CreateGroup(self, -1); !errors.Is(err, sentinel.ErrTag) {
			return fmt.Errorf("a negative tag: %v", err)
		}
		if d, err := c.CreateGroup(group.Empty, 0); d != nil || err != nil {
			return fmt.Errorf("an empty group: %v, %v", d, err)
		}
		return nil
	})
}

// TestInterErrors: what an inter-communicator is not for, and leaders that do not exist.
func TestInterErrors(t *testing.T) {
	run(t, 3, func(c *Comm) error {
		x, err := halves(c, 1)
		if err != nil {
			return err
		}
		_, noSize := c.RemoteSize()
		_, noMerge := c.Merge(false)
		_, twice := x.CreateInter(0, c, 0, 0)
		_, noGroup := c.RemoteGroup()
		_, ofTwo := x.CreateGroup(group.Empty, 0)
		for i, err := range []error{noSize, noMerge, twice, noGroup, ofTwo} {
			if !errors.Is(err, sentinel.ErrComm) {
				return fmt.Errorf("error %d is %v", i, err)
			}
		}
		if _, err := c.CreateInter(3, c, 0, 0); !errors.Is(err, sentinel.ErrRank) {
			return fmt.Errorf("a leader out of range: %v", err)
		}
		if _, err := c.CreateInter(0, c, 3, 0); c.Rank() == 0 && !errors.Is(err, sentinel.ErrRank) || err == nil {
			return fmt.Errorf("a remote leader out of range: %v", err)
		}
		if c.Rank() < 2 { // 0 and 1 are in both groups
			g, err := group.New([]int32{0, 1})
			if err != nil {
				return err
			}
			both, err := c.CreateGroup(g, 0)
			if err != nil {
				return err
			}
			if _, err := both.CreateInter(c.Rank(), c, 1-c.Rank(), 0); !errors.Is(err, sentinel.ErrComm) {
				return fmt.Errorf("groups that overlap: %v", err)
			}
		}
		return nil
	})
}
