package hashtable

import (
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

func TestNilIsRefused(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds end the program instead")
	}
	tab := newTable(t, 1)
	n := new(Node[int])
	if m := put(tab, 1, nil, Post); m != nil {
		t.Error("InsertOrMatch matched nil")
	}
	if got := tab.Len(); got != 0 {
		t.Errorf("%d nodes in the table", got)
	}
	if m := put(tab, 1, n, Side(7)); m != nil || match(tab, 1, Side(7)) != n {
		t.Error("a side that is none must act as one of the two")
	}
}

func TestAbsent(t *testing.T) {
	tab := newTable(t, 1)
	for _, key := range []uint64{0, 1, Reserved - 1, ^uint64(0)} {
		if match(tab, key, Post) != nil || oldest(tab, key, Arrive) != nil || remove(tab, key, new(Node[int])) || remove(tab, key, nil) {
			t.Errorf("found something under key %#x of an empty table", key)
		}
	}
}

func TestRangeStopsAndUnlocks(t *testing.T) {
	tab := newTable(t, 1)
	for i := range uint64(10) {
		put(tab, i, new(Node[int]), Post)
	}
	calls := 0
	tab.Range(func(uint64, Side, *Node[int]) bool { calls++; return calls < 3 })
	if calls != 3 {
		t.Errorf("%d calls after false", calls)
	}
	func() {
		defer func() { _ = recover() }()
		tab.Range(func(uint64, Side, *Node[int]) bool { panic("in f") })
	}()
	if n := tab.Len(); n != 10 {
		t.Errorf("%d nodes after a panic in Range, want 10", n)
	}
}

func TestSideString(t *testing.T) {
	if s := Post.String() + " " + Arrive.String() + " " + Side(9).String(); s != "post arrive side(9)" {
		t.Error(s)
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking build")
	}
	tab := newTable(t, 1)
	var a, b, c Node[int]
	keys := colliding(tab, 9)
	nodes := make([]Node[int], len(keys))
	round := func() {
		put(tab, 5, &a, Post)
		put(tab, 5, &b, Post)
		put(tab, 5, &c, Arrive)
		put(tab, 5, &c, Arrive)
		for i, k := range keys {
			put(tab, k, &nodes[i], Post)
		}
		for i, k := range keys {
			remove(tab, k, &nodes[i])
		}
		put(tab, 6, &a, Post)
		put(tab, 6, &b, Arrive)
	}
	round() // makes the overflow buckets
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}
