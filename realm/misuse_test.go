package realm

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/realm/internal/events"
)

var (
	errOp     = errors.New("the operator panics")
	panicsOp  = RegisterOp("misuse panics", &Op[int64, int64]{Apply: func(int64, int64) int64 { panic(errOp) }})
	panicsRed = RegisterReduction("misuse panics", func(int64, int64) int64 { panic(errOp) })
	misused   = Register("misused", func(*Ctx, struct{ X func() }) error { return nil })
)

// TestPanicsOfOperators: an operator that panics poisons the result of a Reduce, on the rank that applies it. A
// reduction that panics poisons the phase, and the barrier goes on.
func TestPanicsOfOperators(t *testing.T) {
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		rt := rts[0]
		for _, owner := range rts {
			in, err := NewArray[int64](owner, owner.Memory(System), Range(0, 10))
			must(t, err)
			l, err := NewList(panicsOp, Range(0, 10))
			must(t, err)
			must(t, l.Reduce(3, 1))
			err = wait(t, rt, Reduce(rt, in, 0, l))
			if !errors.Is(err, ErrPoisoned) || !strings.Contains(err.Error(), errOp.Error()) {
				t.Errorf("data of rank %d: %v", owner.ev.Self, err)
			}
			must(t, wait(t, rt, Fill(rt, in, 0, int64(1), nil)))

			b, err := NewBarrier(owner, 2, panicsRed)
			must(t, err)
			here := b.ID().On(rt)
			must(t, here.Arrive(1, 1, NoEvent))
			must(t, here.Arrive(1, 1, NoEvent))
			err = wait(t, rt, here.Event())
			if !errors.Is(err, ErrPoisoned) || !strings.Contains(err.Error(), errOp.Error()) {
				t.Errorf("phase 1 of a barrier of rank %d: %v", owner.ev.Self, err)
			}
			next := here.Next()
			must(t, next.Arrive(2, 5, NoEvent))
			must(t, wait(t, rt, next.Event()))
			if v, err := next.Result(); v != 5 || err != nil {
				t.Errorf("phase 2 of a barrier of rank %d: %d, %v", owner.ev.Self, v, err)
			}
		}
	})
}

// TestCtxAfterTask: the Ctx of a task that has ended, or another goroutine's use of it, is harmless.
func TestCtxAfterTask(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		u := rt.NewUserEvent()
		for name, p := range map[string]Processor{"CPU": rt.CPU(0), "IO": rt.IO()} {
			var kept *Ctx
			got := make(chan error, 1)
			must(t, wait(t, rt, SpawnLocal(rt, p, func(c *Ctx) error {
				kept = c
				go func() { got <- c.Wait(u.Event()) }()
				return nil
			})))
			must(t, u.Trigger(NoEvent))
			must(t, <-got)
			kept.SetPriority(3)
			kept.HoldProcessor()
			kept.ReleaseProcessor()
			must(t, kept.Wait(u.Event()))
			if err := wait(t, rt, kept.Finish()); !errors.Is(err, ErrArgument) {
				t.Errorf("%s: Finish after the task: %v", name, err)
			}
			if kept.Runtime() != rt || kept.Processor() != p {
				t.Errorf("%s: %v", name, kept.Processor())
			}
			u = rt.NewUserEvent()
		}
		must(t, u.Trigger(NoEvent))
	})
}

// TestProcessorsThatAreNot: a number that names no processor poisons the spawn, also on the other rank.
func TestProcessorsThatAreNot(t *testing.T) {
	alone(t, 2, func(rt *Runtime) {
		if rt.CPU(-1) != rt.CPU(len(rt.procs.cpus)-1) || rt.CPU(math.MinInt).Rank() != 0 {
			t.Errorf("%v, %v", rt.CPU(-1), rt.CPU(math.MinInt))
		}
		for _, p := range []Processor{
			0, 1, ProcessorOf(-1), ProcessorOf(2), ProcessorOf(1 << 16), ProcessorOf(1<<16 + 1), ProcessorOf(math.MaxInt),
			ProcessorOf(0) + 99, ProcessorOf(1) + 99, ProcessorOf(1) | 1<<48, ProcessorOf(0) | 1<<48,
			makeProcessor(1, Group, 0), makeProcessor(1, 77, 0), makeProcessor(0, 77, 0), ^Processor(0),
		} {
			e := Spawn(rt, p, nothing, args40{})
			if err := wait(t, rt, e); !errors.Is(err, ErrPoisoned) || !strings.Contains(err.Error(), "there is no") {
				t.Errorf("%v, %#x: %v", p, uint64(p), err)
			}
			if err := wait(t, rt, SpawnLocal(rt, p, func(*Ctx) error { return nil })); !errors.Is(err, ErrArgument) {
				t.Errorf("SpawnLocal %v, %#x: %v", p, uint64(p), err)
			}
		}
		if s := Processor(0).String(); s != "no processor" {
			t.Error(s)
		}
	})
}

