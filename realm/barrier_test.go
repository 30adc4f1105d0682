package realm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

var addInts = RegisterReduction("add", func(a, b int64) int64 { return a + b })

// pair has a hole, and is no multiple of eight bytes.
type pair struct {
	Least uint8
	Most  float32
}

var spread = RegisterReduction("spread", func(a, b pair) pair {
	return pair{min(a.Least, b.Least), max(a.Most, b.Most)}
})

// TestBarrierPhases: all ranks arrive at many phases, and get the result of each. Some arrive ahead, some after an
// event, and the owner moves.
func TestBarrierPhases(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 7} {
		overNets(t, n, func(t *testing.T, rts []*Runtime) {
			b, err := NewBarrier(rts[0], int64(n), addInts)
			if err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for _, rt := range rts {
				all.Go(func() {
					if err := arriveOften(t, rt, b.ID().On(rt)); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		})
	}
}

// arriveOften has one rank arrive at each of 60 phases, and wait for it.
func arriveOften(t *testing.T, rt *Runtime, b Barrier[int64]) error {
	r := rand.New(rand.NewPCG(uint64(rt.Rank()), 7))
	n := int64(rt.Size())
	ahead := false // it has arrived at the phase with the one before
	for p := range int64(60) {
		value := p * int64(rt.Rank()+1)
		if !ahead {
			if err := arriveOnce(rt, b, value, r.IntN(3) == 0); err != nil {
				return err
			}
		}
		if ahead = p < 59 && r.IntN(4) == 0; ahead {
			if err := b.Next().Arrive(1, value+int64(rt.Rank()+1), NoEvent); err != nil {
				return err
			}
		}
		if p%7 == int64(rt.Rank()) {
			if err := b.Migrate(r.IntN(rt.Size())); err != nil {
				return err
			}
		}
		if err := wait(t, rt, b.Event()); err != nil {
			return err
		}
		if v, err := b.Result(); err != nil || v != p*n*(n+1)/2 {
			t.Errorf("rank %d, phase %d: %d, %v", rt.Rank(), b.Phase(), v, err)
		}
		b = b.Next()
	}
	return nil
}

// arriveOnce arrives at once, or by an event that triggers later.
func arriveOnce(rt *Runtime, b Barrier[int64], value int64, later bool) error {
	if !later {
		return b.Arrive(1, value, NoEvent)
	}
	u := rt.NewUserEvent()
	if err := b.Arrive(1, value, u.Event()); err != nil {
		return err
	}
	return u.Trigger(NoEvent)
}

// late arrives through the handle that it gets.
var late = Register("barrier late", func(c *Ctx, id BarrierID[pair]) error {
	return id.On(c).Arrive(1, pair{9, float32(c.Runtime().Rank())}, NoEvent)
})

// TestBarrierAlter: rank 0 has a phase expect an arrival of a task on each rank, again and again.
func TestBarrierAlter(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		overNets(t, n, func(t *testing.T, rts []*Runtime) {
			if err := alterOften(t, rts[0]); err != nil {
				t.Error(err)
			}
		})
	}
}

func alterOften(t *testing.T, rt *Runtime) error {
	b, err := NewBarrier(rt, 1, spread)
	if err != nil {
		return err
	}
	for p := range 20 {
		if err := b.Migrate(p % rt.Size()); err != nil {
			return err
		}
		for r := range rt.Size() {
			more, err := b.Alter(1)
			if err != nil {
				return err
			}
			Spawn(rt, ProcessorOf(r), late, more.ID())
		}
		if err := b.Arrive(1, pair{uint8(p), -1}, NoEvent); err != nil {
			return err
		}
		if err := wait(t, rt, b.Event()); err != nil {
			return err
		}
		if v, err := b.Result(); err != nil || v != (pair{uint8(min(p, 9)), float32(rt.Size() - 1)}) {
			t.Errorf("phase %d: %v, %v", b.Phase(), v, err)
		}
		b = b.Next()
	}
	return nil
}

// TestBarrierPoison: a poisoned precondition poisons the phase, when it is complete, and no other.
func TestBarrierPoison(t *testing.T) {
	alone(t, 2, func(rt *Runtime) {
		b, err := NewBarrier(rt, 2, Reduction[struct{}]{})
		if err != nil {
			t.Fatal(err)
		}
		because := errors.New("no luck")
		u := rt.NewUserEvent()
		if err := b.Arrive(1, struct{}{}, u.Event()); err != nil {
			t.Error(err)
		}
		if err := b.Next().Arrive(2, struct{}{}, u.Event(), IgnoreFaults()); err != nil {
			t.Error(err)
		}
		if err := u.Cancel(because); err != nil {
			t.Error(err)
		}
		if done, err := rt.HasTriggered(b.Event()); done || err != nil {
			t.Errorf("incomplete: %v, %v", done, err)
		}
		if err := b.Arrive(1, struct{}{}, NoEvent); err != nil {
			t.Error(err)
		}
		if err := wait(t, rt, b.Event()); !errors.Is(err, because) || !errors.Is(err, ErrPoisoned) {
			t.Errorf("poisoned: %v", err)
		}
		if _, err := b.Result(); !errors.Is(err, ErrPoisoned) {
			t.Errorf("its result: %v", err)
		}
		if err := wait(t, rt, b.Next().Event()); err != nil {
			t.Errorf("next: %v", err)
		}
	})
}

// TestBarrierMistakes: what is known to be wrong is an error of the call. What turns out later poisons.
func TestBarrierMistakes(t *testing.T) {
	alone(t, 2, func(rt *Runtime) {
		var none Barrier[int64]
		if err := none.Arrive(1, 0, NoEvent); !errors.Is(err, ErrArgument) {
			t.Errorf("zero Barrier: %v", err)
		}
		if err := wait(t, rt, none.Event()); !errors.Is(err, ErrArgument) {
			t.Errorf("its event: %v", err)
		}
		if _, err := NewBarrier(rt, 0, addInts); !errors.Is(err, ErrArgument) {
			t.Errorf("no arrivals: %v", err)
		}
		if _, err := NewBarrier(rt, 1, Reduction[int64]{}); !errors.Is(err, ErrArgument) {
			t.Errorf("no reduction: %v", err)
		}
		if _, err := NewBarrier(rt, 1, Reduction[string]{}); !errors.Is(err, ErrArgument) {
			t.Errorf("pointers: %v", err)
		}
		if _, err := NewBarrier(rt, 1, addInts, Participants(0, 2)); !errors.Is(err, ErrArgument) {
			t.Errorf("rank 2 is to take part: %v", err)
		}
		b, err := NewBarrier(rt, 2, addInts, Participants(), Participants(1))
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Migrate(2); !errors.Is(err, ErrArgument) {
			t.Errorf("migration to rank 2: %v", err)
		}
		if err := b.Arrive(3, 0, NoEvent); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "expects 2") {
			t.Errorf("3 arrivals: %v", err)
		}
		if _, err := b.Result(); !errors.Is(err, ErrArgument) {
			t.Errorf("result before: %v", err)
		}
		if err := b.Arrive(2, 5, NoEvent); err != nil {
			t.Error(err)
		}
		if err := b.Arrive(1, 0, NoEvent); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(),
			"has triggered") {
			t.Errorf("over: %v", err)
		}
		u := rt.NewUserEvent()
		c := b.Next()
		if err := c.Arrive(3, 0, u.Event()); err != nil {
			t.Error(err)
		}
		if err := u.Trigger(NoEvent); err != nil {
			t.Error(err)
		}
		if err := wait(t, rt, c.Next().Event()); !errors.Is(err, ErrPoisoned) || !strings.Contains(err.Error(),
			"3 arrivals at phase 2") {
			t.Errorf("found later: %v", err)
		}
		// A barrier that its rank has not made.
		id := b.ID()
		id.Event += 1<<20 | 1<<44
		x := id.On(rt)
		if err := x.Arrive(1, 1, NoEvent); err != nil {
			t.Error(err)
		}
		if err := wait(t, rt, x.Event()); !errors.Is(err, ErrPoisoned) || !strings.Contains(err.Error(),
			"no such barrier") {
			t.Errorf("not made: %v", err)
		}
	})
}

