package hashtable

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the randomised tests; 0 takes one from the clock")

// newRand returns the test's source of randomness and logs how to repeat it.
func newRand(t testing.TB) *rand.Rand {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -run '^%s$' -seed %d", t.Name(), seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// colliding returns n keys of one bucket of t.
func colliding(t *Table[int], n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		base := uint64(i) << t.log2
		keys[i] = base + (77-slotOf(base, t.log2))&t.mask
	}
	return keys
}

// model is what a table must do, in the plainest words: a slice of nodes under each key.
type model struct {
	t      testing.TB
	tab    *Table[int]
	keys   []uint64
	queues map[uint64]*queue
}

type queue struct {
	side  Side
	nodes []*Node[int]
}

// newModel has keys of three kinds: all in one bucket, neighbours, and far apart.
func newModel(t testing.TB) *model {
	tab := newTable(t, 1)
	keys := colliding(tab, 11)
	for i := range uint64(8) {
		keys = append(keys, 1000+i, i<<46|3)
	}
	return &model{t: t, tab: tab, keys: keys, queues: map[uint64]*queue{}}
}

// step does one operation on both sides and compares; the numbers choose it.
func (m *model) step(op, which, pick uint) {
	key := m.keys[which%uint(len(m.keys))]
	side := Side(pick & 1)
	switch op % 8 {
	case 0, 1, 2:
		m.insertOrMatch(key, side)
	case 3:
		m.takeFunc(key, side, pick)
	case 4:
		m.match(key, side)
	case 5:
		m.remove(key, pick)
	case 6:
		m.move(key)
	case 7:
		m.view(key, side)
	}
}

// pop takes the oldest node that key has on side out of the model.
func (m *model) pop(key uint64, side Side) *Node[int] {
	q := m.queues[key]
	if q == nil || q.side != side {
		return nil
	}
	n := q.nodes[0]
	m.drop(key, 0)
	return n
}

func (m *model) drop(key uint64, i int) {
	q := m.queues[key]
	if q.nodes = slices.Delete(q.nodes, i, i+1); len(q.nodes) == 0 {
		delete(m.queues, key)
	}
}

func (m *model) add(key uint64, side Side, n *Node[int]) {
	if q := m.queues[key]; q != nil {
		q.nodes = append(q.nodes, n)
		return
	}
	m.queues[key] = &queue{side, []*Node[int]{n}}
}

func (m *model) same(what string, key uint64, got, want *Node[int]) {
	if got != want {
		m.t.Fatalf("%s of key %#x: got %p, want %p", what, key, got, want)
	}
	if got != nil && what != "View" && (got.next != nil || got.tail != nil) {
		m.t.Fatalf("%s of key %#x: node still linked", what, key)
	}
}

func (m *model) insertOrMatch(key uint64, side Side) {
	n := new(Node[int])
	want := m.pop(key, side.Other())
	m.same("InsertOrMatch", key, put(m.tab, key, n, side), want)
	if want == nil {
		m.add(key, side, n)
	}
}

func (m *model) match(key uint64, side Side) {
	want := m.pop(key, side)
	m.same("Match", key, match(m.tab, key, side), want)
}

func (m *model) remove(key uint64, pick uint) {
	q := m.queues[key]
	if q == nil {
		if remove(m.tab, key, new(Node[int])) {
			m.t.Fatalf("Remove found a node under the unused key %#x", key)
		}
		return
	}
	i := int(pick % uint(len(q.nodes)))
	n := q.nodes[i]
	m.drop(key, i)
	if !remove(m.tab, key, n) || remove(m.tab, key, n) {
		m.t.Fatalf("Remove of node %d of key %#x: want true, then false", i, key)
	}
	m.same("Remove", key, n, n)
}

// takeFunc takes a node by its place in the queue, or none.
func (m *model) takeFunc(key uint64, side Side, pick uint) {
	q := m.queues[key]
	var want *Node[int]
	i := int(pick % 5)
	if q != nil && q.side == side && i < len(q.nodes) {
		want = q.nodes[i]
		m.drop(key, i)
	}
	got, ok := m.tab.TakeFunc(key, side, func(v *int) bool { i--; return i < 0 })
	if !ok {
		m.t.Fatalf("TakeFunc of key %#x was refused", key)
	}
	m.same("TakeFunc", key, got, want)
}

// move seals the group of key, which is then refused, takes it out of the table and puts it back.
func (m *model) move(key uint64) {
	group := uint16(key >> groupShift)
	m.tab.Seal(group)
	if _, ok := m.tab.Match(key, Post); ok {
		m.t.Fatalf("key %#x of a sealed group was matched", key)
	}
	type item struct {
		key  uint64
		side Side
		n    *Node[int]
	}
	var out []item
	for i := range m.tab.Buckets() {
		m.tab.DrainBucket(i, group, func(key uint64, side Side, n *Node[int]) { out = append(out, item{key, side, n}) })
	}
	m.tab.Range(func(key uint64, _ Side, _ *Node[int]) bool {
		if key>>groupShift == uint64(group) {
			m.t.Fatalf("key %#x is left of group %d", key, group)
		}
		return true
	})
	for _, x := range out {
		m.tab.Restore(x.key, x.n, x.side)
	}
	m.tab.Unseal(group)
}

func (m *model) view(key uint64, side Side) {
	var want *Node[int]
	if q := m.queues[key]; q != nil && q.side == side {
		want = q.nodes[0]
	}
	m.same("View", key, oldest(m.tab, key, side), want)
}

// compare looks at the whole table.
func (m *model) compare() {
	got := map[uint64][]*Node[int]{}
	m.tab.Range(func(key uint64, side Side, n *Node[int]) bool {
		if q := m.queues[key]; q == nil || q.side != side {
			m.t.Fatalf("Range: key %#x on %v is not in the model", key, side)
		}
		got[key] = append(got[key], n)
		return true
	})
	total := 0
	for key, q := range m.queues {
		total += len(q.nodes)
		if !slices.Equal(got[key], q.nodes) {
			m.t.Fatalf("Range: key %#x has %d nodes, or in another order; want %d", key, len(got[key]), len(q.nodes))
		}
	}
	if n := m.tab.Len(); n != total {
		m.t.Fatalf("Len is %d, want %d", n, total)
	}
}

// finish empties the table, and looks for what stayed behind.
func (m *model) finish() {
	m.compare()
	for key, q := range m.queues {
		for _, n := range slices.Clone(q.nodes) {
			m.same("last Match", key, match(m.tab, key, q.side), n)
		}
	}
	if f := &m.tab.free; f.count != f.made {
		m.t.Fatalf("%d overflow buckets made, %d on the free list of an empty table", f.made, f.count)
	}
}

func TestModel(t *testing.T) {
	rng := newRand(t)
	for range 50 {
		m := newModel(t)
		for i := range 2000 {
			m.step(rng.Uint(), rng.Uint(), rng.Uint())
			if i%100 == 0 {
				m.compare()
			}
		}
		m.finish()
	}
}

func FuzzModel(f *testing.F) {
	f.Add([]byte{0, 0, 0, 3, 0, 1, 6, 0, 0, 0, 0, 1})
	f.Add([]byte("insert some, match some, empty some, and remove the others from the table"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		m := newModel(t)
		for ; len(ops) >= 3; ops = ops[3:] {
			m.step(uint(ops[0]), uint(ops[1]), uint(ops[2]))
		}
		m.finish()
	})
}
