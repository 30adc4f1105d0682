package pool

import (
	"errors"
	"testing"
	"unsafe"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/platform/spin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type item struct {
	id int
	_  [56]byte
}

// newPool makes a full pool whose items are numbered from 0.
func newPool(t testing.TB, workers, items, room int) *Pool[item] {
	t.Helper()
	id := 0
	p, err := New(Options[item]{
		Workers: workers, Room: room, Limit: items, Initial: items,
		New: func() *item { id++; return &item{id: id - 1} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// len returns the number of items; of a locked deque, the number once the lock is free.
func (d *deque[T]) len() int {
	for n := 0; ; n++ {
		if w := word(d.ctl.Load()); w != busy {
			return int(w.packetCount())
		}
		spin.Pause(n)
	}
}

// items is the number of items in the pool. While others use it, that is an estimate.
func (p *Pool[T]) items() (n int) {
	for i := range p.subs {
		n += p.subs[i].len()
	}
	return n
}

func TestLayout(t *testing.T) {
	if s := unsafe.Sizeof(deque[item]{}); s != 128 {
		t.Errorf("deque takes %d bytes, want 128", s)
	}
	if o := unsafe.Offsetof(Pool[item]{}.made); o < 128 {
		t.Errorf("counters %d bytes after what every call reads", o)
	}
}

func TestOptions(t *testing.T) {
	good := Options[item]{Workers: 2, Limit: 8, New: func() *item { return new(item) }}
	for name, change := range map[string]func(*Options[item]){
		"no workers":       func(o *Options[item]) { o.Workers = 0 },
		"too many workers": func(o *Options[item]) { o.Workers = maxWorkers + 1 },
		"no New":           func(o *Options[item]) { o.New = nil },
		"no limit":         func(o *Options[item]) { o.Limit = 0 },
		"huge limit":       func(o *Options[item]) { o.Limit = maxRoom + 1 },
		"initial < 0":      func(o *Options[item]) { o.Initial = -1 },
		"initial > limit":  func(o *Options[item]) { o.Initial = 9 },
		"room < 0":         func(o *Options[item]) { o.Room = -1 },
		"room too big":     func(o *Options[item]) { o.Room = maxRoom + 1 },
		"room too small":   func(o *Options[item]) { o.Room = 2 },
		"New returns nil":  func(o *Options[item]) { o.Initial, o.New = 1, func() *item { return nil } },
	} {
		o := good
		change(&o)
		if _, err := New(o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
	for _, n := range []int{-1, 0, maxRoom + 1} {
		if _, err := NewStack[item](n); !errors.Is(err, ErrOptions) {
			t.Errorf("NewStack(%d): %v", n, err)
		}
	}
}

func TestLastInFirstOut(t *testing.T) {
	p := newPool(t, 2, 16, 16)
	a, b, c := p.Get(0), p.Get(0), p.Get(0)
	for _, x := range []*item{b, c, a} {
		p.Put(0, x)
	}
	for i, want := range []*item{a, c, b} {
		if got := p.Get(0); got != want {
			t.Errorf("Get %d: item %d, want %d", i, got.id, want.id)
		}
	}
}

// TestStealsOldest: one worker has all items, and the other takes them from the bottom.
func TestStealsOldest(t *testing.T) {
	const n = 8
	p := newPool(t, 2, n, n)
	var all []*item
	for range n {
		all = append(all, p.Get(0)) // its own half, then the other's
	}
	for _, x := range all {
		p.Put(0, x)
	}
	for i := range n / 2 {
		if got := p.Get(1); got != all[i] {
			t.Errorf("steal %d: item %d, want %d", i, got.id, all[i].id)
		}
	}
	if got := p.Get(0); got != all[n-1] {
		t.Errorf("owner got item %d, want %d, the youngest", got.id, all[n-1].id)
	}
}

// TestStealsFromAll: a thief finds items in each of many sub-pools, and never looks at its own twice.
func TestStealsFromAll(t *testing.T) {
	const workers = 7
	for thief := range workers {
		p := newPool(t, workers, workers, workers)
		seen := map[*deque[item]]bool{}
		p.others(thief, func(d *deque[item]) bool {
			if seen[d] || d == &p.subs[thief] {
				t.Errorf("thief %d tried itself, or one twice", thief)
			}
			seen[d] = true
			return false
		})
		if len(seen) != workers-1 {
			t.Errorf("thief %d tried %d others, want %d", thief, len(seen), workers-1)
		}
		for range workers {
			if p.Get(thief) == nil {
				t.Fatalf("thief %d found no more though others have", thief)
			}
		}
		if p.Get(thief) != nil {
			t.Error("more items than were made")
		}
	}
}

// TestStealsAtRandom: each other sub-pool is the first victim at some time. The test fails by chance once in 10^20
// runs.
func TestStealsAtRandom(t *testing.T) {
	const workers = 5
	p := newPool(t, workers, 1, 0)
	first := map[*deque[item]]bool{}
	for range 250 {
		p.others(2, func(d *deque[item]) bool { first[d] = true; return true })
	}
	if len(first) != workers-1 {
		t.Errorf("%d of %d victims came first", len(first), workers-1)
	}
}

// TestIndexWraps starts the ring's index just before it wraps.
func TestIndexWraps(t *testing.T) {
	p := newPool(t, 2, 4, 4)
	d := &p.subs[0]
	for d.popBottom() != nil {
	}
	d.releaseLock(word(^uint32(0)-2) << 32) // empty, three places before the end
	var items [4]item
	for round := range 12 {
		for i := range items {
			if !p.Put(0, &items[i]) {
				t.Fatalf("round %d: no room for item %d", round, i)
			}
		}
		if got := d.popBottom(); got != &items[0] {
			t.Fatalf("round %d: bottom is not the oldest", round)
		}
		for i := 3; i > 0; i-- {
			if got := p.Get(0); got != &items[i] {
				t.Fatalf("round %d: top is not item %d", round, i)
			}
		}
	}
	if top := word(d.ctl.Load()).top(); top > 100 {
		t.Errorf("top is %d: it did not wrap", top)
	}
}

func TestFullGoesElsewhere(t *testing.T) {
	const workers, room = 3, 4
	p := newPool(t, workers, workers*room, room)
	var all []*item
	for x := p.Get(0); x != nil; x = p.Get(0) {
		all = append(all, x)
	}
	if len(all) != workers*room {
		t.Fatalf("%d items, want %d", len(all), workers*room)
	}
	for _, x := range all {
		if !p.Put(1, x) {
			t.Fatalf("no room for item %d", x.id)
		}
	}
	if p.Put(1, new(item)) || p.putLocked(new(item)) {
		t.Error("a foreign item found room in a full pool")
	}
	if p.Put(0, nil) {
		t.Error("nil was put")
	}
	if n := p.items(); n != workers*room {
		t.Errorf("%d items in the pool, want %d", n, workers*room)
	}
}

// TestPutLocked: a Put under all locks finds room wherever it is.
func TestPutLocked(t *testing.T) {
	p := newPool(t, 3, 12, 4)
	x := p.Get(2)
	if !p.putLocked(x) {
		t.Fatal("room for one was not found")
	}
	if got := p.subs[2].popTop(p.subs[2].seize()); got != x {
		t.Error("it was not put where the room is")
	}
}

// TestPutFindsRoomThatMoves: a Put finds each sub-pool full, while room moves behind its look. It looks again with all
// of them locked, and finds the room.
func TestPutFindsRoomThatMoves(t *testing.T) {
	const workers, room = 3, 4
	for from := range workers {
		for to := range workers {
			p := newPool(t, workers, workers*room, room)
			var moved *item
			p.allFull = func() { moved = p.subs[from].popBottom() }
			extra := new(item)
			if !p.Put(to, extra) {
				t.Fatalf("no room for an item of worker %d, though sub-pool %d has some", to, from)
			}
			if got := p.subs[from].popTop(p.subs[from].seize()); got != extra {
				t.Errorf("the item of worker %d is not where there was room, in sub-pool %d", to, from)
			}
			if n := p.items(); moved == nil || n != workers*room-1 {
				t.Errorf("%d items in the pool, want %d", n, workers*room-1)
			}
		}
	}
}

func TestGrowsToLimit(t *testing.T) {
	made := 0
	p, err := New(Options[item]{Workers: 2, Limit: 5, Initial: 2, New: func() *item { made++; return new(item) }})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if p.Get(1) == nil {
			t.Fatal("nil below the limit")
		}
	}
	if p.Get(0) != nil || made != 5 || p.made.Load() != 5 {
		t.Errorf("%d made, the pool says %d, limit 5", made, p.made.Load())
	}
}

func TestOutsiders(t *testing.T) {
	p := newPool(t, 4, 64, 64)
	for _, i := range []int{-1, 4, 1 << 40, -1 << 63} {
		x := p.Get(i)
		if x == nil || !p.Put(i, x) {
			t.Errorf("worker %d got nothing, or could not put it", i)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking build")
	}
	p := newPool(t, 2, 8, 8)
	if n := testing.AllocsPerRun(100, func() {
		for range 5 { // one more than its own: steals too
			p.Put(1, p.Get(0))
		}
		p.Put(-1, p.Get(-1))
	}); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

func TestStack(t *testing.T) {
	s, err := NewStack[item](3)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := s.Pop(), s.Pop(), s.Pop()
	if a == nil || b == nil || c == nil || s.Pop() != nil {
		t.Fatal("a stack of three holds another number")
	}
	s.top.Store(s.top.Load() | 0xFFFFFFFF<<32) // the change count is about to wrap
	s.Push(a)
	s.Push(c)
	if s.Pop() != c || s.Pop() != a || s.Pop() != nil {
		t.Error("not last in, first out")
	}
}

// TestStackTopNeverRepeats is the ABA case. The same element is on top again, but the elements below have changed. A
// Pop that saw the first state must fail.
func TestStackTopNeverRepeats(t *testing.T) {
	s, err := NewStack[item](3)
	if err != nil {
		t.Fatal(err)
	}
	before := s.top.Load()
	a, b := s.Pop(), s.Pop()
	s.Push(a)
	if after := s.top.Load(); uint32(after) != uint32(before) || after == before {
		t.Errorf("top was %#x and is %#x without %p: want the same element and another count", before, after, b)
	}
}
