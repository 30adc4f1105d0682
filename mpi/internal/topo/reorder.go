package topo

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
)

// Reorder places ranks on processes so that ranks with much traffic share nodes: rank r of the result is process
// place[r]. nodes[p] is the node of process p, any number; there may be more processes than ranks. hints are lists
// with a part for each rank, from 0 on, which may be good choices of ranks for a node each. The weight between nodes
// (cutTraffic) is never above that of place[r] = r, which is the result where nothing better is found.
//
// All ranks get the same result from the same arguments. errs.Topology: there are more ranks than processes.
func Reorder(t *Traffic, nodes []int, hints ...[]int) (place []int, err error) {
	n := t.countRanks()
	if n > len(nodes) {
		return nil, fmt.Errorf("%w: %d ranks, %d processes", errs.Topology, n, len(nodes))
	}
	m := newMachine(nodes)
	same := make([]int, n)
	for r := range same {
		same[r] = m.of[r]
	}
	best, cut := same, t.cutWeight(same)
	tries := [][]int{slices.Clone(same), m.filled(n), grow(t, m)}
	if fit := m.fitting(n, hints); len(fit) > 0 {
		byCut := func(a, b []int) int { return cmp.Compare(t.cutWeight(a), t.cutWeight(b)) }
		tries = append(tries, slices.MinFunc(fit, byCut))
	}
	for _, part := range tries {
		refine(t, part, m)
		if c := t.cutWeight(part); c < cut {
			best, cut = part, c
		}
	}
	return m.placeParts(best), nil
}

// machine is nodes in the order in which they are filled: the one with the most processes first.
type machine struct {
	of        []int   // node of each process, numbered in this order
	processes [][]int // of each node
}

func newMachine(nodes []int) *machine {
	number := make(map[int]int)
	m := &machine{of: make([]int, len(nodes))}
	for p, node := range nodes {
		i, seen := number[node]
		if !seen {
			i = len(m.processes)
			number[node] = i
			m.processes = append(m.processes, nil)
		}
		m.processes[i] = append(m.processes[i], p)
	}
	slices.SortStableFunc(m.processes, func(a, b []int) int { return len(b) - len(a) })
	for i, list := range m.processes {
		for _, p := range list {
			m.of[p] = i
		}
	}
	return m
}

// filled fills node after node with ranks in their order.
func (m *machine) filled(ranks int) []int {
	part := make([]int, 0, ranks)
	for i, list := range m.processes {
		for range min(len(list), ranks-len(part)) {
			part = append(part, i)
		}
	}
	return part
}

// fitting is copies of those lists that have a part for each rank and no more ranks in a part than the node has
// processes. The fullest part goes to the largest node.
func (m *machine) fitting(ranks int, hints [][]int) (fit [][]int) {
	for _, hint := range hints {
		if part, ok := m.fitsParts(ranks, hint); ok {
			fit = append(fit, part)
		}
	}
	return fit
}

func (m *machine) fitsParts(ranks int, hint []int) (part []int, ok bool) {
	if len(hint) != ranks || ranks == 0 || slices.Min(hint) < 0 || slices.Max(hint) >= len(m.processes) {
		return nil, false
	}
	count := make([]int, len(m.processes))
	for _, p := range hint {
		count[p]++
	}
	node := make([]int, len(count)) // of each part
	order := make([]int, len(count))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return count[b] - count[a] })
	for i, p := range order {
		if node[p] = i; count[p] > len(m.processes[i]) {
			return nil, false
		}
	}
	part = make([]int, ranks)
	for r, p := range hint {
		part[r] = node[p]
	}
	return part, true
}

// placeParts gives the ranks of each node its processes, both in order.
func (m *machine) placeParts(part []int) []int {
	next := make([]int, len(m.processes))
	place := make([]int, len(part))
	for r, node := range part {
		place[r] = m.processes[node][next[node]]
		next[node]++
	}
	return place
}

// grow fills node after node. Each time it takes the rank with the most traffic to those on the node, then to all that
// are placed, then that which was reached first. The last rule makes round clusters of grids instead of strips.
func grow(t *Traffic, m *machine) []int {
	g := &growth{t: t, part: make([]int, t.countRanks()), all: make(map[int]int64)}
	for r := range g.part {
		g.part[r] = -1
		g.since = append(g.since, never)
		g.front = append(g.front, candidate{rank: r, since: never})
	}
	left := t.countRanks()
	for node, list := range m.processes {
		g.here = make(map[int]int64)
		for range min(len(list), left) {
			g.takeNode(node)
			left--
		}
	}
	return g.part
}

// growth keeps candidates in a heap. A rank is pushed again when its traffic grows; of its candidates only that with
// the present sums counts.
type growth struct {
	t     *Traffic
	part  []int
	here  map[int]int64 // traffic of ranks with the node that is being filled
	all   map[int]int64 // with all ranks placed
	since []int         // when a rank was first reached; never: not yet
	clock int
	front candidateHeap
}

type candidate struct {
	rank, since int
	here, all   int64
}

// never is later than all times.
const never = math.MaxInt

func (g *growth) now(rank int) candidate {
	return candidate{rank, g.since[rank], g.here[rank], g.all[rank]}
}

// takeNode puts the best rank on a node.
func (g *growth) takeNode(node int) {
	for {
		c := heap.Pop(&g.front).(candidate)
		if g.part[c.rank] >= 0 {
			continue
		}
		if now := g.now(c.rank); now != c {
			heap.Push(&g.front, now)
			continue
		}
		g.part[c.rank] = node
		for _, l := range g.t.linksOf(c.rank) {
			if g.part[l.to] < 0 {
				g.here[l.to] += l.weight
				g.all[l.to] += l.weight
				if g.since[l.to] == never {
					g.clock++
					g.since[l.to] = g.clock
				}
				heap.Push(&g.front, g.now(l.to))
			}
		}
		return
	}
}

// candidateHeap is a heap with the best candidate first.
type candidateHeap []candidate

func (f candidateHeap) Len() int      { return len(f) }
func (f candidateHeap) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *candidateHeap) Push(x any)   { *f = append(*f, x.(candidate)) }
func (f *candidateHeap) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}

func (f candidateHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(f[j].here, f[i].here), cmp.Compare(f[j].all, f[i].all),
		cmp.Compare(f[i].since, f[j].since), cmp.Compare(f[i].rank, f[j].rank)) < 0
}
