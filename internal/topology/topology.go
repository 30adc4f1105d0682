// Package topology tells what cores this process may use, and how they are related (package, core, caches, memory
// node). The relations come from /sys on Linux; elsewhere every CPU is a core of its own, and the processor tells its
// caches.
package topology

import (
	"cmp"
	"slices"

	"github.com/golci/golci/internal/affinity"
)

// CPU is one logical processor. A number that the system does not tell is 0.
type CPU struct {
	ID      int // the kernel's number
	Package int // socket
	Core    int // physical core, unique only within its package
	Node    int // NUMA node
	LLC     int // lowest CPU that shares the last-level cache
}

// Cache is one level and kind of cache, with the numbers of one instance.
type Cache struct {
	Level  int
	Type   string // Data, Instruction or Unified
	Bytes  int64
	Line   int64 // bytes in a line
	Shared int   // CPUs that share one instance; 0 if not known
	Count  int   // instances seen by the usable CPUs; 0 if not known
}

// Map is what the process may use.
type Map struct {
	CPUs   []CPU // usable ones, near ones next to each other
	Caches []Cache
}

// Read looks at the machine now. It cannot fail: what is not known stays 0, and there are no CPUs if the kernel does
// not tell those that may be used.
func Read() Map {
	m := Map{}
	for _, id := range affinity.Get() {
		m.CPUs = append(m.CPUs, readCPU(id))
	}
	slices.SortFunc(m.CPUs, nearer)
	if m.Caches = readCaches(m.CPUs); len(m.Caches) == 0 {
		m.Caches = processorCaches()
	}
	return m
}

// nearer orders CPUs so that those which share more are closer together.
func nearer(a, b CPU) int {
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

// Count returns how many different values f has over the usable CPUs.
func (m Map) Count(f func(CPU) int) int {
	seen := map[int]bool{}
	for _, c := range m.CPUs {
		seen[f(c)] = true
	}
	return len(seen)
}

// Deal splits the usable cores among n ranks: neighbours for each, as equal shares as can be, all CPUs of a core to the
// same rank. It returns nil when there are fewer cores than ranks: binding would then only hurt.
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
