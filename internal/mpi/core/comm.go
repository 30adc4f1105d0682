package core

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/golci/golci/comm"
)

// Comm is a communicator: a group of ranks with a space of messages of its own.
type Comm struct {
	Hot
	group   []int32 // world rank of each rank
	inverse []int32 // rank of each world rank from lowest on, -1 for none; nil if the two are the same
	lowest  int     // world rank of the group
	rank    int
	collCtx uint16 // of collectives, so that no tag of the user meets them
	coll    *collState
	proc    *Proc
	id      int                    // that both contexts come from
	checked bool                   // messages carry the shape of their elements
	name    atomic.Pointer[string] // of SetName; nil for the default

	base  *Comm           // what this is a view of, nil if it is none
	codec any             // of values; the caller of WithCodec knows what it is
	until context.Context // when it ends the calls of a view do; nil: never
}

// Hot is what sends and receives need that take the shortest way. It lies at the beginning of a Comm, because the
// package above reads it there: the compiler does not inline functions of this package in a program.
type Hot struct {
	Srv   *comm.Server // of the rank
	Near  []int32      // group, or nil where calls must take the slow way: in views, and where types are checked
	Ctx   uint16       // of point to point
	Freed atomic.Bool
}

// newComm makes the communicator of that id and uid; see collState.
func newComm(p *Proc, id int, uid uint64, group []int32, rank int) *Comm {
	c := &Comm{
		Hot: Hot{Srv: p.srv, Ctx: uint16(2 * id)}, proc: p, group: group, rank: rank, id: id,
		collCtx: uint16(2*id + 1),
	}
	if c.checked = p.checked; !c.checked {
		c.Near = group
	}
	for i, w := range group {
		if int(w) != i || len(group) != p.rank.Size() {
			c.inverse, c.lowest = invert(group)
			break
		}
	}
	c.coll = newCollState(c, uid)
	p.colls.add(c.coll)
	return c
}

// invert tells the place in group of each world rank from the lowest in it to the highest.
func invert(group []int32) (inv []int32, lowest int) {
	lowest = int(slices.Min(group))
	inv = make([]int32, int(slices.Max(group))-lowest+1)
	for i := range inv {
		inv[i] = -1
	}
	for i, w := range group {
		inv[int(w)-lowest] = int32(i)
	}
	return inv, lowest
}

// Rank is the caller's rank in c; Undefined for a nil communicator.
func (c *Comm) Rank() int {
	if c == nil {
		return Undefined
	}
	return c.rank
}

// Size is the number of ranks in c, 0 for a nil communicator.
func (c *Comm) Size() int {
	if c == nil {
		return 0
	}
	return len(c.group)
}

// Proc is the rank that c belongs to; nil for a nil communicator.
func (c *Comm) Proc() *Proc {
	if c == nil {
		return nil
	}
	return c.proc
}

// WorldRank translates a rank of c to its rank in the world communicator.
func (c *Comm) WorldRank(rank int) (int, error) {
	if err := c.usable("WorldRank"); err != nil {
		return Undefined, err
	}
	if uint(rank) >= uint(len(c.group)) {
		return Undefined, c.errorf("WorldRank", ": %w: %d", ErrRank, rank)
	}
	return int(c.group[rank]), nil
}
