package hashtable

import (
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

// TestOverflowIsGivenBack puts ten million nodes through chains of one bucket, a few dozen at a time.
func TestOverflowIsGivenBack(t *testing.T) {
	const burst = 40
	rounds := 10_000_000 / burst
	if invariants.Enabled || testing.Short() {
		rounds /= 100
	}
	tab := newTable(t, 1)
	keys := colliding(tab, burst)
	nodes := make([]Node[int], burst)
	for r := range rounds {
		for i := range nodes {
			put(tab, keys[i], &nodes[i], Post)
		}
		for i := range nodes {
			j := (i*7 + r) % burst // in another order each time
			if !remove(tab, keys[j], &nodes[j]) {
				t.Fatalf("round %d: node %d is gone", r, j)
			}
		}
	}
	if most := burst/perBucket + 1 + slabBuckets; tab.free.made > most {
		t.Errorf("%d overflow buckets made, at most %d were in use", tab.free.made, most)
	}
	checkEmpty(t, tab)
}

// TestNewKeysGoToTheHead: a new key takes a free place of the bucket before one of its overflow. So chains shrink.
func TestNewKeysGoToTheHead(t *testing.T) {
	tab := newTable(t, 1)
	keys := colliding(tab, 3*perBucket)
	nodes := make([]Node[int], len(keys))
	for i := range nodes {
		put(tab, keys[i], &nodes[i], Post)
	}
	for i := range perBucket { // what lies in the head; then what overflowed first comes again
		if !remove(tab, keys[i], &nodes[i]) || !remove(tab, keys[perBucket+i], &nodes[perBucket+i]) {
			t.Fatalf("node %d is gone", i)
		}
		put(tab, keys[perBucket+i], &nodes[perBucket+i], Post)
	}
	if n := chain(tab, keys[0]); n != 1 {
		t.Errorf("%d overflow buckets hold three keys, want 1", n)
	}
	for i := perBucket; i < len(nodes); i++ {
		if !remove(tab, keys[i], &nodes[i]) {
			t.Fatalf("node %d is gone", i)
		}
	}
	checkEmpty(t, tab)
}

// chain counts the overflow buckets of key's bucket.
func chain(tab *Table[int], key uint64) (n int) {
	for b := tab.bucketOf(key).next; b != nil; b = b.next {
		n++
	}
	return n
}

// TestMatchWhileTheLockIsLeft: an insertion releases the lock to get an overflow bucket. A node of the other side may
// come under its key meanwhile. The insertion must match it, not lie beside it.
func TestMatchWhileTheLockIsLeft(t *testing.T) {
	for name, meanwhile := range map[string]func(tab *Table[int], full []uint64, nodes []Node[int], n *Node[int]){
		"the match comes": func(tab *Table[int], full []uint64, _ []Node[int], n *Node[int]) {
			put(tab, full[perBucket], n, Arrive)
		},
		"the match comes and a place is left": func(tab *Table[int], full []uint64, nodes []Node[int], n *Node[int]) {
			put(tab, full[perBucket], n, Arrive)
			remove(tab, full[0], &nodes[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			tab := newTable(t, 1)
			keys := colliding(tab, perBucket+1)
			nodes := make([]Node[int], len(keys))
			for i := range perBucket {
				put(tab, keys[i], &nodes[i], Post)
			}
			arrival, calls := new(Node[int]), 0
			tab.lockLeft = func() {
				if calls++; calls == 1 {
					meanwhile(tab, keys, nodes, arrival)
				}
			}
			if m := put(tab, keys[perBucket], &nodes[perBucket], Post); m != arrival {
				t.Fatalf("matched %p, want what came meanwhile, %p", m, arrival)
			}
			if calls != 2 {
				t.Errorf("the lock was left %d times, want once by each insertion", calls)
			}
			for i := range perBucket {
				remove(tab, keys[i], &nodes[i])
			}
			checkEmpty(t, tab)
		})
	}
}

// TestSealedWhileTheLockIsLeft: a group is sealed while an insertion gets an overflow bucket. The insertion is refused.
func TestSealedWhileTheLockIsLeft(t *testing.T) {
	tab := newTable(t, 1)
	keys := colliding(tab, perBucket+1)
	nodes := make([]Node[int], len(keys))
	for i := range perBucket {
		put(tab, keys[i], &nodes[i], Post)
	}
	tab.lockLeft = func() { tab.Seal(0); tab.lockLeft = nil }
	if m, ok := tab.InsertOrMatch(keys[perBucket], &nodes[perBucket], Post); m != nil || ok {
		t.Fatalf("matched %p, taken: %v", m, ok)
	}
	if n := tab.Len(); n != perBucket {
		t.Errorf("%d nodes, want %d", n, perBucket)
	}
}
