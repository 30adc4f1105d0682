// Package hardware decides which ranks share a piece of hardware, for MPI_Comm_split_type and MPI_Get_hw_resource_info
// (7.4.2 and 9.1.2 of MPI-4.1). It is pure: the caller finds out where ranks are, and exchanges it.
package hardware

import (
	"slices"
	"strings"

	"github.com/golci/golci/mpi/internal/group"
)

// Kind is a kind of resource by its place in the list of kinds, or none, or any.
type Kind int

// Kinds that are of no list.
const (
	None Kind = -1 - iota // the rank wants no communicator, or the kind is not known
	Any                   // the largest kind that parts the ranks
)

// SharedMemory is the standard's name of the machine, the largest kind.
const SharedMemory = "mpi_shared_memory"

// Kinds are the names of kinds.
type Kinds struct {
	names []string
	parts int // how many are parts of a machine, with the machine itself; the others are sets
}

const scheme = "hwloc://"

// others are names that hwloc and MPICH use besides.
var others = map[string]string{
	"machine": SharedMemory, "socket": scheme + "Package", "hwthread": scheme + "PU",
	"l1dcache": scheme + "L1Cache", "l2ucache": scheme + "L2Cache", "l3ucache": scheme + "L3Cache",
}

// NewKinds makes the list: the machine, its parts from the largest to the smallest by hwloc's names, and sets of
// processes.
func NewKinds(parts, sets []string) *Kinds {
	k := &Kinds{names: []string{SharedMemory}, parts: 1 + len(parts)}
	for _, name := range parts {
		k.names = append(k.names, scheme+name)
	}
	k.names = append(k.names, sets...)
	return k
}

// Part is the kind of hardware of that name, None if it is not known. A name may lack hwloc's scheme; case does not
// count.
func (k *Kinds) Part(name string) Kind {
	if other, ok := others[strings.ToLower(name)]; ok {
		name = other
	}
	return find(k.names[:k.parts], 0, name, scheme+name)
}

// Set is the kind that stands for a set of processes, None if it is not known.
func (k *Kinds) Set(name string) Kind { return find(k.names[k.parts:], k.parts, name) }

func find(names []string, first int, forms ...string) Kind {
	i := slices.IndexFunc(names, func(n string) bool {
		return slices.ContainsFunc(forms, func(form string) bool { return strings.EqualFold(n, form) })
	})
	if i < 0 {
		return None
	}
	return Kind(first + i)
}

// Name is the name of a kind of the list; it is empty for the others.
func (k *Kinds) Name(kind Kind) string {
	if kind < 0 || int(kind) >= len(k.names) {
		return ""
	}
	return k.names[kind]
}

// Parts are the names of the machine and its parts, from the largest to the smallest.
func (k *Kinds) Parts() []string { return slices.Clone(k.names[:k.parts]) }

// Width is how many words tell of one rank.
func (k *Kinds) Width() int { return 1 + len(k.names) }

// Words tells what a rank wants and where it is, for the exchange. machine is a number of the machine that the rank is
// on. instances has a number for each other kind: which of the machine's parts has all threads of the rank, and which
// set of that kind the rank is in. A negative number says that there is none.
func (k *Kinds) Words(want Kind, machine uint64, instances []int) []uint64 {
	words := append(make([]uint64, 0, k.Width()), uint64(want-Any), machine)
	for _, n := range instances {
		words = append(words, uint64(n+1))
	}
	return words
}

// Split is the outcome for rank me of the words of all ranks, in the order of ranks. Ranks of one instance have the
// same color. A rank that gets no communicator has group.Undefined, and the kind None. Ranks that want different kinds
// get none; those that want None do not count.
func (k *Kinds) Split(all []uint64, me int) (color int, kind Kind) {
	t := table{k: k, all: all}
	want := t.want()
	colors := t.colors(want)
	if want == Any {
		want, colors = t.parting()
	}
	if want == None || colors[me] == group.Undefined {
		return group.Undefined, None
	}
	return colors[me], want
}

// table is the words of all ranks.
type table struct {
	k   *Kinds
	all []uint64
}

func (t table) ranks() int { return len(t.all) / t.k.Width() }

func (t table) rowOf(rank int) []uint64 { return t.all[rank*t.k.Width():][:t.k.Width()] }

func (t table) wants(rank int) Kind { return Kind(t.rowOf(rank)[0]) + Any }

// want is what all want that want something, None if they differ.
func (t table) want() Kind {
	want := None
	for r := range t.ranks() {
		w := t.wants(r)
		if w != None && want != None && w != want {
			return None
		}
		if w != None {
			want = w
		}
	}
	return want
}

// parting is the largest kind of hardware that parts the ranks: some share an instance, but not all share the same one.
func (t table) parting() (Kind, []int) {
	for kind := range Kind(t.k.parts) {
		colors := t.colors(kind)
		if slices.ContainsFunc(colors, func(c int) bool { return c != colors[0] }) {
			return kind, colors
		}
	}
	return None, nil
}

// colors gives each rank the first one of the same instance, group.Undefined if it is of none or wants none.
func (t table) colors(kind Kind) []int {
	colors, first := make([]int, t.ranks()), make(map[instance]int)
	for r := range colors {
		colors[r] = group.Undefined
		at := t.instance(r, kind)
		if at == (instance{}) || t.wants(r) == None {
			continue
		}
		if _, ok := first[at]; !ok {
			first[at] = r
		}
		colors[r] = first[at]
	}
	return colors
}

// instance is one resource of a kind. The zero value is none.
type instance struct{ machine, number uint64 }

func (t table) instance(rank int, kind Kind) instance {
	row := t.rowOf(rank)
	switch {
	case kind < 0:
		return instance{}
	case kind == 0:
		return instance{row[1], 1}
	case row[1+kind] == 0:
		return instance{}
	case int(kind) < t.k.parts:
		return instance{row[1], row[1+kind]}
	default: // a set may be on several machines
		return instance{1, row[1+kind]}
	}
}