// TestBarrierLate: a rank that waits for a phase long after it has triggered gets its result, if that is still kept.
func TestBarrierLate(t *testing.T) {
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		b, err := NewBarrier(rts[0], 1, addInts)
		must(t, err)
		phases := []Barrier[int64]{b.ID().On(rts[1])}
		for i := range int64(20) {
			must(t, b.Arrive(1, i, NoEvent))
			b = b.Next()
			phases = append(phases, phases[i].Next())
		}
		for _, i := range []int64{19, 4, 10, 3} {
			x := phases[i]
			must(t, wait(t, rts[1], x.Event()))
			v, err := x.Result()
			if i == 3 {
				if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "is gone") {
					t.Errorf("result of phase 4: %d, %v", v, err)
				}
			} else if err != nil || v != i {
				t.Errorf("result of phase %d: %d, %v", i+1, v, err)
			}
		}
		if done, err := rts[1].HasTriggered(phases[20].Event()); done || err != nil {
			t.Errorf("phase 21: %v, %v", done, err)
		}
	})
}

// TestBarrierDestroy: a barrier ends once an event has triggered, on whatever rank that is asked for, whoever owns it.
// Waits for phases that have not triggered are poisoned, later arrivals and waits are errors, and all ranks forget it.
func TestBarrierDestroy(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		overNets(t, n, func(t *testing.T, rts []*Runtime) {
			for by := range n {
				for owner := range n {
					destroyBarrier(t, rts, by, owner)
				}
			}
			for _, rt := range rts {
				rt.ev.Barriers.EachBarrier(func(c *events.BarrierCell) {
					if c.ID != event.MakeBarrier(0, 0, 0) {
						t.Errorf("rank %d has not forgotten %v", rt.ev.Self, c.Core.Name())
					}
				})
			}
		})
	}
}

