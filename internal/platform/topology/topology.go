// Package topology tells which CPUs this process may use, and how they share packages, cores, caches and memory
// nodes. On Linux it reads the relations from /sys. On other systems every CPU counts as a core of its own, and the
// processor tells its caches.
package topology

import (
	"cmp"
	"slices"

	"github.com/golci/golci/internal/platform/affinity"
)

// CPU is one logical processor. Unknown numbers are 0; an unknown core is the CPU's own number.
type CPU struct {
	ID      int // the kernel's number
	Package int // socket
	Core    int // physical core, unique only within its package
	Node    int // NUMA node
	LLC     int // lowest CPU that shares the last-level cache
}

// Cache is one level and type of cache. Bytes, Line and Shared are those of one instance.
type Cache struct {
	Level  int
	Type   string // Data, Instruction or Unified
	Bytes  int64
	Line   int64 // bytes in a line
	Shared int   // CPUs that share one instance; 0 if not known
	Count  int   // instances seen by the usable CPUs; 0 if not known
}

// Map holds the CPUs that the process may use, and their caches.
type Map struct {
	CPUs   []CPU // in an order that keeps near ones together
	Caches []Cache
}

// Read reads the topology now, from files. Unknown numbers stay 0. If the usable CPUs are unknown the Map has none.
func Read() Map {
	m := Map{}
	for _, id := range affinity.Get() {
		m.CPUs = append(m.CPUs, readCPU(id))
	}
	slices.SortFunc(m.CPUs, nearerFirst)
	if m.Caches = readCaches(m.CPUs); len(m.Caches) == 0 {
		m.Caches = processorCaches()
	}
	return m
}

// nearerFirst is an order that puts CPUs which share more next to each other.
func nearerFirst(a, b CPU) int {
	return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Node, b.Node), cmp.Compare(a.LLC, b.LLC),
		cmp.Compare(a.Core, b.Core), cmp.Compare(a.ID, b.ID))
}

// Cores groups the usable CPUs by physical core, in the order of CPUs.
func (m Map) Cores() [][]int {
	type place struct{ pkg, core int }
	at := map[place]int{}
	var out [][]int
	for _, c := range m.CPUs {
		p := place{c.Package, c.Core}
		i, ok := at[p]
		if !ok {
			i = len(out)
			at[p] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], c.ID)
	}
	return out
}

// Count returns the number of different values of f over the usable CPUs.
func (m Map) Count(f func(CPU) int) int {
	seen := map[int]bool{}
	for _, c := range m.CPUs {
		seen[f(c)] = true
	}
	return len(seen)
}

// Deal splits the usable cores among n ranks: neighbouring cores with all their CPUs, one more or less. With fewer
// cores than ranks, or n below 1, it returns nil, because binding would only hurt.
func (m Map) Deal(n int) [][]int {
	cores := m.Cores()
	if n < 1 || n > len(cores) {
		return nil
	}
	out := make([][]int, n)
	for i := range out {
		for _, cpus := range cores[i*len(cores)/n : (i+1)*len(cores)/n] {
			out[i] = append(out[i], cpus...)
		}
	}
	return out
}
