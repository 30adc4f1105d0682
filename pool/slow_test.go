package pool

import (
	"fmt"
	"testing"
)

// TestSlowWaysDoTheSame: the ways that Get and Put take when they find a sub-pool locked give the same as the short
// ones, and leave the same behind.
func TestSlowWaysDoTheSame(t *testing.T) {
	const items = 5
	p := newPool(t, 3, 3*items, 8)
	for p.Get(0) != nil { // all rings are empty, and places used
	}
	var mine [items]item
	for i := range mine {
		if !p.putSlow(0, p.subs[0].seize(), &mine[i]) {
			t.Fatalf("no room for item %d in an empty pool", i)
		}
		if n := p.items(); n != i+1 || p.subs[0].len() != i+1 {
			t.Fatalf("%d items in the pool after %d, %d of them in the sub-pool that had room", n, i+1, p.subs[0].len())
		}
	}
	for i := items - 1; i >= 0; i-- {
		if got := p.getSlow(0, p.subs[0].seize()); got != &mine[i] {
			t.Fatalf("got %p, want item %d, the youngest", got, i)
		}
		if n := p.items(); n != i {
			t.Fatalf("%d items in the pool, want %d", n, i)
		}
	}
	if got := p.getSlow(0, p.subs[0].seize()); got != nil {
		t.Errorf("got %p from an empty pool", got)
	}
}

// TestRoom: rings have a power of two of places, by default for twice a sub-pool's share of the items.
func TestRoom(t *testing.T) {
	for _, x := range []struct{ workers, limit, room, want int }{
		{1, 1, 0, 1},
		{1, 10, 0, 16},
		{2, 8, 0, 8},
		{2, 10, 0, 16},
		{3, 10, 0, 8},
		{4, 64, 0, 32},
		{64, 100, 0, 4},
		{2, 10, 5, 8},
		{2, 10, 8, 8},
		{4, 10, 9, 16},
		{1, 1, 1, 1},
		{maxWorkers, maxRoom, 0, 1 << 15},
		{1, maxRoom, maxRoom, maxRoom},
	} {
		t.Run(fmt.Sprintf("workers=%d/limit=%d/room=%d", x.workers, x.limit, x.room), func(t *testing.T) {
			o := Options[item]{Workers: x.workers, Limit: x.limit, Initial: x.limit, Room: x.room, New: func() *item { return new(item) }}
			if err := o.complete(); err != nil || o.Room != x.want {
				t.Errorf("room for %d, want %d: %v", o.Room, x.want, err)
			}
		})
	}
}

// TestAllFindRoom: a pool of any size keeps as many items as it has made, and deals them out evenly.
func TestAllFindRoom(t *testing.T) {
	for _, workers := range []int{1, 3, 4} {
		for items := 1; items <= 40; items++ {
			p := newPool(t, workers, items, (items+workers-1)/workers)
			for i := range p.subs {
				if n := p.subs[i].len(); n != items/workers && n != items/workers+1 {
					t.Errorf("%d items for %d workers: %d in one sub-pool", items, workers, n)
				}
			}
			seen := map[*item]bool{}
			for x := p.Get(0); x != nil; x = p.Get(0) {
				seen[x] = true
			}
			for x := range seen {
				p.Put(1, x)
			}
			if n := p.items(); len(seen) != items || n != items {
				t.Errorf("%d items, %d came out and %d went back", items, len(seen), n)
			}
		}
	}
}
