package hashtable

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/inside"
)

// TestExactlyOnce: goroutines post, and others send arrivals, under a few keys. Each post must match one arrival, and
// each arrival one post.
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
				if m := put(tab, key[i%keys], n, side); m != nil {
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
	if tab.free.count != tab.free.made {
		t.Fatalf("%d overflow buckets made, %d free", tab.free.made, tab.free.count)
	}
}

// TestOverflowOfManyBuckets: each goroutine fills and empties a bucket of its own. They share only the source of
// overflow buckets. No overflow bucket may go to two of them, or be lost.
func TestOverflowOfManyBuckets(t *testing.T) {
	const goroutines, most = 4, 4 * perBucket
	rounds := 20_000
	if invariants.Enabled {
		rounds /= 20
	}
	tab := newTable(t, 1)
	keys := colliding(tab, most)
	var wg sync.WaitGroup
	gate := make(chan struct{}) // so that all of them are at it at the same time
	for g := range uint64(goroutines) {
		wg.Go(func() {
			nodes := make([]Node[int], most)
			<-gate
			for r := range rounds {
				n := perBucket + 1 + r%(most-perBucket)
				for i := range n {
					if m := put(tab, keys[i]+g, &nodes[i], Post); m != nil {
						t.Errorf("bucket %d: matched in round %d", g, r)
						return
					}
				}
				for i := range n {
					if m := match(tab, keys[i]+g, Post); m != &nodes[i] {
						t.Errorf("bucket %d: got %p in round %d, want node %d", g, m, r, i)
						return
					}
				}
			}
		})
	}
	close(gate)
	wg.Wait()
	checkEmpty(t, tab)
}

// TestFreeListIsLocked: whoever takes from the list, or puts to it, waits for its lock.
func TestFreeListIsLocked(t *testing.T) {
	for name, call := range map[string]func(f *freeList[int]){
		"get":  func(f *freeList[int]) { f.getBucket() },
		"put":  func(f *freeList[int]) { f.putBuckets(new(bucket[int])) },
		"grow": func(f *freeList[int]) { f.growSlab() },
	} {
		f := new(freeList[int])
		f.lock.Lock()
		waits, ended := inside.Waits("spin.(*Lock).Lock", func() { call(f) })
		if !waits {
			t.Errorf("%s did not wait for the lock", name)
			continue
		}
		if f.made != 0 || f.count != 0 {
			t.Errorf("%s counted %d made, %d free, before it had the lock", name, f.made, f.count)
		}
		f.lock.Unlock()
		<-ended
	}
}

// TestOrderUnderLoad: with one poster and one matcher a key, posts match in their order.
func TestOrderUnderLoad(t *testing.T) {
	const keys, each = 3, 30000
	tab := newTable(t, 1)
	key := colliding(tab, keys)
	var wg sync.WaitGroup
	for k := range keys {
		wg.Go(func() {
			for i := range each {
				put(tab, key[k], &Node[int]{Value: i}, Post)
			}
		})
		wg.Go(func() {
			for i := 0; i < each; {
				n := match(tab, key[k], Post)
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

// TestRemoveAgainstMatch: one goroutine removes nodes while another matches them. Exactly one of the two gets each
// node.
func TestRemoveAgainstMatch(t *testing.T) {
	const rounds, burst = 3000, 5
	tab := newTable(t, 1)
	var got [rounds * burst]atomic.Int32
	for r := range rounds {
		nodes := make([]Node[int], burst)
		for i := range nodes {
			nodes[i].Value = r*burst + i
			put(tab, 9, &nodes[i], Post)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range nodes {
				if n := &nodes[burst-1-i]; remove(tab, 9, n) {
					got[n.Value].Add(1)
				}
			}
		})
		for range burst {
			if n := match(tab, 9, Post); n != nil {
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

// TestSealAgainstInsert moves a group out of the table and back while others post and match in it. Nothing is lost, and
// a refused call finds the group sealed.
func TestSealAgainstInsert(t *testing.T) {
	const pairs, each, group = 3, 20000, 5
	tab := newTable(t, 1)
	keys := colliding(tab, 4)
	for i := range keys {
		keys[i] = group<<groupShift | keys[i]
	}
	var matched, refused atomic.Int64
	var stop atomic.Bool
	var wg, mover sync.WaitGroup
	for g := range 2 * pairs {
		wg.Go(func() {
			for i := range each {
				n := new(Node[int])
				for {
					m, ok := tab.InsertOrMatch(keys[i%len(keys)], n, Side(g%2))
					if m != nil {
						matched.Add(2)
					}
					if ok {
						break
					}
					refused.Add(1)
					runtime.Gosched()
				}
			}
		})
	}
	mover.Go(func() {
		for !stop.Load() {
			tab.Seal(group)
			type item struct {
				key  uint64
				side Side
				n    *Node[int]
			}
			var out []item
			for i := range tab.Buckets() {
				tab.DrainBucket(i, group, func(key uint64, side Side, n *Node[int]) { out = append(out, item{key, side, n}) })
			}
			if n := tab.Len(); n != 0 {
				t.Errorf("%d nodes of a sealed group are left", n)
			}
			for _, x := range out {
				tab.Restore(x.key, x.n, x.side)
			}
			tab.Unseal(group)
			runtime.Gosched()
		}
	})
	wg.Wait()
	stop.Store(true)
	mover.Wait()
	if got, left := matched.Load(), tab.Len(); got+int64(left) != 2*pairs*each || left != 0 {
		t.Errorf("%d of %d nodes matched, %d are left (%d calls were refused)", got, 2*pairs*each, left, refused.Load())
	}
	checkEmpty(t, tab)
}

// TestRangeUnderLoad: Range finds only nodes that were put in, while nodes come and go.
func TestRangeUnderLoad(t *testing.T) {
	tab := newTable(t, 1)
	key := colliding(tab, 8)
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		defer stop.Store(true)
		for i := range 20000 {
			n := &Node[int]{Value: 42}
			put(tab, key[i%8], n, Post)
			if i%8 == 7 {
				for _, k := range key {
					put(tab, k, new(Node[int]), Arrive)
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
