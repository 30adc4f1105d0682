package core

import (
	"fmt"
	"testing"

	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/topo"
)

// TestReorder (8.5.1): where machines alternate, the two halves of a ring are on one machine each.
func TestReorder(t *testing.T) {
	run(t, 8, func(c *Comm) error {
		c.proc.colls.Machine = uint64(1 + c.rank%2)
		ring, err := topo.NewCart([]int{8}, []bool{true})
		if err != nil {
			return err
		}
		d, err := c.CreateCart(ring, true)
		if err != nil {
			return err
		}
		all, err := d.meeting("test").gather(c.proc.colls.Machine)
		if err != nil {
			return err
		}
		cuts := 0
		for i, m := range all {
			if m != all[(i+1)%8] {
				cuts++
			}
		}
		if cuts != 2 {
			return fmt.Errorf("the ring goes from machine to machine %d times: %v", cuts, all)
		}
		return nil
	})
}

// TestSpare: ranks where a failed collective does not end those after it take numbers that they have claimed before.
// They are the same on all ranks, none is used twice, and they come back when the parent is freed.
func TestSpare(t *testing.T) {
	run(t, 3, func(c *Comm) error {
		c.proc.Isolate()
		if err := c.Barrier(); err != nil {
			return err
		}
		before := c.proc.ids.Snapshot()
		p, err := c.Dup()
		if err != nil {
			return err
		}
		seen, uids := map[int]bool{}, map[uint64]bool{}
		var agreed []int
		for i := range 20 {
			calls := p.coll.LastCall()
			d, err := p.Dup()
			if err != nil {
				return err
			}
			if p.coll.LastCall() != calls {
				agreed = append(agreed, i)
			}
			if seen[d.id] || uids[d.coll.UID] {
				return fmt.Errorf("number %d or its uid is there twice", d.id)
			}
			seen[d.id], uids[d.coll.UID] = true, true
			all, err := d.meeting("test").gather(uint64(d.id))
			if err != nil {
				return err
			}
			for _, id := range all {
				if id != uint64(d.id) {
					return fmt.Errorf("numbers %v", all)
				}
			}
			defer func() { _ = d.FreeLater() }()
		}
		if fmt.Sprint(agreed) != "[0 1 3 6 11]" {
			return fmt.Errorf("the ranks have agreed for communicators %v", agreed)
		}
		if err := p.FreeLater(); err != nil {
			return err
		}
		free := c.proc.ids.Snapshot()
		for id := range contextid.Max {
			if before[id/64]>>(id%64)&1 != 0 && free[id/64]>>(id%64)&1 == 0 && !seen[id] && id != p.id && id != c.spareID() {
				return fmt.Errorf("number %d is kept", id)
			}
		}
		return nil
	})
}

// spareID is a number that the world keeps, or 0.
func (c *Comm) spareID() int {
	if len(c.idCache.ids) > 0 {
		return c.idCache.ids[0]
	}
	return 0
}
