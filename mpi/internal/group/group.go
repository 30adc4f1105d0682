// Package group has the groups of processes of MPI (7.2, 7.3): lists of processes without duplicates. A process is its
// rank in the job.
package group

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/golci/golci/mpi/internal/errs"
)

// Numbers of the ABI that stand for no rank.
const (
	ProcNull  = -3
	Undefined = -32766
)

// Group is an ordered list of processes. It does not change, so any number of goroutines may use it. Operations take
// time and memory for the processes that they look at; a range of processes takes none.
type Group struct {
	first, n int32   // where list is nil: the processes from first on
	list     []int32 // by rank
	owner    any     // see Owner

	ranks atomic.Pointer[inverse] // made when somebody asks for a rank; two at once make the same
}

// inverse finds the rank of a process: in a table, or in a map if the processes are far from one another.
type inverse struct {
	low   int32
	table []int32 // rank + 1 of the process low + index
	far   map[int32]int32
}

// Range is n processes from first on.
func Range(first, n int) *Group { return &Group{first: int32(first), n: int32(n)} }

// Empty is MPI_GROUP_EMPTY.
var Empty = Range(0, 0)

// New is the processes of a list, which it keeps. errs.Group: one is negative, or comes twice.
func New(list []int32) (*Group, error) {
	g := made(list, nil)
	for rank, p := range list {
		if p < 0 {
			return nil, fmt.Errorf("%w: process %d at rank %d", errs.Group, p, rank)
		}
	}
	for rank, p := range list {
		if last, _ := g.RankOf(p); last != rank {
			return nil, fmt.Errorf("%w: process %d has the ranks %d and %d", errs.Group, p, rank, last)
		}
	}
	return g, nil
}

// made is the group of a list without duplicates.
func made(list []int32, owner any) *Group {
	if len(list) == 0 {
		return Empty
	}
	return &Group{n: int32(len(list)), list: list, owner: owner}
}

// Of is the same processes with an owner: a session. Groups that are derived from a group have its owner; of two groups
// that of the first, and a union that of the second if the first has none. The empty group has none.
func (g *Group) Of(owner any) *Group {
	if g.n == 0 || owner == g.owner {
		return g
	}
	return &Group{first: g.first, n: g.n, list: g.list, owner: owner}
}

// Owner is what Of was given; nil without it.
func (g *Group) Owner() any { return g.owner }

// Size is the number of processes.
func (g *Group) Size() int { return int(g.n) }

// At is the process with that rank, which must be below Size.
func (g *Group) At(rank int) int32 {
	if g.list != nil {
		return g.list[rank]
	}
	return g.first + int32(rank)
}

// List is all processes by rank. Nobody may change it.
func (g *Group) List() []int32 {
	if g.list != nil || g.n == 0 {
		return g.list
	}
	list := make([]int32, g.n)
	for i := range list {
		list[i] = g.first + int32(i)
	}
	return list
}

// RankOf is the rank of a process; !ok: it is none of the group.
func (g *Group) RankOf(process int32) (rank int, ok bool) {
	if g.list == nil {
		rank = int(process) - int(g.first)
		return rank, rank >= 0 && rank < int(g.n)
	}
	inv := g.ranks.Load()
	if inv == nil {
		inv = invert(g.list)
		g.ranks.Store(inv)
	}
	return inv.findRank(process)
}

func (inv *inverse) findRank(process int32) (rank int, ok bool) {
	if inv.far != nil {
		r, ok := inv.far[process]
		return int(r), ok
	}
	i := int(process) - int(inv.low)
	if i < 0 || i >= len(inv.table) || inv.table[i] == 0 {
		return 0, false
	}
	return int(inv.table[i]) - 1, true
}

// sparse is how many times as long as the list a table may be.
const sparse = 8

func invert(list []int32) *inverse {
	low, high := slices.Min(list), slices.Max(list)
	span := int(high) - int(low) + 1
	if span > sparse*len(list) {
		far := make(map[int32]int32, len(list))
		for rank, p := range list {
			far[p] = int32(rank)
		}
		return &inverse{far: far}
	}
	inv := &inverse{low: low, table: make([]int32, span)}
	for rank, p := range list {
		inv.table[p-low] = int32(rank) + 1
	}
	return inv
}

// Incl is the processes with these ranks, in this order. errs.Rank: there is no such rank, or it comes twice.
func (g *Group) Incl(ranks []int) (*Group, error) {
	if _, err := g.chosen(ranks, errs.Rank); err != nil {
		return nil, err
	}
	return g.pickRanks(ranks), nil
}

func (g *Group) pickRanks(ranks []int) *Group {
	list := make([]int32, len(ranks))
	for i, r := range ranks {
		list[i] = g.At(r)
	}
	return made(list, g.owner)
}

// Excl is the processes without those of these ranks. Errors are those of Incl.
func (g *Group) Excl(ranks []int) (*Group, error) {
	out, err := g.chosen(ranks, errs.Rank)
	if err != nil {
		return nil, err
	}
	return g.without(out), nil
}

