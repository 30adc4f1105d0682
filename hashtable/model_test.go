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
		keys[i] = base + (77-slot(base, t.log2))&t.mask
	}
	return keys
}

// model is what a table must do, in the plainest words: a slice of nodes under each key.
type model struct {
	t      testing.TB
	tab    *Table[int]
	keys   []uint64
	queues map[uint64]*queue
	claims []*Entry[int] // got from a match, to be emptied
}

type queue struct {
	side  Side
	nodes []*Node[int]
	entry *Entry[int] // if Insert made the queue and nothing came behind
}

// newModel has keys of three kinds: all in one bucket, neighbours, and far apart.
func newModel(t testing.TB) *model {
	tab := newTable(t, 1)
	keys := colliding(tab, 11)
	for i := range uint64(8) {
		keys = append(keys, 1000+i, i<<44|3)
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
		m.insert(key, side)
	case 4:
		m.match(key, side)
	case 5:
		m.remove(key, pick)
	case 6:
		m.empty(key, pick)
	case 7:
		m.peek(key, side)
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
	q.entry = nil
}

func (m *model) add(key uint64, side Side, n *Node[int], e *Entry[int]) {
	if q := m.queues[key]; q != nil {
		q.nodes, q.entry = append(q.nodes, n), nil
		return
	}
	m.queues[key] = &queue{side, []*Node[int]{n}, e}
}

func (m *model) same(what string, key uint64, got, want *Node[int]) {
	if got != want {
		m.t.Fatalf("%s of key %#x: got %p, want %p", what, key, got, want)
	}
	if got != nil && what != "Peek" && (got.next != nil || got.tail != nil) {
		m.t.Fatalf("%s of key %#x: node still linked", what, key)
	}
}

func (m *model) insertOrMatch(key uint64, side Side) {
	n := new(Node[int])
	want := m.pop(key, side.Other())
	m.same("InsertOrMatch", key, m.tab.InsertOrMatch(key, n, side), want)
	if want == nil {
		m.add(key, side, n, nil)
	}
}

func (m *model) insert(key uint64, side Side) {
	n := new(Node[int])
	q := m.queues[key]
	want := m.pop(key, side.Other())
	got, e := m.tab.Insert(key, n, side)
	m.same("Insert", key, got, want)
	wantEntry := q == nil || want != nil && len(q.nodes) == 0
	if (e != nil) != wantEntry {
		m.t.Fatalf("Insert of key %#x: entry %p, wanted one: %v", key, e, wantEntry)
	}
	switch {
	case q == nil:
		m.add(key, side, n, e)
	case e != nil:
		m.claims = append(m.claims, e)
	}
}

func (m *model) match(key uint64, side Side) {
	want := m.pop(key, side)
	m.same("Match", key, m.tab.Match(key, side), want)
}

func (m *model) remove(key uint64, pick uint) {
	q := m.queues[key]
	if q == nil {
		if m.tab.Remove(key, new(Node[int])) {
			m.t.Fatalf("Remove found a node under the unused key %#x", key)
		}
		return
	}
	i := int(pick % uint(len(q.nodes)))
	n := q.nodes[i]
	m.drop(key, i)
	if !m.tab.Remove(key, n) || m.tab.Remove(key, n) {
		m.t.Fatalf("Remove of node %d of key %#x: want true, then false", i, key)
	}
	m.same("Remove", key, n, n)
}

// empty frees a claimed entry, or withdraws what Insert has put under key.
func (m *model) empty(key uint64, pick uint) {
	if q := m.queues[key]; q != nil && q.entry != nil {
		q.entry.Empty()
		delete(m.queues, key)
		return
	}
	if len(m.claims) == 0 {
		return
	}
	i := int(pick % uint(len(m.claims)))
	m.claims[i].Empty()
	m.claims = slices.Delete(m.claims, i, i+1)
}

func (m *model) peek(key uint64, side Side) {
	var want *Node[int]
	if q := m.queues[key]; q != nil && q.side == side {
		want = q.nodes[0]
	}
	m.same("Peek", key, m.tab.Peek(key, side), want)
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
	for _, e := range m.claims {
		e.Empty()
	}
	for key, q := range m.queues {
		for _, n := range slices.Clone(q.nodes) {
			m.same("last Match", key, m.tab.Match(key, q.side), n)
		}
	}
	m.tab.sweep()
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
