package hashtable

import (
	"testing"

	"github.com/golci/golci/internal/invariants"
)

func TestReservedAndNilAreRefused(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds end the program instead")
	}
	tab := newTable(t, 1)
	n := new(Node[int])
	if m := tab.InsertOrMatch(^uint64(0), n, Post); m != nil {
		t.Error("InsertOrMatch matched the reserved key")
	}
	if m, e := tab.Insert(^uint64(0), n, Post); m != nil || e != nil {
		t.Error("Insert took the reserved key")
	}
	if m := tab.InsertOrMatch(1, nil, Post); m != nil {
		t.Error("InsertOrMatch matched nil")
	}
	if m, e := tab.Insert(1, nil, Post); m != nil || e != nil {
		t.Error("Insert took nil")
	}
	if got := tab.Len(); got != 0 {
		t.Errorf("%d nodes in the table", got)
	}
	if m := tab.InsertOrMatch(1, n, Side(7)); m != nil || tab.Match(1, Side(7)) != n {
		t.Error("a side that is none must act as one of the two")
	}
}

func TestAbsent(t *testing.T) {
	tab := newTable(t, 1)
	for _, key := range []uint64{0, 1, Reserved - 1, ^uint64(0)} {
		if tab.Match(key, Post) != nil || tab.Peek(key, Arrive) != nil || tab.Remove(key, new(Node[int])) || tab.Remove(key, nil) {
			t.Errorf("found something under key %#x of an empty table", key)
		}
	}
	var e *Entry[int]
	e.Empty()
}

func TestRangeStopsAndUnlocks(t *testing.T) {
	tab := newTable(t, 1)
	for i := range uint64(10) {
		tab.InsertOrMatch(i, new(Node[int]), Post)
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
		tab.InsertOrMatch(5, &a, Post)
		tab.InsertOrMatch(5, &b, Post)
		tab.InsertOrMatch(5, &c, Arrive)
		tab.InsertOrMatch(5, &c, Arrive)
		for i, k := range keys {
			tab.InsertOrMatch(k, &nodes[i], Post)
		}
		for i, k := range keys {
			tab.Remove(k, &nodes[i])
		}
		tab.Insert(6, &a, Post)
		_, e := tab.Insert(6, &b, Arrive)
		e.Empty()
	}
	round() // makes the overflow buckets
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}
