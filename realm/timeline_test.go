package realm

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/rank"
)

// timelineOf runs f on rank 0 of a job of two, and returns what the timeline of the job shows.
func timelineOf(t *testing.T, f func(rt *Runtime) error) []mark {
	t.Helper()
	dir := t.TempDir()
	cfg := rank.Config{Settings: map[string]string{settings.Trace.Env(): filepath.Join(dir, "%r.part")}}
	err := RunWith(2, cfg, func(rt *Runtime) error {
		if rt.Rank() != 0 {
			return nil
		}
		return f(rt)
	})
	if err != nil {
		t.Fatal(err)
	}
	return marksOf(t, filepath.Join(dir, "0.part"), filepath.Join(dir, "1.part"))
}

// shown is how many marks there are of a name that want accepts. Slices of goroutines that share a track are spans.
func shown(marks []mark, name string, want func(m mark) bool) (n int) {
	for _, m := range marks {
		if m.Name == name && (m.Phase == "X" || m.Phase == "b") && want(m) {
			n++
		}
	}
	return n
}

// TestTimelineOfTransfers: what moves data is to be seen on the rank that works, with bytes and peer, and an arrow from
// what has let it begin.
func TestTimelineOfTransfers(t *testing.T) {
	const n = 1 << 19
	var copies, fills, reductions Event
	marks := timelineOf(t, func(rt *Runtime) error {
		here, there := arrayOn(t, rt, 0, System, n), arrayOn(t, rt, 1, System, n)
		gate := rt.NewUserEvent()
		some := Range(0, 4)
		small := Copy(rt, there, here, Part{Points: &some}, After(gate.Event()))
		copies = Copy(rt, there, here, Part{}, After(small))
		back := Copy(rt, here, there, Part{}, After(copies))
		fills = Fill(rt, here, 0, uint64(1), nil, After(back))
		list, err := NewList(sumUint64, Range(0, n))
		if err != nil {
			return err
		}
		for i := range int64(1 << 16) {
			_ = list.Reduce(i, 1)
		}
		reductions = Reduce(rt, there, 0, list, After(fills))
		_ = gate.Trigger(NoEvent)
		return rt.Wait(context.Background(), reductions)
	})
	bytes := func(rank, peer, bytes int) func(m mark) bool {
		return func(m mark) bool { return m.Rank == rank && m.Args.Peer == peer && m.Args.Bytes == bytes }
	}
	// Each large copy has a piece that sends all, and a span from ready to complete; a small one has these, too.
	for _, rank := range []int{0, 1} {
		if got := shown(marks, "copy", bytes(rank, 1-rank, 8*n)); got != 2 {
			t.Errorf("rank %d has %d slices and spans of large copies, want 2", rank, got)
		}
		if got := shown(marks, "copy for", bytes(rank, 1-rank, 8*n)); got != 1 {
			t.Errorf("rank %d has received %d large copies, want 1", rank, got)
		}
	}
	if a, b := shown(marks, "copy", bytes(0, 1, 32)), shown(marks, "copy for", bytes(1, 0, 32)); a != 2 || b != 1 {
		t.Errorf("a small copy has %d slices and spans, and %d at the other rank", a, b)
	}
	pieces := func(m mark) bool { return m.Args.Finish == uint64(fills) && m.Args.Bytes == stepBytes }
	if got := shown(marks, "fill", pieces); got != 8*n/stepBytes {
		t.Errorf("%d pieces of a fill, want %d", got, 8*n/stepBytes)
	}
	for i, m := range marks {
		if (m.Phase == "X" || m.Phase == "b") && m.Args.Bytes == 8*n && m.end(marks) <= m.Time+0.001 {
			t.Errorf("%+v takes no time", m)
		}
		if m.Phase == "b" && m.Name == "copy" && m.Args.Bytes == 8*n && m.Cat == "whole" {
			wholeOf(t, marks, marks[i])
		}
	}
	sent := shown(marks, "reduce", func(m mark) bool { return m.Rank == 0 && m.Args.Peer == 1 && m.Args.Bytes > 0 })
	came := shown(marks, "reduce for", func(m mark) bool { return m.Rank == 1 && m.Args.Peer == 0 && m.Args.Bytes > 0 })
	if came < 2 || sent != came+1 { // and the span of all
		t.Errorf("%d chunks of reductions were sent, %d came", sent-1, came)
	}
	from := map[string]mark{}
	for _, m := range marks {
		if m.Phase == "s" && m.Name == "operation" {
			from[m.ID] = m
		}
	}
	if len(from) != 5 {
		t.Errorf("%d operations became ready, want 5", len(from))
	}
	for _, m := range marks {
		if m.Phase == "f" && m.Name == "operation" {
			s, ok := from[m.ID]
			if !ok || s.Time > m.Time || s.Rank != m.Rank {
				t.Errorf("the arrow of %+v begins at %+v", m, s)
			}
			delete(from, m.ID)
		}
	}
	// Threads that are goroutines have no tracks, so there tasks are spans. A goroutine's trigger begins one copy.
	workers := shown(marks, "profile.array", func(m mark) bool { return m.Phase == "X" }) > 0
	if workers && len(from) > 1 {
		t.Errorf("arrows without an end: %v", from)
	}
}

