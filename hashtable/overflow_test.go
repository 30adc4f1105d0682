package hashtable

import (
	"testing"

	"github.com/golci/golci/internal/invariants"
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
			tab.InsertOrMatch(keys[i], &nodes[i], Post)
		}
		for i := range nodes {
			j := (i*7 + r) % burst // in another order each time
			if !tab.Remove(keys[j], &nodes[j]) {
				t.Fatalf("round %d: node %d is gone", r, j)
			}
		}
	}
	if most := burst/perBucket + 1 + slabBuckets; tab.free.made > most {
		t.Errorf("%d overflow buckets made, at most %d were in use", tab.free.made, most)
	}
	checkEmpty(t, tab)
}

// TestEmptiedOverflowIsFound empties long chains in one bucket after the other without ever walking past them again.
func TestEmptiedOverflowIsFound(t *testing.T) {
	const burst = 31 // 3 in the head, 28 in ten overflow buckets
	tab := newTable(t, 1)
	keys := colliding(tab, burst)
	nodes := make([]Node[int], burst)
	entries := make([]*Entry[int], burst)
	for head := range uint64(20 * minBuckets) {
		for i := range nodes {
			_, entries[i] = tab.Insert(keys[i]+head%minBuckets, &nodes[i], Post)
			if entries[i] == nil {
				t.Fatalf("bucket %d: node %d refused", head, i)
			}
		}
		for _, e := range entries {
			e.Empty()
		}
	}
	// Without the sweep each bucket would keep ten.
	if most := minBuckets/4 + 4*burst; tab.free.made > most {
		t.Errorf("%d overflow buckets made, want at most %d", tab.free.made, most)
	}
	checkEmpty(t, tab)
}

// TestMixedOverflowIsFound has Insert use what InsertOrMatch has made room for, and empty it when that is gone.
func TestMixedOverflowIsFound(t *testing.T) {
	tab := newTable(t, 1)
	keys := colliding(tab, 2*perBucket)
	nodes := make([]Node[int], len(keys))
	for head := range uint64(20 * minBuckets) {
		at := head % minBuckets
		var entries []*Entry[int]
		for i, k := range keys {
			if i == perBucket { // makes the overflow bucket
				tab.InsertOrMatch(k+at, &nodes[i], Post)
				continue
			}
			_, e := tab.Insert(k+at, &nodes[i], Post)
			entries = append(entries, e)
		}
		if !tab.Remove(keys[perBucket]+at, &nodes[perBucket]) {
			t.Fatalf("bucket %d: the node that overflowed is gone", head)
		}
		for _, e := range entries {
			e.Empty()
		}
	}
	if most := minBuckets / 4; tab.free.made > most {
		t.Errorf("%d overflow buckets made, want at most %d", tab.free.made, most)
	}
	checkEmpty(t, tab)
}
