package pool

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the randomised tests; 0 takes one from the clock")

func newSeed(t *testing.T) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -run '^%s$' -seed %d", t.Name(), seed)
	return seed
}

// TestConservation lets goroutines get and put in random bursts, at random places. Each item must be in one hand at a
// time, and in the pool at the end. Rings have just the room they need, so items also spill.
func TestConservation(t *testing.T) {
	const workers, items, steps = 4, 32, 20000
	seed := newSeed(t)
	p := newPool(t, workers, items, items/workers)
	var held [items]atomic.Bool
	var wg sync.WaitGroup
	for g := range uint64(6) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, g))
			var mine []*item
			put := func() {
				x := mine[len(mine)-1]
				mine = mine[:len(mine)-1]
				held[x.id].Store(false)
				if !p.Put(rng.IntN(workers+1)-1, x) {
					t.Errorf("no room for item %d", x.id)
				}
			}
			for range steps {
				if rng.IntN(2) == 0 && len(mine) > 0 {
					put()
					continue
				}
				x := p.Get(rng.IntN(workers+1) - 1)
				if x == nil {
					for len(mine) > 0 {
						put()
					}
					runtime.Gosched()
					continue
				}
				if held[x.id].Swap(true) {
					t.Errorf("item %d is in two hands", x.id)
				}
				mine = append(mine, x)
			}
			for len(mine) > 0 {
				put()
			}
		})
	}
	wg.Wait()
	if n := p.items(); n != items {
		t.Fatalf("%d items in the pool, want %d", n, items)
	}
	for range items {
		if x := p.Get(0); x == nil || held[x.id].Swap(true) {
			t.Fatal("an item is lost, or in the pool twice")
		}
	}
}

// TestOneItem has several goroutines after a single item, so that gets, puts and steals meet in one place.
func TestOneItem(t *testing.T) {
	const workers, rounds = 4, 3000
	p := newPool(t, workers, 1, 0)
	var wg sync.WaitGroup
	owned := 0 // by whoever has the item
	for g := range workers {
		wg.Go(func() {
			for n := 0; n < rounds; {
				x := p.Get(g)
				if x == nil {
					runtime.Gosched()
					continue
				}
				owned++
				n++
				p.Put(g, x)
			}
		})
	}
	wg.Wait()
	if owned != workers*rounds {
		t.Errorf("%d rounds counted, want %d: the item was in two hands", owned, workers*rounds)
	}
}

// TestMakesNoMoreThanLimit lets all workers run out of items at once.
func TestMakesNoMoreThanLimit(t *testing.T) {
	const workers, limit = 4, 100
	var made atomic.Int32
	p, err := New(Options[item]{Workers: workers, Limit: limit, New: func() *item { made.Add(1); return new(item) }})
	if err != nil {
		t.Fatal(err)
	}
	var got atomic.Int32
	var wg sync.WaitGroup
	for g := range workers {
		wg.Go(func() {
			for p.Get(g) != nil {
				got.Add(1)
			}
		})
	}
	wg.Wait()
	if made.Load() != limit || got.Load() != limit {
		t.Errorf("%d made, %d got, limit %d", made.Load(), got.Load(), limit)
	}
}

func TestStackConservation(t *testing.T) {
	const items, rounds = 8, 20000
	s, err := NewStack[atomic.Bool](items)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range rounds {
				a, b := s.Pop(), s.Pop()
				for _, e := range []*Elem[atomic.Bool]{a, b} {
					if e != nil && e.Value.Swap(true) {
						t.Error("an element is in two hands")
					}
				}
				for _, e := range []*Elem[atomic.Bool]{a, b} { // b, the lower one, ends on top: the ABA case
					if e != nil {
						e.Value.Store(false)
						s.Push(e)
					}
				}
			}
		})
	}
	wg.Wait()
	for range items {
		if s.Pop() == nil {
			t.Fatal("an element is lost")
		}
	}
	if s.Pop() != nil {
		t.Fatal("an element is there twice")
	}
}
