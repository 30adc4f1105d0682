package core

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/coll"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Comm is a communicator: a group of ranks with a space of messages of its own.
type Comm struct {
	Hot
	group      []int32 // world rank of each rank that messages go to: of an inter-communicator, of the other group
	local      []int32 // the own group of an inter-communicator; nil of others
	peers      []int32 // whom collectives address: group, or local and behind it group
	inverse    []int32 // rank of each world rank from lowest on, -1 for none; nil if the two are the same
	lowest     int     // world rank of the group
	rank       int
	collCtx    uint16 // of collectives, so that no tag of the user meets them
	coll       *coll.State
	calls      coll.View // of coll, for the calls of this communicator or view
	proc       *Proc
	id         int                      // that both contexts come from
	meetings   atomic.Uint64            // that the members have had in the system context
	checked    bool                     // messages carry the signature of their elements
	topology   atomic.Pointer[Topology] // nil: none
	session    *Session                 // whose groups it comes from; nil: none. Of origin()
	buffer     buffering                // of buffered sends
	attrs      attributed               // of the package above
	idCache    contextIDCache           // ids for communicators that are made of it
	name       atomic.Pointer[string]   // of SetName; nil for the default
	revocation revocation               // of origin()

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

// newComm makes the communicator of that id and uid; see State.
func newComm(h creation, id int, uid uint64, group []int32, rank int) *Comm {
	c := &Comm{group: group, peers: group, rank: rank}
	c.enterUse(h, id, uid)
	return c
}

// newInter makes an inter-communicator of two groups.
func newInter(h creation, id int, uid uint64, local, remote []int32) *Comm {
	c := &Comm{group: remote, local: local, peers: slices.Concat(local, remote)}
	c.rank = slices.Index(local, int32(h.p.rank.Rank()))
	c.enterUse(h, id, uid)
	return c
}

// enterUse makes c, whose groups are known, usable.
func (c *Comm) enterUse(h creation, id int, uid uint64) {
	group, p := c.group, h.p
	c.session = h.s
	c.Srv, c.Ctx, c.collCtx, c.id, c.proc = p.srv, uint16(2*id), uint16(2*id+1), id, p
	if c.checked = p.checked; !c.checked {
		c.Near = group
	}
	for i, w := range group {
		if int(w) != i || len(group) != p.rank.Size() {
			c.inverse, c.lowest = invert(group)
			break
		}
	}
	c.coll = coll.NewState(c, coll.Env{
		Server: p.srv, Context: c.collCtx, ID: id, UID: uid, Peers: c.peers, Local: len(c.local), Rank: c.rank,
		Checked: c.checked, OfRank: &p.colls,
	})
	c.calls = c.coll.View(c, nil)
	p.colls.Add(c.coll)
	p.faults.made(c)
	if p.srv.AnyGone() { // a death after this look finds c among the others
		c.doubt(false, nil)
	}
	if c.coll.WasRevoked() {
		c.revoke(false, nil)
	}
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

// Size is the number of ranks in c, 0 for a nil communicator. Of an inter-communicator it is that of the own group.
func (c *Comm) Size() int {
	if c == nil {
		return 0
	}
	return len(c.ownGroup())
}

// ownGroup is the group that the rank itself is in.
func (c *Comm) ownGroup() []int32 {
	if c.local != nil {
		return c.local
	}
	return c.group
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
	if err := c.there("WorldRank"); err != nil {
		return Undefined, err
	}
	own := c.ownGroup()
	if uint(rank) >= uint(len(own)) {
		return Undefined, c.commErrorf("WorldRank", ": %w: %d", sentinel.ErrRank, rank)
	}
	return int(own[rank]), nil
}