// end is when a slice or a span is over.
func (m mark) end(marks []mark) float64 {
	for _, e := range marks {
		if m.Phase == "b" && e.Phase == "e" && e.ID == m.ID && e.Cat == m.Cat {
			return e.Time
		}
	}
	return m.Time + m.Long
}

// wholeOf checks that the span of an operation is from where it was ready to the end of its pieces.
func wholeOf(t *testing.T, marks []mark, whole mark) {
	t.Helper()
	end, ready := whole.end(marks), false
	for _, m := range marks {
		if m.Rank != whole.Rank || m.Args.Finish != whole.Args.Finish {
			continue
		}
		ready = ready || m.Name == "ready" && m.Time == whole.Time
		if (m.Phase == "X" || m.Phase == "b") && (m.Time < whole.Time || m.Name == whole.Name && m.end(marks) > end) {
			t.Errorf("%+v lies outside of %+v, which ends at %v", m, whole, end)
		}
	}
	if !ready {
		t.Errorf("%+v was not ready", whole)
	}
}

// TestTimelineOfLengths: what takes time is on the timeline from its begin to its end: a task runs meanwhile.
func TestTimelineOfLengths(t *testing.T) {
	var middles []Event
	marks := timelineOf(t, func(rt *Runtime) error {
		io := makeProcessor(0, IO, 0)
		middle := func() error {
			e := SpawnLocal(rt, io, func(*Ctx) error { return nil })
			middles = append(middles, e)
			return rt.Wait(context.Background(), e)
		}
		r, err := NewReservation[int64](rt)
		if err != nil {
			return err
		}
		b, err := NewBarrier[struct{}](rt, 3, Reduction[struct{}]{})
		if err != nil {
			return err
		}
		gate := rt.NewUserEvent()
		done := make(chan error)
		go func() { done <- rt.Wait(context.Background(), gate.Event()) }()
		awaitWaiter(rt, gate.Event())
		if !r.TryAcquire(Exclusive) {
			t.Error("a new reservation is taken")
		}
		if err := b.Arrive(2, struct{}{}, NoEvent); err != nil {
			return err
		}
		waits := Spawn(rt, rt.CPU(0), waitTask, gate.Event())
		awaitWaiters(rt, gate.Event(), 2) // the goroutine and the task
		var runs atomic.Bool
		long := SpawnLocal(rt, io, func(*Ctx) error {
			runs.Store(true)
			for runs.Load() {
				runtime.Gosched()
			}
			return nil
		})
		for !runs.Load() {
			runtime.Gosched()
		}
		if err := middle(); err != nil {
			return err
		}
		runs.Store(false)
		_ = gate.Trigger(NoEvent)
		return errors.Join(<-done, r.Release(NoEvent), b.Arrive(1, struct{}{}, NoEvent),
			rt.Wait(context.Background(), rt.Merge(waits, long, b.Event())))
	})
	at := -1.0
	for _, m := range marks {
		if m.Phase == "b" && m.Name == "function" && m.Args.Finish == uint64(middles[0]) {
			at = m.Time
		}
	}
	covered := map[string]bool{}
	for _, m := range marks {
		if m.Rank == 0 && (m.Phase == "b" || m.Phase == "X") && m.Time < at && at < m.end(marks) {
			covered[m.Name] = true
		}
	}
	for _, name := range []string{"wait", "call waits", "hold", "phase", "function"} {
		if !covered[name] {
			t.Errorf("%q does not take the time that it took: %v around %v", name, covered, at)
		}
	}
	for count := 1; count <= 2; count++ {
		if shownAt(marks, "arrive", count) != 1 {
			t.Errorf("no arrival of %d", count)
		}
	}
}

// shownAt is how many instants there are of a name, with a count.
func shownAt(marks []mark, name string, count int) (n int) {
	for _, m := range marks {
		if m.Phase == "i" && m.Name == name && m.Args.Count == count {
			n++
		}
	}
	return n
}

// looker waits until all counters of rt have been looked at.
func looker(rt *Runtime) (looked func()) {
	var looks atomic.Int64
	rt.ev.OfRank.Count("looks", func() int64 { return looks.Add(1) })
	return func() {
		until := time.Now().Add(300 * time.Millisecond) // a counter is looked at after 250 ms at the latest
		for n := looks.Load(); looks.Load() < n+3 || time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
	}
}