func destroyBarrier(t *testing.T, rts []*Runtime, by, owner int) {
	n := len(rts)
	b, err := NewBarrier(rts[0], int64(n), addInts)
	must(t, err)
	must(t, b.Migrate(owner))
	id := b.ID()
	var next []Event
	for _, rt := range rts {
		must(t, id.On(rt).Arrive(1, 1, NoEvent))
		next = append(next, id.On(rt).Next().Event())
	}
	done := make(chan error, n)
	for i, rt := range rts {
		must(t, rt.Wait(context.Background(), b.Event()))
		go func() { done <- rt.Wait(context.Background(), next[i]) }()
	}
	bad, after := rts[by].NewUserEvent(), rts[by].NewUserEvent()
	x := id.On(rts[by])
	must(t, x.Destroy(bad.Event()))
	must(t, x.Destroy(after.Event()))
	must(t, bad.Cancel(nil))
	if sum, err := x.Result(); sum != int64(n) || err != nil {
		t.Errorf("before the end: %d, %v", sum, err)
	}
	must(t, after.Trigger(NoEvent))
	ended := func(what string, err error) {
		if err == nil || !strings.Contains(err.Error(), "destroyed") {
			t.Errorf("%s after rank %d destroys a barrier of rank %d: %v", what, by, owner, err)
		}
	}
	for range rts {
		ended("wait", <-done)
	}
	for i, rt := range rts {
		must(t, rt.ev.OfRank.BlockUntil(func() bool {
			return rt.ev.Barriers.FindBarrier(&rt.ev, event.ID(b.Event()), false) == nil
		}))
		y := id.On(rt).Next()
		err := y.Arrive(1, 1, NoEvent)
		if err == nil { // this rank has to ask
			err = rt.Wait(context.Background(), y.Event())
		}
		ended(fmt.Sprintf("arrival of rank %d", i), err)
		must(t, rt.ev.OfRank.BlockUntil(func() bool {
			return rt.ev.Barriers.FindBarrier(&rt.ev, event.ID(b.Event()), false) == nil
		}))
	}
	ended("arrival through the handle", x.Arrive(1, 1, NoEvent))
}

// TestDestroyManyBarriers: barriers that were destroyed take no memory, on no rank.
func TestDestroyManyBarriers(t *testing.T) {
	rounds := 20 * events.PageBarriers
	if testing.Short() {
		rounds /= 8
	}
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		var early uint64
		for i := range rounds {
			if i == rounds/4 {
				early = heapBytes()
			}
			b, err := NewBarrier(rts[0], 1, addInts)
			must(t, err)
			x := b.ID().On(rts[1])
			must(t, x.Arrive(1, 1, NoEvent))
			must(t, rts[1].Wait(context.Background(), x.Event()))
			must(t, x.Destroy(NoEvent))
		}
		t.Logf("%d barriers; heap %d KiB after a quarter, %d KiB after all", rounds, early>>10, heapBytes()>>10)
		for _, rt := range rts {
			left := func() (k int) {
				rt.ev.Barriers.EachBarrier(func(*events.BarrierCell) { k++ })
				return k
			}
			must(t, rt.ev.OfRank.BlockUntil(func() bool { return left() <= 1 })) // that of collective spawns
		}
		pages := 0
		for _, p := range *rts[0].ev.Barriers.Own.Load() {
			if p != nil {
				pages++
			}
		}
		if pages > 2 {
			t.Errorf("%d pages are left", pages)
		}
	})
}

