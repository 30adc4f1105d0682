package core

import (
	"slices"

	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/group"
	"github.com/golci/golci/mpi/internal/groupmsg"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// groupOf is the group of ranks of the world without duplicates.
func groupOf(ranks []int32) *group.Group {
	for i, r := range ranks {
		if r != ranks[0]+int32(i) {
			g, _ := group.New(ranks) // ranks of a communicator: it cannot fail
			return g
		}
	}
	return group.Range(int(ranks[0]), len(ranks))
}

// Group is the group that the rank is in (7.3.2, MPI_Comm_group). Error: ErrComm.
func (c *Comm) Group() (*group.Group, error) {
	if err := c.there("Group"); err != nil {
		return nil, err
	}
	return groupOf(c.ownGroup()).Of(c.owner()), nil
}

// RemoteGroup is the other group of an inter-communicator (7.6.1, MPI_Comm_remote_group). ErrComm: c has none.
func (c *Comm) RemoteGroup() (*group.Group, error) {
	if err := c.remote("RemoteGroup"); err != nil {
		return nil, err
	}
	return groupOf(c.group).Of(c.owner()), nil
}

// Compare compares two communicators (7.4.1). A view is the same as its communicator. Error: ErrComm.
func (c *Comm) Compare(d *Comm) (group.Comparison, error) {
	if err := c.there("Compare"); err != nil {
		return 0, err
	}
	if err := d.there("Compare"); err != nil {
		return 0, err
	}
	switch {
	case c.origin() == d.origin():
		return group.Ident, nil
	case c.Inter() != d.Inter():
		return group.Unequal, nil
	}
	result := group.Compare(groupOf(c.ownGroup()), groupOf(d.ownGroup()))
	if c.Inter() {
		result = max(result, group.Compare(groupOf(c.group), groupOf(d.group)))
	}
	return max(result, group.Congruent), nil
}

// checkWithin checks that all processes of g are ranks of c.
func (c *Comm) checkWithin(what string, g *group.Group) error {
	if g == nil {
		return c.commErrorf(what, ": %w: nil", errs.Group)
	}
	own := groupOf(c.ownGroup())
	for r := range g.Size() {
		if _, ok := own.RankOf(g.At(r)); !ok {
			return c.commErrorf(what, ": %w: rank %d of the world is not in the communicator", errs.Group, g.At(r))
		}
	}
	return nil
}

// Create makes a communicator of a group of ranks of c (7.4.2, MPI_Comm_create). Ranks that are not in the group get
// nil. Ranks may give groups that have no rank in common. Of an inter-communicator each side gives a part of its own
// group; all get nil if one part is empty. Collective over c; it waits. Errors: errs.Group, ErrComm, ErrContexts, and
// those of communication.
func (c *Comm) Create(g *group.Group) (*Comm, error) {
	const what = "Create"
	if err := c.checkUsable(what); err != nil {
		return nil, err
	}
	if err := c.checkWithin(what, g); err != nil {
		return nil, err
	}
	rank, in := g.RankOf(int32(c.proc.rank.Rank()))
	if c.local != nil {
		color := Undefined
		if in {
			color = 0
		}
		return c.splitInter(what, color, rank)
	}
	id, uid, err := c.agree(what, contextid.Plain)
	if err != nil {
		return nil, err
	}
	if !in {
		c.proc.ids.Release(id)
		return nil, nil
	}
	return newComm(c.home(), id, uid, slices.Clone(g.List()), rank), nil
}

// CreateGroup is Create that only the ranks of the group call (7.4.2, MPI_Comm_create_group). Calls at the same time
// have groups without common ranks, or different tags. A rank that is not in the group gets nil at once. It waits.
// Errors: ErrTag and those of Create.
func (c *Comm) CreateGroup(g *group.Group, tag int) (*Comm, error) {
	const what = "CreateGroup"
	if err := c.usableIntra(what); err != nil {
		return nil, err
	}
	if err := c.checkWithin(what, g); err != nil {
		return nil, err
	}
	if uint(tag) > TagUB {
		return nil, c.commErrorf(what, ": %w: %d is outside 0..%d", sentinel.ErrTag, tag, TagUB)
	}
	rank, in := g.RankOf(int32(c.proc.rank.Rank()))
	if !in {
		return nil, nil
	}
	members := slices.Clone(g.List())
	name := groupmsg.Make(groupmsg.CreateGroup, c.coll.UID, tag, "", g)
	id, uid, err := newExchange(c.scope(what), c.proc, name, members).agree()
	if err != nil {
		return nil, c.dressed(what, err)
	}
	return newComm(c.home(), id, uid, members, rank), nil
}

// Idup is Dup that does not wait (7.4.2, MPI_Comm_idup). The communicator may be used when the request is done. All
// ranks of c start their collectives and calls of Idup in the same order. Errors: ErrComm; ErrContexts and those of
// communication come with the request.
func (c *Comm) Idup() (*Comm, Request, error) {
	const what = "Idup"
	if err := c.checkUsable(what); err != nil {
		return nil, Request{}, err
	}
	d := &Comm{group: c.group, local: c.local, peers: c.peers, rank: c.rank}
	d.topology.Store(c.origin().topology.Load())
	y := c.meeting(what)
	req := c.later(&y.scope, func() error {
		id, uid, err := y.agree()
		if err == nil {
			d.enterUse(c.home(), id, uid)
		}
		return c.dressed(what, err)
	})
	return d, Request{c: c, req: req}, nil
}