// TestTimelineOfCounters: events that are alive, bytes of instances, and tasks that are ready are counted, and are gone
// at the end.
func TestTimelineOfCounters(t *testing.T) {
	const n = 300
	marks := timelineOf(t, func(rt *Runtime) error {
		looked := looker(rt)
		in, err := NewArray[uint64](rt, rt.Memory(System), Range(0, n))
		if err != nil {
			return err
		}
		all := []Event{SpawnLocal(rt, rt.CPU(0), func(*Ctx) error {
			looked() // the others are ready meanwhile
			return nil
		})}
		for range n {
			all = append(all, SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { return nil }))
		}
		if err := rt.Wait(context.Background(), rt.Merge(all...)); err != nil {
			return err
		}
		if err := rt.Wait(context.Background(), Destroy(rt, in)); err != nil {
			return err
		}
		looked()
		return nil
	})
	most, last := map[string]int{}, map[string]int{}
	for _, m := range marks {
		if m.Phase == "C" && m.Rank == 0 {
			most[m.Name] = max(most[m.Name], m.Args.Value)
			last[m.Name] = m.Args.Value
		}
	}
	ready, bytes := "ready for "+makeProcessor(0, CPU, 0).String(), "bytes in "+makeMemory(0, System).String()
	if most["live events"] < n || most[bytes] < 8*n || most[ready] < n {
		t.Errorf("most: %v", most)
	}
	if last["live events"] >= n || last[bytes] != 0 || last[ready] != 0 {
		t.Errorf("last: %v", last)
	}
}

var holdTask = Register("timeline.hold", func(c *Ctx, id ReservationID[int64]) error {
	r := id.On(c)
	if err := c.Wait(r.Acquire(Exclusive, NoEvent)); err != nil {
		return err
	}
	*r.Payload()++
	return r.Release(NoEvent)
})

// TestTimelineOfReservations: each hold is a span on the rank that holds, with the rank that it came from; acquires
// that wait are spans, too.
func TestTimelineOfReservations(t *testing.T) {
	const each = 5
	var id uint64
	marks := timelineOf(t, func(rt *Runtime) error {
		r, err := NewReservation[int64](rt)
		if err != nil {
			return err
		}
		id = uint64(r.ID())
		for range each {
			if e := r.Acquire(Exclusive, NoEvent); e != NoEvent {
				if err := rt.Wait(context.Background(), e); err != nil {
					return err
				}
			}
			if err := r.Release(NoEvent); err != nil {
				return err
			}
			e := Spawn(rt, ProcessorOf(1), holdTask, r.ID())
			if err := rt.Wait(context.Background(), e); err != nil {
				return err
			}
		}
		if !r.TryAcquire(Exclusive) {
			if err := rt.Wait(context.Background(), r.Acquire(Exclusive, NoEvent)); err != nil {
				return err
			}
		}
		if *r.Payload() != each {
			t.Errorf("payload %d", *r.Payload())
		}
		return r.Release(NoEvent)
	})
	holds := func(rank, from int) int {
		return shown(marks, "hold", func(m mark) bool {
			return m.Rank == rank && m.Args.From == from && m.Args.Reservation == id
		})
	}
	if a, b, c := holds(0, 0), holds(0, 1), holds(1, 0); a != 1 || b != each || c != each {
		t.Errorf("%d first holds, %d that came back, %d of rank 1, want 1, %d and %d", a, b, c, each, each)
	}
	for rank := range 2 {
		got := shown(marks, "acquire", func(m mark) bool {
			return m.Rank == rank && m.Args.From == 1-rank && m.Args.Reservation == id
		})
		if got != each {
			t.Errorf("rank %d has waited %d times, want %d", rank, got, each)
		}
	}
}

// TestTimelineOfBarriers: arrivals are marks, and phases are spans on each rank that arrives and hears of their end.
func TestTimelineOfBarriers(t *testing.T) {
	const phases = 4
	marks := timelineOf(t, func(rt *Runtime) error {
		b, err := NewBarrier[struct{}](rt, 2, Reduction[struct{}]{})
		if err != nil {
			return err
		}
		for range phases {
			if err := b.Arrive(1, struct{}{}, NoEvent); err != nil {
				return err
			}
			gate := rt.NewUserEvent()
			Spawn(rt, ProcessorOf(1), waitPhase, b.ID(), After(gate.Event()))
			_ = gate.Trigger(NoEvent)
			if err := rt.Wait(context.Background(), b.Event()); err != nil {
				return err
			}
			b = b.Next()
		}
		return nil
	})
	arrivals := map[int]int{}
	spawns := map[string]int{}
	for _, m := range marks {
		if m.Phase == "i" && m.Name == "arrive" {
			arrivals[m.Rank]++
		}
		if m.Name == "spawn" {
			spawns[m.Phase]++
		}
	}
	for rank := range 2 {
		got := shown(marks, "phase", func(m mark) bool { return m.Rank == rank })
		if got != phases || arrivals[rank] != phases {
			t.Errorf("rank %d has %d phases and %d arrivals, want %d", rank, got, arrivals[rank], phases)
		}
	}
	if spawns["s"] != phases || spawns["f"] != phases {
		t.Errorf("arrows of spawns with a precondition: %v, want %d", spawns, phases)
	}
}

var waitPhase = Register("timeline.phase", func(c *Ctx, id BarrierID[struct{}]) error {
	b := id.On(c)
	if err := b.Arrive(1, struct{}{}, NoEvent); err != nil {
		return err
	}
	return c.Wait(b.Event())
})
