package hashtable

import (
	"testing"
	"unsafe"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newTable(t testing.TB, entries int) *Table[int] {
	t.Helper()
	tab, err := New[int](entries)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// put, match, remove and oldest are the calls on a group that is not sealed.
func put(tab *Table[int], key uint64, n *Node[int], side Side) *Node[int] {
	m, ok := tab.InsertOrMatch(key, n, side)
	if !ok {
		panic("refused")
	}
	return m
}

func match(tab *Table[int], key uint64, side Side) *Node[int] {
	n, ok := tab.Match(key, side)
	if !ok {
		panic("refused")
	}
	return n
}

func remove(tab *Table[int], key uint64, n *Node[int]) bool {
	removed, ok := tab.Remove(key, n)
	if !ok {
		panic("refused")
	}
	return removed
}

func oldest(tab *Table[int], key uint64, side Side) (n *Node[int]) {
	if !tab.View(key, side, func(v *int) { n = NodeOf(v) }) {
		panic("refused")
	}
	return n
}

func TestLayout(t *testing.T) {
	if s := unsafe.Sizeof(bucket[int]{}); s != bucketBytes {
		t.Errorf("bucket takes %d bytes, want %d", s, bucketBytes)
	}
	if s := unsafe.Sizeof(entry[int]{}); s != 16 {
		t.Errorf("entry takes %d bytes, want 16", s)
	}
	for _, entries := range []int{0, 1, 512, 513, 5000, 1 << 16} {
		tab := newTable(t, entries)
		if off := uintptr(unsafe.Pointer(tab.base)) % bucketBytes; off != 0 {
			t.Errorf("%d entries: array starts %d bytes into a line", entries, off)
		}
	}
	var f freeList[int]
	for range 100 {
		if off := uintptr(unsafe.Pointer(f.growSlab())) % bucketBytes; off != 0 {
			t.Fatalf("overflow bucket starts %d bytes into a line", off)
		}
	}
}

func TestNewSizes(t *testing.T) {
	for _, c := range []struct{ entries, buckets int }{{0, 512}, {512, 512}, {513, 1024}, {65536, 65536}, {65537, 131072}} {
		if got := newTable(t, c.entries).Buckets(); got != c.buckets {
			t.Errorf("New(%d) has %d buckets, want %d", c.entries, got, c.buckets)
		}
	}
	for _, entries := range []int{-1, maxBuckets + 1} {
		if _, err := New[int](entries); err == nil {
			t.Errorf("New(%d) returned no error", entries)
		}
	}
}

func TestInsertOrMatchFIFO(t *testing.T) {
	tab := newTable(t, 1)
	for _, side := range []Side{Post, Arrive} {
		var nodes [5]Node[int]
		for i := range nodes {
			if m := put(tab, 7, &nodes[i], side); m != nil {
				t.Fatalf("insert %d on %v matched", i, side)
			}
		}
		for i := range nodes {
			if m := put(tab, 7, new(Node[int]), side.Other()); m != &nodes[i] {
				t.Fatalf("match %d on %v: not the oldest", i, side)
			}
			if nodes[i].next != nil || nodes[i].tail != nil {
				t.Fatalf("node %d still linked", i)
			}
		}
	}
	if n := tab.Len(); n != 0 {
		t.Fatalf("%d nodes left", n)
	}
}

// Other is the side that matches s.
func (s Side) Other() Side { return s ^ 1 }
