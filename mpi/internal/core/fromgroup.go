package core

import (
	"fmt"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/group"
	"github.com/golci/golci/mpi/internal/groupmsg"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// inGroup gives the rank of this process in a group that it must be in.
func (p *Proc) inGroup(what string, g *group.Group) (rank int, err error) {
	if err := p.rank.Ended(); err != nil {
		return 0, fmt.Errorf("mpi: %s: %w", what, err)
	}
	for r := range g.Size() {
		if int(g.At(r)) >= p.rank.Size() {
			return 0, fmt.Errorf("mpi: %s: %w: process %d is not of the job", what, errs.Group, g.At(r))
		}
	}
	rank, ok := g.RankOf(int32(p.rank.Rank()))
	if !ok {
		return 0, fmt.Errorf("mpi: %s: %w: the rank itself is not in it", what, errs.Group)
	}
	return rank, nil
}

// CreateFromGroup makes a communicator of a group without a parent (7.4.2, MPI_Comm_create_from_group). All processes
// of the group call it with one text, which tells it from other calls at the same time. An empty group gives nil. It
// waits. Errors: errs.Group, ErrContexts, and those of communication.
func (p *Proc) CreateFromGroup(g *group.Group, text string) (*Comm, error) {
	const what = "CreateFromGroup"
	if g.Size() == 0 {
		return nil, nil
	}
	rank, err := p.inGroup(what, g)
	if err != nil {
		return nil, err
	}
	members := slices.Clone(g.List())
	id, uid, err := newExchange(scopeOf(what), p, groupmsg.Make(groupmsg.FromGroup, 0, 0, text, g), members).agree()
	if err != nil {
		return nil, p.world.dressed(what, err)
	}
	return newComm(p.homeOf(g), id, uid, members, rank), nil
}

// CreateInterFromGroups makes an inter-communicator of two groups without a parent (7.6.2,
// MPI_Intercomm_create_from_groups). leader is a rank of local. Only what the leader says of the remote group matters.
// Both groups call it with one text. It waits. Errors: ErrRank for leaders that do not exist, ErrComm where the groups
// overlap, and those of CreateFromGroup.
func (p *Proc) CreateInterFromGroups(
	local *group.Group, leader int, remote *group.Group, far int, text string,
) (*Comm, error) {
	const what = "CreateInterFromGroups"
	rank, err := p.inGroup(what, local)
	if err != nil {
		return nil, err
	}
	if uint(leader) >= uint(local.Size()) {
		return nil, fmt.Errorf("mpi: %s: %w: leader %d", what, sentinel.ErrRank, leader)
	}
	var told []uint64
	if rank == leader && remote != nil && uint(far) < uint(remote.Size()) {
		told = fromRanks(remote.List())
	}
	mine := slices.Clone(local.List())
	told, err = newExchange(scopeOf(what), p, groupmsg.Make(groupmsg.FromGroups, 0, 0, text, local), mine).spreadWords(told)
	if err != nil {
		return nil, p.world.dressed(what, err)
	}
	if len(told) == 0 {
		return nil, fmt.Errorf("mpi: %s: %w: the leader knows no remote leader", what, sentinel.ErrRank)
	}
	others := toRanks(told)
	for _, r := range others {
		if _, both := local.RankOf(r); both {
			return nil, fmt.Errorf("mpi: %s: %w: rank %d of the world is in both groups", what, sentinel.ErrComm, r)
		}
	}
	first, second := ordered(mine, others)
	name := groupmsg.Make(groupmsg.FromGroups, 1, 0, text, groupOf(first), groupOf(second))
	id, uid, err := newExchange(scopeOf(what), p, name, slices.Concat(first, second)).agree()
	if err != nil {
		return nil, p.world.dressed(what, err)
	}
	return newInter(p.homeOf(local), id, uid, mine, others), nil
}
