package hashtable

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestExactlyOnce lets goroutines post and others send arrivals under a few keys, and wants each post matched with one
// arrival and the other way round.
func TestExactlyOnce(t *testing.T) {
	const pairs, each, keys = 4, 20000, 7
	tab := newTable(t, 1)
	key := colliding(tab, keys)
	var seen [2][pairs * each]atomic.Int32 // by side, how often each node came out
	out := func(side Side, n *Node[int]) {
		if seen[side][n.Value].Add(1) != 1 {
			t.Errorf("%v %d came out twice", side, n.Value)
		}
	}
	var wg sync.WaitGroup
	for g := range 2 * pairs {
		side := Side(g % 2)
		wg.Go(func() {
			for i := range each {
				n := &Node[int]{Value: g/2*each + i}
				if m := tab.InsertOrMatch(key[i%keys], n, side); m != nil {
					out(side, n)
					out(side.Other(), m)
				}
			}
		})
	}
	wg.Wait()
	for side := range seen {
		for i := range seen[side] {
			if c := seen[side][i].Load(); c != 1 {
				t.Fatalf("%v %d came out %d times", Side(side), i, c)
			}
		}
	}
	checkEmpty(t, tab)
}

func checkEmpty(t *testing.T, tab *Table[int]) {
	t.Helper()
	if n := tab.Len(); n != 0 {
		t.Fatalf("%d nodes left", n)
	}
	tab.sweep()
	if tab.free.count != tab.free.made {
		t.Fatalf("%d overflow buckets made, %d free", tab.free.made, tab.free.count)
	}
}

// TestOrderUnderLoad has one poster and one matcher a key, and wants the posts in their order.
func TestOrderUnderLoad(t *testing.T) {
	const keys, each = 3, 30000
	tab := newTable(t, 1)
	key := colliding(tab, keys)
	var wg sync.WaitGroup
	for k := range keys {
		wg.Go(func() {
			for i := range each {
				tab.InsertOrMatch(key[k], &Node[int]{Value: i}, Post)
			}
		})
		wg.Go(func() {
			for i := 0; i < each; {
				n := tab.Match(key[k], Post)
				if n == nil {
					runtime.Gosched()
					continue
				}
				if n.Value != i {
					t.Errorf("key %d: got post %d, want %d", k, n.Value, i)
					return
				}
				i++
			}
		})
	}
	wg.Wait()
}

// TestRemoveAgainstMatch lets a goroutine withdraw what another matches: exactly one of them gets each node.
func TestRemoveAgainstMatch(t *testing.T) {
	const rounds, burst = 3000, 5
	tab := newTable(t, 1)
	var got [rounds * burst]atomic.Int32
	for r := range rounds {
		nodes := make([]Node[int], burst)
		for i := range nodes {
			nodes[i].Value = r*burst + i
			tab.InsertOrMatch(9, &nodes[i], Post)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range nodes {
				if n := &nodes[burst-1-i]; tab.Remove(9, n) {
					got[n.Value].Add(1)
				}
			}
		})
		for range burst {
			if n := tab.Match(9, Post); n != nil {
				got[n.Value].Add(1)
			}
		}
		wg.Wait()
	}
	for i := range got {
		if c := got[i].Load(); c != 1 {
			t.Fatalf("node %d came out %d times", i, c)
		}
	}
	checkEmpty(t, tab)
}

// TestEmptyAgainstInsert empties entries without the lock while others fill and walk the same chain.
func TestEmptyAgainstInsert(t *testing.T) {
	const goroutines, rounds = 6, 20000
	tab := newTable(t, 1)
	key := colliding(tab, 2*goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			post, arrive := &Node[int]{Value: g}, &Node[int]{Value: -g}
			for r := range rounds {
				k := key[2*g+r%2]
				m, e := tab.Insert(k, post, Post)
				if m != nil || e == nil {
					t.Errorf("goroutine %d: the key was in use", g)
					return
				}
				if r%3 == 0 { // withdraw
					e.Empty()
					continue
				}
				m, e = tab.Insert(k, arrive, Arrive)
				if m != post || e == nil {
					t.Errorf("goroutine %d: matched %p, want %p", g, m, post)
					return
				}
				e.Empty()
			}
		})
	}
	wg.Wait()
	checkEmpty(t, tab)
}

// TestRangeUnderLoad walks while nodes come and go, and wants only nodes that were put in.
func TestRangeUnderLoad(t *testing.T) {
	tab := newTable(t, 1)
	key := colliding(tab, 8)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		defer stop.Store(true)
		for i := range 20000 {
			n := &Node[int]{Value: 42}
			tab.InsertOrMatch(key[i%8], n, Post)
			if i%8 == 7 {
				for _, k := range key {
					tab.InsertOrMatch(k, new(Node[int]), Arrive)
				}
			}
		}
	})
	for !stop.Load() {
		tab.Range(func(key uint64, side Side, n *Node[int]) bool {
			if n.Value != 42 || side != Post {
				t.Errorf("key %#x: a node that nobody put in", key)
			}
			return true
		})
	}
	wg.Wait()
}