// TestFailedSpawns: spawns that fail leave no event behind that nobody triggers.
func TestFailedSpawns(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		before := aliveEvents(rt)
		for range 100 {
			for name, e := range map[string]Event{
				"arguments that gob refuses": Spawn(rt, rt.CPU(0), misused, struct{ X func() }{}),
				"no task":                    Spawn(rt, rt.CPU(0), Task[int]{}, 3),
				"no function":                SpawnLocal(rt, rt.CPU(0), nil),
			} {
				if err := wait(t, rt, e); !errors.Is(err, ErrPoisoned) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if after := aliveEvents(rt); after > before {
			t.Errorf("%d events are left", after-before)
		}
		if name := (Task[int]{}).Name(); name != "" {
			t.Error(name)
		}
		must(t, wait(t, rt, Spawn(rt, rt.CPU(0), nothing, args40{}, Profile(nil))))
		must(t, wait(t, rt, Spawn(rt, rt.CPU(0), nothing, args40{}, Profile(rt.NewProfiler(nil)))))
	})
}

func aliveEvents(rt *Runtime) (n int) {
	rt.ev.Events.EachCell(func(c *events.Cell) {
		c.Lock.Lock()
		if _, alive := c.Slot.Alive(); alive {
			n++
		}
		c.Lock.Unlock()
	})
	return n
}

// TestCancelSeveral: a task that waits for several events is canceled, and its priority changes, as others are.
func TestCancelSeveral(t *testing.T) {
	for _, opts := range [][]Option{nil, {IgnoreFaults()}} {
		alone(t, 1, func(rt *Runtime) {
			a, b := rt.NewUserEvent(), rt.NewUserEvent()
			both := append([]Option{After(a.Event(), b.Event())}, opts...)
			var ran atomic.Int64
			e := SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { ran.Add(1); return nil }, both...)
			must(t, rt.CancelOperation(e, errTest))
			if err := rt.CancelOperation(e, errTest); !errors.Is(err, ErrTriggered) {
				t.Errorf("canceled twice: %v", err)
			}
			if done, err := rt.HasTriggered(e); !done || !errors.Is(err, errTest) {
				t.Errorf("canceled: %v, %v", done, err)
			}
			var order []int
			gate := SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error { return nil })
			must(t, wait(t, rt, gate))
			hold, held := rt.NewUserEvent(), rt.NewUserEvent()
			busy := SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error {
				must(t, held.Trigger(NoEvent))
				c.HoldProcessor()
				return c.Wait(hold.Event())
			})
			must(t, wait(t, rt, held.Event()))
			first := SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { order = append(order, 1); return nil }, both...)
			second := SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { order = append(order, 2); return nil }, both...)
			must(t, rt.SetOperationPriority(second, 5))
			must(t, a.Trigger(NoEvent))
			must(t, b.Trigger(NoEvent))
			must(t, hold.Trigger(NoEvent))
			must(t, wait(t, rt, rt.Merge(busy, first, second)))
			if len(order) != 2 || order[0] != 2 || ran.Load() != 0 {
				t.Errorf("order %v, %d runs of what was canceled", order, ran.Load())
			}
		})
	}
}

// TestWrongArrivals: what can be known to be wrong at the call is an error of the call, whatever it waits for.
func TestWrongArrivals(t *testing.T) {
	alone(t, 2, func(rt *Runtime) {
		b, err := NewBarrier(rt, 2, addInts)
		must(t, err)
		never := rt.NewUserEvent()
		for _, n := range []int64{0, -1, math.MinInt64, math.MaxInt64} {
			for _, after := range []Event{NoEvent, never.Event()} {
				if err := b.Arrive(n, 0, after); !errors.Is(err, ErrArgument) {
					t.Errorf("%d arrivals after %v: %v", n, after, err)
				}
			}
			if _, err := NewBarrier(rt, n, addInts); !errors.Is(err, ErrArgument) {
				t.Errorf("a barrier of %d: %v", n, err)
			}
		}
		for _, n := range []int64{math.MinInt64, math.MaxInt64} {
			if _, err := b.Alter(n); !errors.Is(err, ErrArgument) {
				t.Errorf("altered by %d: %v", n, err)
			}
		}
		for _, phase := range []uint64{0, math.MaxUint64, 1 << 61} {
			id := b.ID()
			id.Phase = phase
			if err := id.On(rt).Arrive(1, 0, never.Event()); !errors.Is(err, ErrArgument) {
				t.Errorf("phase %d: %v", phase, err)
			}
		}
		wide := BarrierID[[2]int64](b.ID()).On(rt)
		if err := wide.Arrive(1, [2]int64{1, 2}, NoEvent); !errors.Is(err, ErrArgument) {
			t.Errorf("a value of 16 bytes for 8: %v", err)
		}
		must(t, b.Arrive(2, 7, NoEvent))
		if _, err := wide.Result(); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "8 bytes") {
			t.Errorf("a result of 8 bytes as one of 16: %v", err)
		}
		must(t, never.Trigger(NoEvent))
		must(t, wait(t, rt, b.Event()))
	})
}

