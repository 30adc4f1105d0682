package mpi

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/group"
)

// Group is an ordered list of processes without duplicates (7.2.1, 7.3). It does not change, so any number of
// goroutines may use it. The zero Group is empty.
type Group struct{ g *group.Group }

func (g Group) group() *group.Group {
	if g.g == nil {
		return group.Empty
	}
	return g.g
}

// Size is the number of processes.
func (g Group) Size() int { return g.group().Size() }

// WorldRanks is the rank in the world of each process, in the order of the group.
func (g Group) WorldRanks() []int {
	ranks := make([]int, g.Size())
	for i := range ranks {
		ranks[i] = int(g.group().At(i))
	}
	return ranks
}

// Incl is the processes with these ranks of g, in this order (MPI_Group_incl). ErrRank: there is no such rank, or it
// comes twice.
func (g Group) Incl(ranks ...int) (Group, error) { return picked(g.group().Incl(ranks)) }

// Excl is g without the processes of these ranks (MPI_Group_excl). Errors are those of Incl.
func (g Group) Excl(ranks ...int) (Group, error) { return picked(g.group().Excl(ranks)) }

func picked(g *group.Group, err error) (Group, error) {
	if err != nil {
		return Group{}, fmt.Errorf("mpi: %w: %w", ErrRank, err)
	}
	return Group{g}, nil
}

// Union is the processes of g, then those of h that are not in g.
func (g Group) Union(h Group) Group { return Group{group.Union(g.group(), h.group())} }

// Intersection is the processes of g that are in h.
func (g Group) Intersection(h Group) Group { return Group{group.Intersection(g.group(), h.group())} }

// Difference is the processes of g that are not in h.
func (g Group) Difference(h Group) Group { return Group{group.Difference(g.group(), h.group())} }

// Range is the ranks First, First+Stride and so on, up to Last. Stride may be negative.
type Range struct{ First, Last, Stride int }

func triplets(ranges []Range) []group.Triplet {
	list := make([]group.Triplet, len(ranges))
	for i, r := range ranges {
		list[i] = group.Triplet(r)
	}
	return list
}

// RangeIncl is Incl of the ranks of all ranges (7.3.2, MPI_Group_range_incl). ErrArgument: a range leaves the group or
// does not end, or a rank comes twice.
func (g Group) RangeIncl(ranges ...Range) (Group, error) {
	return ranged(g.group().RangeIncl(triplets(ranges)))
}

// RangeExcl is Excl of the ranks of all ranges (7.3.2, MPI_Group_range_excl). Errors are those of RangeIncl.
func (g Group) RangeExcl(ranges ...Range) (Group, error) {
	return ranged(g.group().RangeExcl(triplets(ranges)))
}

func ranged(g *group.Group, err error) (Group, error) {
	if err != nil {
		return Group{}, fmt.Errorf("mpi: %w: %w", ErrArgument, err)
	}
	return Group{g}, nil
}

// RankOf is the rank in g of a process, which its rank in the world names (7.3.1, MPI_Group_rank). !ok: it is not in g.
func (g Group) RankOf(worldRank int) (rank int, ok bool) {
	if int(int32(worldRank)) != worldRank {
		return 0, false
	}
	return g.group().RankOf(int32(worldRank))
}

// Translate gives the ranks in another group of the processes with these ranks in g (7.3.1,
// MPI_Group_translate_ranks): Undefined where there is none, ProcNull for ProcNull. ErrRank: g has no such rank.
func (g Group) Translate(ranks []int, to Group) ([]int, error) {
	there, err := g.group().Translate(ranks, to.group())
	if err != nil {
		return nil, fmt.Errorf("mpi: %w: %w", ErrRank, err)
	}
	return there, nil
}

// Comparison is how two groups or two communicators compare.
type Comparison int

// Results of comparisons (7.3.1, 7.4.1), with their numbers in the ABI of MPI 5.0.
const (
	Ident     Comparison = 201 // the same processes in the same order; of communicators: the same one
	Congruent Comparison = 202 // of communicators: different ones, with the same processes in the same order
	Similar   Comparison = 203 // the same processes in another order
	Unequal   Comparison = 204
)

// String is the standard's name of the result.
func (c Comparison) String() string { return group.Comparison(c).String() }

// Compare compares the processes of g and h and their order (7.3.1, MPI_Group_compare): Ident, Similar or Unequal.
func (g Group) Compare(h Group) Comparison {
	return Comparison(group.Compare(g.group(), h.group()))
}

// Compare compares two communicators (7.4.1, MPI_Comm_compare). What WithContext gives is the same communicator. It is
// local. Error: ErrComm.
func (c *Comm) Compare(d *Comm) (Comparison, error) {
	result, err := c.core().Compare(d.core())
	return Comparison(result), err
}

func groupFrom(g *group.Group, err error) (Group, error) { return Group{g}, err }

// Group is the group that the caller is in (7.3.2). Error: ErrComm.
func (c *Comm) Group() (Group, error) { return groupFrom(c.core().Group()) }

// RemoteGroup is the other group of an inter-communicator (7.6.1, MPI_Comm_remote_group). ErrComm: c is none.
func (c *Comm) RemoteGroup() (Group, error) { return groupFrom(c.core().RemoteGroup()) }

// Create makes a communicator of a group of ranks of c; ranks outside of it get nil (7.4.2). Ranks may give groups
// without a common rank. Collective over c; it waits. Errors: ErrComm, ErrContexts, one for a process that is not in c,
// and those of communication.
func (c *Comm) Create(g Group) (*Comm, error) {
	d, err := c.core().Create(g.group())
	return (*Comm)(d), err
}

// CreateGroup is Create that only the ranks of the group call, with a tag that tells calls at the same time apart
// (7.4.2). Errors: ErrTag and those of Create.
func (c *Comm) CreateGroup(g Group, tag int) (*Comm, error) {
	d, err := c.core().CreateGroup(g.group(), tag)
	return (*Comm)(d), err
}

// CreateInter makes an inter-communicator of the ranks of c and those of another communicator (7.6.2,
// MPI_Intercomm_create). leader is a rank of c. It reaches the leader of the other group as rank remote of peer, which
// other ranks need not know. Both leaders give one tag. In an inter-communicator messages go to ranks of the other
// group. Collective over both groups; it waits. Errors: ErrComm, also where the groups overlap, ErrRank, ErrTag,
// ErrContexts, and those of communication.
func (c *Comm) CreateInter(leader int, peer *Comm, remote, tag int) (*Comm, error) {
	d, err := c.core().CreateInter(leader, peer.core(), remote, tag)
	return (*Comm)(d), err
}

// Inter tells whether c is an inter-communicator.
func (c *Comm) Inter() bool { return c.core().Inter() }

// RemoteSize is the number of ranks in the other group of an inter-communicator. ErrComm: c is none.
func (c *Comm) RemoteSize() (int, error) { return c.core().RemoteSize() }

// Merge makes a communicator of both groups of an inter-communicator (7.6.2). The ranks of the group that gives high
// come last; all ranks of a group give the same. Collective over both groups; it waits. Errors: ErrComm, ErrContexts,
// and those of communication.
func (c *Comm) Merge(high bool) (*Comm, error) {
	d, err := c.core().Merge(high)
	return (*Comm)(d), err
}
