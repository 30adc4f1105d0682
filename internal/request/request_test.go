package request

import (
	"sync"
	"testing"

	"github.com/golci/golci/internal/platform/arch"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/inside"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestLateNumbers: a number whose use has ended finds nothing, also when its slot is in use again, and also when
// generations begin anew.
func TestLateNumbers(t *testing.T) {
	var x Numbers[int]
	first, second := new(int), new(int)
	for _, gen := range []uint32{0, 5, 0x7ffffffe, 0x7fffffff} {
		if len(x.slots) > 0 {
			x.slots[0].gen = gen
		}
		late := x.Add(first)
		if x.Remove(late) != first {
			t.Fatalf("generation %d: the number is not that of its op", gen)
		}
		now := x.Add(second)
		if uint32(now) != uint32(late) {
			t.Fatal("the slot is not used again")
		}
		if now == late || now == 0 || now>>63 != 0 || late == 0 {
			t.Errorf("generation %d: numbers %#x and %#x", gen, late, now)
		}
		if x.Get(late) != nil || x.Remove(late) != nil {
			t.Errorf("generation %d: a late number finds an op", gen)
		}
		if x.Get(now) != second || x.Get(now+1) != nil {
			t.Errorf("generation %d: the number in use finds %v", gen, x.Get(now))
		}
		if x.Remove(now) != second || x.Used() != 0 {
			t.Errorf("generation %d: the number is still in use", gen)
		}
	}
}

// TestEach gives every operation in use with its number.
func TestEach(t *testing.T) {
	var x Numbers[int]
	want := make(map[uint64]*int)
	for i := range 10 {
		op := new(int)
		want[x.Add(op)] = op
		if i%3 == 0 {
			for n := range want {
				x.Remove(n)
				delete(want, n)
				break
			}
		}
	}
	x.Each(func(n uint64, op *int) {
		if want[n] != op {
			t.Errorf("number %#x", n)
		}
		delete(want, n)
	})
	if len(want) != 0 {
		t.Errorf("%d are missing", len(want))
	}
}

// TestManyUsers has goroutines take and give back operations: nobody has one that another has.
func TestManyUsers(t *testing.T) {
	var p Pool[int]
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			var mine []*int
			for i := range 5000 {
				op := p.Get()
				if op == nil {
					op = new(int)
				}
				*op = g
				mine = append(mine, op)
				if i%5 != 0 {
					continue
				}
				for _, op := range mine {
					if *op != g {
						t.Error("another has it, too")
						return
					}
					p.Put(op)
				}
				mine = mine[:0]
			}
		})
	}
	wg.Wait()
}

// TestPoolIsLocked: whoever takes from the common stack, or puts back to it, waits for its lock.
func TestPoolIsLocked(t *testing.T) {
	var p Pool[int]
	for range cached {
		p.pushTo(2, new(int)) // until the cache is full
	}
	for name, call := range map[string]func(){
		"pop":  func() { p.popFrom(1) },
		"push": func() { p.pushTo(2, new(int)) },
	} {
		p.mu.Lock()
		waits, ended := inside.Waits("spin.(*Lock).Lock", call)
		if !waits {
			t.Errorf("%s did not wait for the lock", name)
			continue
		}
		p.mu.Unlock()
		<-ended
	}
}

// TestPutterHasCache: a goroutine that only puts back what others have taken comes to the common stack once for many.
func TestPutterHasCache(t *testing.T) {
	if invariants.Race {
		t.Skip("no caches under the race detector")
	}
	var p Pool[int]
	for range cached {
		p.Put(new(int))
	}
	if len(p.stack) != 0 {
		t.Errorf("%d in the stack before the cache is full", len(p.stack))
	}
	p.Put(new(int))
	if got := len(p.stack); got != 1+cached/2 {
		t.Errorf("%d in the stack, want half of a cache and one", got)
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector has no caches of operations")
	}
	var p Pool[int]
	var x Numbers[int]
	p.Put(new(int))
	x.Remove(x.Add(new(int)))
	if n := testing.AllocsPerRun(1000, func() {
		op := p.Get()
		x.Remove(x.Add(op))
		p.Put(op)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestPlacesOfCollidingGoroutines: goroutines with the same first place get caches of their own, a few of them; each
// finds the same one again, and nobody gets that of another.
func TestPlacesOfCollidingGoroutines(t *testing.T) {
	var p Pool[int]
	var same []uintptr
	for g := uintptr(64); len(same) < places+2; g += 64 {
		if placeOf(g) == caches-1 { // the next place is the first one
			same = append(same, g)
		}
	}
	got := map[*Cache[int]]uintptr{}
	for i, g := range same {
		c := p.findCache(g)
		if (c != nil) != (i < places) || c != nil && got[c] != 0 {
			t.Errorf("goroutine %d: cache %p, of %x", i, c, got[c])
		}
		if c != p.findCache(g) {
			t.Errorf("goroutine %d does not find its cache again", i)
		}
		got[c] = g
	}
}

// TestPoolBesideItsFirstPlace: a goroutine whose first place is taken caches all the same.
func TestPoolBesideItsFirstPlace(t *testing.T) {
	if invariants.Race {
		t.Skip("no caches under the race detector")
	}
	var p Pool[int]
	p.firstPlace(arch.G()).owner.Store(1)
	ops := make([]*int, 3*cached)
	for i := range ops {
		ops[i] = new(int)
		p.Put(ops[i])
	}
	seen := map[*int]bool{}
	for range ops {
		seen[p.Get()] = true
	}
	c := p.findCache(arch.G())
	if len(seen) != len(ops) || seen[nil] || p.Get() != nil || c == nil || c == p.firstPlace(arch.G()) {
		t.Fatalf("%d of %d came back", len(seen), len(ops))
	}
	p.Put(ops[0])
	if len(p.stack) != 0 || c.n != 1 {
		t.Errorf("%d in the stack, %d in the cache", len(p.stack), c.n)
	}
}