// chosen marks ranks, each of which must exist and may come once.
func (g *Group) chosen(ranks []int, class errs.Class) ([]bool, error) {
	marks := make([]bool, g.n)
	for i, r := range ranks {
		switch {
		case r < 0 || r >= int(g.n):
			return nil, fmt.Errorf("%w: rank %d, at place %d, of a group of %d", class, r, i, g.n)
		case marks[r]:
			return nil, fmt.Errorf("%w: rank %d, at place %d, has come before", class, r, i)
		}
		marks[r] = true
	}
	return marks, nil
}

func (g *Group) without(out []bool) *Group {
	var list []int32
	for r, gone := range out {
		if !gone {
			list = append(list, g.At(r))
		}
	}
	return made(list, g.owner)
}

// Triplet is the ranks from First to Last, Stride apart.
type Triplet struct{ First, Last, Stride int }

// RangeIncl is Incl of all ranks of the triplets. errs.Arg: a triplet leaves the group or does not end, or a rank comes
// twice.
func (g *Group) RangeIncl(ranges []Triplet) (*Group, error) {
	ranks, err := g.expand(ranges)
	if err != nil {
		return nil, err
	}
	return g.pickRanks(ranks), nil
}

// RangeExcl is Excl of all ranks of the triplets. Errors are those of RangeIncl.
func (g *Group) RangeExcl(ranges []Triplet) (*Group, error) {
	ranks, err := g.expand(ranges)
	if err != nil {
		return nil, err
	}
	out := make([]bool, g.n)
	for _, r := range ranks {
		out[r] = true
	}
	return g.without(out), nil
}

func (g *Group) expand(ranges []Triplet) (ranks []int, err error) {
	n := int(g.n)
	for i, t := range ranges {
		if t.Stride == 0 || t.First < 0 || t.First >= n || t.Last < 0 || t.First < t.Last && t.Stride < 0 ||
			t.First > t.Last && t.Stride > 0 || t.First+(t.Last-t.First)/t.Stride*t.Stride >= n {
			return nil, fmt.Errorf("%w: range %d from %d to %d by %d of a group of %d",
				errs.Arg, i, t.First, t.Last, t.Stride, n)
		}
		for k := range (t.Last-t.First)/t.Stride + 1 {
			if len(ranks) == n {
				return nil, fmt.Errorf("%w: range %d has ranks that have come before", errs.Arg, i)
			}
			ranks = append(ranks, t.First+k*t.Stride)
		}
	}
	_, err = g.chosen(ranks, errs.Arg)
	return ranks, err
}

// Union is the processes of a, then those of b that are not in a.
func Union(a, b *Group) *Group {
	list := slices.Clone(a.List())
	for r := range b.Size() {
		if p := b.At(r); !a.hasProcess(p) {
			list = append(list, p)
		}
	}
	return made(list, cmp.Or(a.owner, b.owner))
}

// Intersection is the processes of a that are in b.
func Intersection(a, b *Group) *Group { return a.filter(b.hasProcess) }

// Difference is the processes of a that are not in b.
func Difference(a, b *Group) *Group { return a.filter(func(p int32) bool { return !b.hasProcess(p) }) }

func (g *Group) hasProcess(process int32) bool {
	_, ok := g.RankOf(process)
	return ok
}

func (g *Group) filter(keep func(process int32) bool) *Group {
	var list []int32
	for r := range g.Size() {
		if p := g.At(r); keep(p) {
			list = append(list, p)
		}
	}
	return made(list, g.owner)
}

// Comparison is how two groups, or two communicators, compare; its numbers are those of the ABI.
type Comparison int

// Results of comparisons.
const (
	Ident     Comparison = 201 // the same processes in the same order; of communicators: the same one
	Congruent Comparison = 202 // of communicators: different ones, with the same processes in the same order
	Similar   Comparison = 203 // the same processes in another order
	Unequal   Comparison = 204
)

// String is the standard's name of the result.
func (c Comparison) String() string {
	switch c {
	case Ident:
		return "MPI_IDENT"
	case Congruent:
		return "MPI_CONGRUENT"
	case Similar:
		return "MPI_SIMILAR"
	case Unequal:
		return "MPI_UNEQUAL"
	}
	return fmt.Sprintf("comparison %d", int(c))
}

// Compare compares processes and their order. It does not give Congruent.
func Compare(a, b *Group) Comparison {
	if a.n != b.n {
		return Unequal
	}
	result := Ident
	for r := range a.Size() {
		p := a.At(r)
		if p == b.At(r) {
			continue
		}
		if !b.hasProcess(p) {
			return Unequal
		}
		result = Similar
	}
	return result
}

// Translate gives the ranks in group to of processes with these ranks in g: Undefined where there is none, ProcNull for
// ProcNull. errs.Rank: g has no such rank.
func (g *Group) Translate(ranks []int, to *Group) ([]int, error) {
	out := make([]int, len(ranks))
	for i, r := range ranks {
		switch {
		case r == ProcNull:
			out[i] = ProcNull
			continue
		case r < 0 || r >= int(g.n):
			return nil, fmt.Errorf("%w: rank %d, at place %d, of a group of %d", errs.Rank, r, i, g.n)
		}
		out[i] = Undefined
		if rank, ok := to.RankOf(g.At(r)); ok {
			out[i] = rank
		}
	}
	return out, nil
}