// TestPrevious: a program can go back to phases before, and has their results. Before the first there is none.
func TestPrevious(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		first, err := NewBarrier(rt, 1, addInts)
		must(t, err)
		b := first
		for p := range int64(5) {
			must(t, b.Arrive(1, p, NoEvent))
			b = b.Next()
		}
		for p := int64(4); p >= 0; p-- {
			b = b.Previous()
			if v, err := b.Result(); v != p || err != nil || b.Phase() != uint64(p+1) {
				t.Errorf("phase %d: %d, %v", b.Phase(), v, err)
			}
		}
		if b != first {
			t.Errorf("%v is not the first phase, %v", b.ID(), first.ID())
		}
		none := b.Previous()
		if _, err := none.Result(); !errors.Is(err, ErrArgument) {
			t.Errorf("the result before the first phase: %v", err)
		}
		if err := wait(t, rt, none.Previous().Event()); !errors.Is(err, ErrArgument) {
			t.Errorf("the event before the first phase: %v", err)
		}
	})
}

// TestBarrierPending: Finalize names an arrival whose precondition never triggers.
func TestBarrierPending(t *testing.T) {
	var at Event
	err := Run(1, func(rt *Runtime) error {
		b, err := NewBarrier(rt, 1, addInts)
		if err != nil {
			return err
		}
		at = b.Event()
		return b.Arrive(1, 1, rt.NewUserEvent().Event())
	})
	if !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "an arrival at "+at.String()) {
		t.Error(err)
	}
}

func BenchmarkBarrier(b *testing.B) {
	b.Run("phase", func(b *testing.B) {
		inTask(b, func(c *Ctx) {
			x, err := NewBarrier(c, 1, Reduction[struct{}]{})
			if err != nil {
				b.Error(err)
			}
			for b.Loop() {
				if err := x.Arrive(1, struct{}{}, NoEvent); err != nil {
					b.Error(err)
				}
				x = x.Next()
			}
		})
	})
	b.Run("wait", func(b *testing.B) {
		inTask(b, func(c *Ctx) {
			x, err := NewBarrier(c, 1, Reduction[struct{}]{})
			if err != nil {
				b.Error(err)
			}
			for b.Loop() {
				u := c.Runtime().NewUserEvent()
				_ = u.Trigger(x.Event())
				_ = x.Arrive(1, struct{}{}, NoEvent)
				_ = c.Wait(u.Event())
				x = x.Next()
			}
		})
	})
	b.Run("reduce", func(b *testing.B) {
		inTask(b, func(c *Ctx) {
			x, err := NewBarrier(c, 2, addInts)
			if err != nil {
				b.Error(err)
			}
			for b.Loop() {
				_ = x.Arrive(1, 1, NoEvent)
				_ = x.Arrive(1, 2, NoEvent)
				x = x.Next()
			}
		})
	})
}

// BenchmarkBarrierRanks is a phase in which each of two ranks in a process arrives and waits.
func BenchmarkBarrierRanks(b *testing.B) {
	made := make(chan BarrierID[struct{}], 2)
	err := Run(2, func(rt *Runtime) error {
		if rt.Rank() == 0 {
			x, err := NewBarrier(rt, 2, Reduction[struct{}]{})
			if err != nil {
				b.Error(err)
			}
			made <- x.ID()
			made <- x.ID()
		}
		x := (<-made).On(rt)
		for range b.N {
			if err := x.Arrive(1, struct{}{}, NoEvent); err != nil {
				return err
			}
			if err := rt.Wait(context.Background(), x.Event()); err != nil {
				return err
			}
			x = x.Next()
		}
		return nil
	})
	if err != nil {
		b.Error(err)
	}
}