// TestWrongConfigs: numbers that cannot be are errors.
func TestWrongConfigs(t *testing.T) {
	for _, cfg := range []Config{{CPUs: -1}, {CPUs: 1 << 30}, {IO: -1}, {Memory: -1}, {Segment: -1}} {
		if err := Run(1, func(*Runtime) error { return nil }, cfg); !errors.Is(err, ErrArgument) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	alone(t, 1, func(rt *Runtime) {
		if _, err := NewInstance(rt, rt.Memory(System), Range(0, 1), Order(7), FieldOf[int8]("a")); !errors.Is(err,
			ErrArgument) {
			t.Errorf("order 7: %v", err)
		}
		if _, err := NewInstance(rt, rt.Memory(System), Range(0, 1), nil, FieldOf[int8]("a")); !errors.Is(err, ErrArgument) {
			t.Errorf("no layout: %v", err)
		}
		for _, n := range []int64{1 << 39, 1 << 46} {
			if _, err := NewFold(sumInt64, Grid(1<<10, n>>10), ExclusiveReductions); err == nil {
				t.Errorf("a fold of %d points", n)
			}
		}
		if _, err := NewFold[int, int](nil, Range(0, 5), ExclusiveReductions); err == nil {
			t.Error("a fold without an operator")
		}
		if _, err := NewList[int, int](nil, Range(0, 5)); err == nil {
			t.Error("a list without an operator")
		}
		if _, err := NewFold(sumInt64, Range(0, 5), ReductionMode(9)); err == nil {
			t.Error("mode 9")
		}
		if _, err := rt.Host(context.Background(), AllRanks); !errors.Is(err, ErrArgument) {
			t.Errorf("the host of all ranks: %v", err)
		}
	})
}

// TestWaitAfterEnd: a wait that begins when the runtime has ended is ErrClosed.
func TestWaitAfterEnd(t *testing.T) {
	var rt *Runtime
	var e Event
	err := Run(1, func(x *Runtime) error {
		rt, e = x, x.NewUserEvent().Event()
		var none context.Context // counts as one that does not end
		return x.Wait(none, NoEvent)
	})
	must(t, err)
	if err := rt.Wait(context.Background(), e); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := rt.sleepFor(ctx, inWait, e, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a wait that had begun when the runtime ended, and was not seen then: %v", err)
	}
	q := rt.NewCompletionQueue()
	_ = q.Add(e)
	r, err := NewReservation[int](rt)
	if !errors.Is(err, ErrClosed) {
		t.Errorf("%v, %v", r, err)
	}
}

// TestLongChains: neither a chain of a million poisoned events, nor merges of merges, nor a chain that never triggers
// takes a stack or a time of its own.
func TestLongChains(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	alone(t, 1, func(rt *Runtime) {
		first := rt.NewUserEvent()
		last := first
		for range n {
			u := rt.NewUserEvent()
			must(t, u.Trigger(last.Event()))
			last = u
		}
		other := rt.NewUserEvent()
		m := other.Event()
		for range n / 10 {
			m = rt.Merge(m, first.Event(), last.Event())
		}
		must(t, first.Cancel(errTest))
		must(t, other.Trigger(NoEvent))
		for what, e := range map[string]Event{"the last event": last.Event(), "the last merge": m} {
			if err := wait(t, rt, e); !errors.Is(err, errTest) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
	err := Run(1, func(rt *Runtime) error {
		last := rt.NewUserEvent()
		for range n / 10 {
			u := rt.NewUserEvent()
			must(t, u.Trigger(last.Event()))
			last = u
		}
		return nil
	})
	if !errors.Is(err, ErrPending) {
		t.Errorf("a chain that never triggers: %v", err)
	}
	queue := func(rt *Runtime) {
		q := rt.NewCompletionQueue()
		for range n / 4 {
			must(t, q.Add(NoEvent))
		}
		var one [1]Completion
		for i := range n / 4 {
			if q.Pop(one[:]) != 1 {
				t.Fatalf("nothing after %d", i)
			}
		}
	}
	alone(t, 1, queue)
}

// TestProfilerPanic: a function of the program that panics in a task of the runtime ends the job, and is named.
func TestProfilerPanic(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		p := rt.NewProfiler(func([]OperationProfile) { panic(errTest) })
		return rt.Wait(context.Background(), Spawn(rt, rt.CPU(0), nothing, args40{}, Profile(p)))
	})
	if err == nil || !strings.Contains(err.Error(), errTest.Error()) {
		t.Errorf("%v", err)
	}
}

// TestErrorsOfTasks: whatever error a task returns poisons its finish event.
func TestErrorsOfTasks(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		for name, f := range map[string]func() error{
			"a nil that is an error": func() error { var e *PoisonError; return e },
			"an error that panics":   func() error { return panicsError{} },
			"a panic with an error":  func() error { panic(panicsError{}) },
			"a panic with nil":       func() error { panic(nil) },
			"a joined error":         func() error { return errors.Join(errTest, nil) },
		} {
			for _, p := range []Processor{rt.CPU(0), rt.IO()} {
				if err := wait(t, rt, SpawnLocal(rt, p, func(*Ctx) error { return f() })); !errors.Is(err, ErrPoisoned) {
					t.Errorf("%s on %v: %v", name, p, err)
				}
			}
		}
	})
}

type panicsError struct{}

func (panicsError) Error() string { panic("no text") }
