package realm

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/golci/golci/realm/internal/event"
)

// arrayTask makes an array of uint64 on its rank, and sends its number back by a place in madeArrays.
var arrayTask = Register("profile.array", func(c *Ctx, a arrayArgs) error {
	in, err := NewArray[uint64](c, c.Runtime().Memory(a.Kind), Range(0, a.N))
	if err != nil {
		return err
	}
	madeArrays <- in.ID()
	return nil
})

type arrayArgs struct {
	Kind MemoryKind
	N    int64
}

var madeArrays = make(chan InstanceID, 1)

var sumUint64 = RegisterOp("profile.sum", SumOp[uint64]())

// arrayOn is an array of a rank.
func arrayOn(t *testing.T, rt *Runtime, rank int, kind MemoryKind, n int64) Instance {
	t.Helper()
	e := Spawn(rt, makeProcessor(rank, CPU, 0), arrayTask, arrayArgs{kind, n})
	if err := rt.Wait(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	return (<-madeArrays).On(rt)
}

// profiled is what is expected of an operation's profile.
type profiledOp struct {
	kind     OperationKind
	outcome  Outcome
	from, to int // ranks; -1 for none
	bytes    int64
	ran      bool // it has a start and an end
}

// TestProfileOfTransfers: each copy, fill, reduction and the like has one profile, wherever it is done and however many
// pieces it takes.
func TestProfileOfTransfers(t *testing.T) {
	for _, segment := range []int64{0, 64 << 20} {
		err := Run(2, func(rt *Runtime) error {
			if rt.Rank() == 0 {
				kind := System
				if segment > 0 {
					kind = Registered
				}
				profileTransfers(t, rt, kind)
			}
			return nil
		}, Config{Segment: segment})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func profileTransfers(t *testing.T, rt *Runtime, kind MemoryKind) {
	c := collector{of: map[Event]OperationProfile{}}
	prof := Profile(rt.NewProfiler(c.take))
	want := map[Event]profiledOp{}
	cause := rt.NewUserEvent()
	_ = cause.Cancel(errors.New("on purpose"))
	for _, n := range []int64{4, 1 << 19} { // in one piece, and in several
		for pair := range 4 {
			src, dst := pair%2, pair/2
			a, b := arrayOn(t, rt, src, kind, n), arrayOn(t, rt, dst, kind, n)
			some, index := Range(0, 4), []int64{0, 1, 2, 3}
			done := Copy(rt, b, a, Part{}, prof)
			want[done] = profiledOp{OperationCopy, Completed, src, dst, 8 * n, true}
			done = Fill(rt, b, 0, uint64(7), nil, prof, After(done))
			want[done] = profiledOp{OperationFill, Completed, -1, dst, 8 * n, true}
			done = Gather(rt, b, a, index, Part{Points: &some}, prof, After(done))
			want[done] = profiledOp{OperationGather, Completed, src, dst, 32, true}
			done = Scatter(rt, b, a, index, Part{Points: &some}, prof, After(done))
			want[done] = profiledOp{OperationScatter, Completed, src, dst, 32, true}
			list, err := NewList(sumUint64, Range(0, n))
			if err != nil {
				t.Fatal(err)
			}
			for i := range min(n, 1<<16) {
				_ = list.Reduce(i, 1)
			}
			done = Reduce(rt, b, 0, list, prof, After(done))
			want[done] = profiledOp{OperationReduce, Completed, -1, dst, -1, true}
			want[Copy(rt, b, a, Part{}, prof, After(cause.Event()))] = profiledOp{OperationCopy, Skipped, -1, -1, 0, false}
			noField := Part{Fields: []Pair{{Dst: 3, Src: 3}}}
			want[Copy(rt, b, a, noField, prof)] = profiledOp{OperationCopy, Failed, src, dst, 0, true}
			done = Destroy(rt, b, prof, After(done))
			want[done] = profiledOp{OperationDestroy, Completed, -1, dst, 0, false}
		}
	}
	c.await(t, rt, len(want))
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.twice) > 0 || len(c.of) != len(want) || c.batches >= len(want) {
		t.Errorf("%d profiles of %d in %d batches, twice: %v", len(c.of), len(want), c.batches, c.twice)
	}
	for e, w := range want {
		w.check(t, kind, c.of[e])
	}
}

func (w profiledOp) check(t *testing.T, kind MemoryKind, p OperationProfile) {
	t.Helper()
	if p.Kind != w.kind || p.Outcome != w.outcome || w.bytes >= 0 && p.Bytes != w.bytes || w.bytes < 0 && p.Bytes <= 0 {
		t.Errorf("%+v, want %+v", p, w)
	}
	in := func(m Memory, rank int) bool { return rank < 0 || m == makeMemory(rank, kind) }
	if !in(p.From, w.from) || w.kind != OperationReduce && !in(p.To, w.to) || w.to >= 0 && p.Target.Rank() != w.to {
		t.Errorf("from %v to %v in %+v, want %+v", p.From, p.To, p, w)
	}
	times := []time.Duration{p.Create, p.Ready, p.Start, p.End, p.Complete}
	switch {
	case w.outcome == Skipped:
		times = []time.Duration{p.Create, p.End, p.Complete}
	case !w.ran:
		times = []time.Duration{p.Create, p.Ready, p.End, p.Complete}
	}
	inOrder(t, p, times...)
	if (p.Start != 0) != w.ran {
		t.Errorf("start of %+v, want %+v", p, w)
	}
}

func inOrder(t *testing.T, p OperationProfile, times ...time.Duration) {
	t.Helper()
	for i := range times {
		if times[i] <= 0 || i > 0 && times[i] < times[i-1] {
			t.Errorf("times of %+v", p)
		}
	}
}

// TestProfileOfInstances: the profile of an allocation tells how it ended.
func TestProfileOfInstances(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		var got []OperationProfile
		done := make(chan struct{})
		p := rt.NewProfiler(func(batch []OperationProfile) {
			if got = append(got, batch...); len(got) == 3 {
				close(done)
			}
		})
		f := FieldOf[uint64]("x")
		in, err := p.NewInstance(rt.Memory(System), Range(0, 10), SOA, f)
		if err != nil {
			t.Error(err)
		}
		if _, err := p.NewInstance(rt.Memory(System), Range(0, 1<<20), SOA, f); !errors.Is(err, ErrMemory) {
			t.Error(err)
		}
		if _, err := p.NewInstance(rt.Memory(GPU), Range(0, 10), SOA, f); !errors.Is(err, ErrArgument) {
			t.Error(err)
		}
		<-done
		for i, w := range []OperationProfile{
			{Outcome: Completed, Bytes: 80, To: rt.Memory(System), Target: in.ID()},
			{Outcome: Failed, Bytes: 8 << 20, To: rt.Memory(System)},
			{Outcome: Failed, To: rt.Memory(GPU)},
		} {
			x := got[i]
			inOrder(t, x, x.Create, x.Ready, x.Start, x.End, x.Complete)
			w.Kind = OperationInstance
			w.Create, w.Ready, w.Start, w.End, w.Complete = x.Create, x.Ready, x.Start, x.End, x.Complete
			if x != w {
				t.Errorf("%+v, want %+v", x, w)
			}
		}
		return nil
	}, Config{Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
}

// TestProfileOfAcquires: an acquire that waits, one that does not, and one that is refused. The times tell them apart.
func TestProfileOfAcquires(t *testing.T) {
	err := Run(2, func(rt *Runtime) error {
		if rt.Rank() != 0 {
			return nil
		}
		c := collector{of: map[Event]OperationProfile{}}
		prof := Profile(rt.NewProfiler(c.take))
		r, err := NewReservation[int64](rt)
		if err != nil {
			return err
		}
		if e := r.Acquire(Exclusive, NoEvent, prof); e != NoEvent {
			t.Errorf("a free reservation is granted by %v", e)
		}
		gate, bad := rt.NewUserEvent(), rt.NewUserEvent()
		waits := r.Acquire(Exclusive, gate.Event(), prof)
		refused := r.Acquire(Exclusive, bad.Event(), prof)
		_ = bad.Cancel(errors.New("on purpose"))
		_ = gate.Trigger(NoEvent)
		between := c.mark(t, rt, prof)
		_ = r.Release(NoEvent)
		if err := rt.Wait(context.Background(), waits); err != nil {
			return err
		}
		c.await(t, rt, 4)
		c.mu.Lock()
		defer c.mu.Unlock()
		for e, o := range map[Event]Outcome{NoEvent: Completed, waits: Completed, refused: Skipped} {
			p := c.of[e]
			if p.Kind != OperationAcquire || p.Outcome != o || p.Reservation != uint64(r.ID()) {
				t.Errorf("%+v, want outcome %v", p, o)
			}
			if o != Skipped {
				inOrder(t, p, p.Create, p.Ready, p.Start, p.End, p.Complete)
			} else if p.Start != 0 || p.Ready != 0 {
				t.Errorf("%+v has asked", p)
			}
		}
		if p := c.of[waits]; p.Ready > between.Create || p.Complete < between.End {
			t.Errorf("%+v has not waited while there was %+v", p, between)
		}
		return r.Release(NoEvent)
	})
	if err != nil {
		t.Fatal(err)
	}
}

var arriveTask = Register("profile.arrive", func(c *Ctx, id BarrierID[struct{}]) error {
	return id.On(c).Arrive(1, struct{}{}, NoEvent)
})

// TestProfileOfArrivals: the profile of an arrival comes when its phase is over, or has failed.
func TestProfileOfArrivals(t *testing.T) {
	err := Run(2, func(rt *Runtime) error {
		if rt.Rank() != 0 {
			return nil
		}
		c := collector{of: map[Event]OperationProfile{}}
		prof := Profile(rt.NewProfiler(c.take))
		b, err := NewBarrier[struct{}](rt, 2, Reduction[struct{}]{})
		if err != nil {
			return err
		}
		outcomes := map[Event]Outcome{}
		for range 3 {
			if err := b.Arrive(1, struct{}{}, NoEvent, prof); err != nil {
				return err
			}
			outcomes[b.Event()] = Completed
			Spawn(rt, makeProcessor(1, CPU, 0), arriveTask, b.ID())
			b = b.Next()
		}
		bad := rt.NewUserEvent()
		if err := b.Arrive(1, struct{}{}, bad.Event(), prof); err != nil {
			return err
		}
		outcomes[b.Event()] = Failed
		_ = bad.Cancel(errors.New("on purpose"))
		Spawn(rt, makeProcessor(1, CPU, 0), arriveTask, b.ID())
		c.await(t, rt, len(outcomes))
		c.mu.Lock()
		defer c.mu.Unlock()
		for e, o := range outcomes {
			p := c.of[e]
			if p.Kind != OperationArrive || p.Outcome != o {
				t.Errorf("%+v, want outcome %v", p, o)
			}
			inOrder(t, p, p.Create, p.Ready, p.Start, p.End, p.Complete)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mark has a task run on a goroutine, and gives its profile.
func (c *collector) mark(t *testing.T, rt *Runtime, prof Option) OperationProfile {
	t.Helper()
	e := SpawnLocal(rt, makeProcessor(rt.Rank(), IO, 0), func(*Ctx) error { return nil }, prof)
	if err := rt.Wait(context.Background(), e); err != nil {
		t.Error(err)
	}
	for {
		c.mu.Lock()
		p, ok := c.of[e]
		c.mu.Unlock()
		if ok {
			return p
		}
		rt.engine.Poll()
		runtime.Gosched()
	}
}

// awaitWaiter returns when something waits for e.
func awaitWaiter(rt *Runtime, e Event) { awaitWaiters(rt, e, 1) }

// awaitWaiters waits until n operations or more of the rank wait for e.
func awaitWaiters(rt *Runtime, e Event, n int) {
	for some := 0; some < n; runtime.Gosched() {
		some = 0
		rt.ev.EachWaiter(func(of event.ID, _ *event.Waiter) {
			if Event(of) == e {
				some++
			}
		})
	}
}

// TestProfileOfWaits: the profile of a task tells how often and for how long it has waited, on a processor and on a
// goroutine of its own. A task that runs during each wait takes less time.
func TestProfileOfWaits(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		for _, p := range []Processor{rt.CPU(0), makeProcessor(0, IO, 0)} {
			c := collector{of: map[Event]OperationProfile{}}
			prof := Profile(rt.NewProfiler(c.take))
			gates := [2]UserEvent{rt.NewUserEvent(), rt.NewUserEvent()}
			e := SpawnLocal(rt, p, func(c *Ctx) error {
				for _, g := range gates {
					if err := c.Wait(g.Event()); err != nil {
						return err
					}
				}
				return c.Wait(gates[0].Event()) // which has triggered
			}, prof)
			var least, first, last time.Duration
			for i, g := range gates {
				awaitWaiter(rt, g.Event())
				m := c.mark(t, rt, prof)
				least += m.End - m.Create
				if last = m.End; i == 0 {
					first = m.Create
				}
				_ = g.Trigger(NoEvent)
			}
			c.await(t, rt, 3)
			x := c.of[e]
			if x.Waits != 2 || x.Waited < least || x.Waited > x.End-x.Start || x.Start > first || x.End < last {
				t.Errorf("%v: %+v, which has waited for %v, from %v to %v", p, x, least, first, last)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
