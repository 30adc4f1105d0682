package realm

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/realm/internal/event"
)

// dumped waits until the dump of rt has lines that match all patterns.
func dumped(t *testing.T, rt *Runtime, patterns ...string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		var b strings.Builder
		rt.ev.OfRank.Dump(&b)
		missing := ""
		for _, p := range patterns {
			if !regexp.MustCompile("(?m)^ *" + p + "$").MatchString(b.String()) {
				missing = p
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(end) {
			t.Errorf("no line %q in\n%s", missing, &b)
			return
		}
	}
}

// TestDumpNamesWaits: a dump tells what waits for which event, and what has to trigger it.
func TestDumpNamesWaits(t *testing.T) {
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		rt := rts[0]
		gate, far := rt.NewUserEvent(), rts[1].NewUserEvent()
		e := Spawn(rt, rt.CPU(0), nothing, args40{}, After(gate.Event()))
		f := Spawn(rt, rt.CPU(0), nothing, args40{}, After(e))
		m := rt.Merge(f, far.Event())
		g := SpawnLocal(rt, rt.CPU(0), func(c *Ctx) error { return c.Wait(m) })
		remote := Spawn(rt, ProcessorOf(1), nothing, args40{}, After(gate.Event()))
		one, two := rt.NewUserEvent(), rt.NewUserEvent()
		h := Spawn(rt, rt.CPU(0), nothing, args40{}, After(one.Event(), two.Event()))
		after := Spawn(rt, rt.CPU(0), nothing, args40{}, After(h))
		got := make(chan error)
		go func() { got <- rt.Wait(context.Background(), g) }()
		go func() { got <- rt.Wait(context.Background(), remote) }()
		q := func(e Event) string { return regexp.QuoteMeta(e.String()) }
		program := ", which the program is to trigger, or who holds a fast reservation"
		dumped(t, rt,
			"golci: rank 0 of 2: 3 calls wait, .*",
			"task nothing of "+q(e)+" waits for "+q(gate.Event())+program,
			"task nothing of "+q(f)+" waits for "+q(e)+", which task nothing of "+q(e)+" is to trigger, which waits for "+
				q(gate.Event())+program,
			"the merged "+q(m)+" waits for "+q(far.Event())+", which rank 1 owns",
			"task function of "+q(g)+", which is in Ctx.Wait, waits for "+q(m)+", which the merged "+q(m)+
				" is to trigger, which .*",
			"Runtime.Wait waits for "+q(g)+", which task function of .* is to trigger, which waits for "+q(m)+", .*",
			"a task with several preconditions, of "+q(h)+", waits for "+q(two.Event())+program,
			"task nothing of "+q(after)+" waits for "+q(h)+", which a task with several preconditions, of "+q(h)+", is to .*",
			"Runtime.Wait waits for "+q(remote)+", which an operation on rank 1 is to trigger",
		)
		var b strings.Builder
		rt.ev.OfRank.Dump(&b)
		if strings.Contains(b.String(), "deadlock") || strings.Contains(b.String(), "waiting outside") {
			t.Errorf("a deadlock, or a thread that is in no call:\n%s", &b)
		}
		for _, u := range []UserEvent{far, gate, one, two} {
			must(t, u.Trigger(NoEvent))
		}
		must(t, <-got)
		must(t, <-got)
	})
}

// TestDumpNamesReservations: a dump tells who waits for a reservation, and that its holder, or the rank that owns it,
// has to do something first. Such an acquire alone is not pending at the end.
func TestDumpNamesReservations(t *testing.T) {
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		rt, far := rts[0], rts[1]
		r, err := NewReservation[int](rt)
		must(t, err)
		if !r.TryAcquire(Exclusive) {
			t.Fatal("not taken")
		}
		there := r.ID().On(far)
		e := Spawn(rt, rt.CPU(0), nothing, args40{}, After(r.Acquire(Exclusive, NoEvent)))
		f := Spawn(far, far.CPU(0), nothing, args40{}, After(there.Acquire(Exclusive, NoEvent)))
		id := regexp.QuoteMeta(r.ID().String())
		acquired := "task nothing of .* waits for event .*, which the acquire of " + id +
			" is to trigger, which waits for " + id
		dumped(t, rt, acquired+", which its holder is to release", "the acquire of "+id+" waits for "+id+", .*")
		dumped(t, far, acquired+", which rank 0 owns")
		must(t, r.Release(NoEvent))
		must(t, wait(t, rt, e))
		must(t, r.Release(NoEvent))
		must(t, wait(t, far, f))
		_ = r.Acquire(Exclusive, NoEvent) // which waits for ever, and nobody for its grant
	})
	var e Event
	err := Run(1, func(rt *Runtime) error {
		r, err := NewReservation[int](rt)
		must(t, err)
		_, _ = r.Acquire(Exclusive, NoEvent), r.Acquire(Exclusive, NoEvent)
		e = rt.NewUserEvent().Event()
		Spawn(rt, rt.CPU(0), nothing, args40{}, After(e))
		return nil
	})
	if !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), " waits for "+e.String()) {
		t.Errorf("a task that waits, and an acquire that nothing waits for: %v", err)
	}
}

// TestDeadlocks: events that wait for each other are found, on one rank by its dump, on several by asking all.
func TestDeadlocks(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		overNets(t, n, func(t *testing.T, rts []*Runtime) {
			us, es := userEvents(rts, 0, 6)
			other := rts[0].NewUserEvent()
			must(t, rts[0].NewUserEvent().Trigger(other.Event()))
			for i := range us {
				rt := rts[i%n]
				after := rt.Merge(es[(i+1)%len(us)], other.Event()) // two more events a step
				must(t, rt.UserEvent(es[i]).Trigger(after))
			}
			for _, rt := range rts {
				var noEnd context.Context
				found, whole, err := rt.Deadlocks(noEnd)
				if err != nil || !whole || len(found) != 1 || len(found[0]) != 2*len(us) {
					t.Errorf("rank %d: %v, %v, %v", rt.ev.Self, found, whole, err)
				}
			}
			if n == 1 {
				dumped(t, rts[0], "deadlock: (.* waits for .*; ){11}.* waits for .*")
			}
			must(t, us[0].Cancel(errTest))
			must(t, other.Trigger(NoEvent))
			for _, e := range es {
				if err := rts[0].Wait(context.Background(), e); err == nil {
					t.Errorf("%v is not poisoned", e)
				}
			}
			for _, rt := range rts {
				if found, _, err := rt.Deadlocks(context.Background()); err != nil || found != nil {
					t.Errorf("rank %d, after the end: %v, %v", rt.ev.Self, found, err)
				}
			}
		})
	}
}

// TestDumpOfCircle: what waits for events in a circle, and is not part of it, is told so, and which operations these
// are.
func TestDumpOfCircle(t *testing.T) {
	team(t, 1, rankConfig("local"), func(rts []*Runtime) {
		rt := rts[0]
		us, es := userEvents(rts, 0, 2)
		must(t, us[0].Trigger(es[1]))
		must(t, us[1].Trigger(es[0]))
		Spawn(rt, rt.CPU(0), nothing, args40{}, After(es[0]))
		q := func(e Event) string { return regexp.QuoteMeta(e.String()) }
		dumped(t, rt, ".* and 1 more wait for "+q(es[0])+", which the trigger of "+q(es[0])+
			" is to trigger, which waits for "+q(es[1])+", which the trigger of "+q(es[1])+" is to trigger, which waits for "+
			q(es[0])+", in a cycle")
		must(t, us[0].Cancel(errTest))
	})
}

// TestCirclesOverRanks: the first rank of a circle over several names it, with what it knows of its own operations. The
// others do not, nor do ranks that have no part in it; a circle on one rank is in its dump already.
func TestCirclesOverRanks(t *testing.T) {
	overNets(t, 3, func(t *testing.T, rts []*Runtime) {
		us, es := userEvents(rts, 1, 2)
		e := Spawn(rts[1], rts[1].CPU(0), nothing, args40{}, After(es[0]))
		must(t, rts[1].UserEvent(es[1]).Trigger(e))
		must(t, rts[2].UserEvent(es[0]).Trigger(es[1]))
		own := rts[0].NewUserEvent()
		must(t, own.Trigger(rts[0].Merge(own.Event(), es[0])))
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		for i, rt := range rts {
			lines := rt.circles(ctx)
			if i != 1 && lines != nil || i == 1 && len(lines) != 1 {
				t.Fatalf("rank %d: %q", i, lines)
			}
			if i == 1 {
				for _, part := range []string{
					"deadlock: ", "task nothing of " + e.String() + " waits for " + es[0].String(),
					"an operation on rank 2, which is to trigger " + es[0].String() + ", waits for " + es[1].String(),
				} {
					if !strings.Contains(lines[0], part) {
						t.Errorf("no %q in %q", part, lines[0])
					}
				}
			}
		}
		over, end := context.WithCancel(context.Background())
		end()
		_ = rts[1].circles(over)     // does not wait
		must(t, own.Cancel(errTest)) // first, as the other poison ends it too
		must(t, us[0].Cancel(errTest))
		for _, e := range es {
			if err := rts[1].Wait(ctx, e); err == nil {
				t.Errorf("%v is not poisoned", e)
			}
		}
	})
}

// TestCycles: each circle is found, and nothing else, whatever the shape of the graph.
func TestCycles(t *testing.T) {
	for _, c := range []struct {
		edges  [][2]event.ID // what waits, and for what
		cycles int
	}{
		{nil, 0},
		{[][2]event.ID{{1, 2}, {2, 3}, {1, 3}, {3, 4}, {1, 4}}, 0},
		{[][2]event.ID{{1, 1}}, 1},
		{[][2]event.ID{{1, 2}, {2, 1}}, 1},
		{[][2]event.ID{{9, 2}, {2, 3}, {3, 4}, {4, 2}, {4, 5}}, 1},
		{[][2]event.ID{{1, 2}, {2, 1}, {3, 4}, {4, 3}, {1, 3}}, 2},
		{[][2]event.ID{{1, 2}, {2, 1}, {2, 3}, {3, 1}}, 2},
	} {
		var ops []blocked
		has := map[[2]event.ID]bool{}
		for _, e := range c.edges {
			ops = append(ops, blocked{to: e[0], of: e[1]})
			has[e] = true
		}
		got := graphOf(ops).cycles()
		if len(got) != c.cycles {
			t.Errorf("%v: cycles %v", c.edges, got)
		}
		for _, cycle := range got {
			for i, e := range cycle {
				if !has[[2]event.ID{e, cycle[(i+1)%len(cycle)]}] {
					t.Errorf("%v: %v is no cycle", c.edges, cycle)
				}
			}
		}
	}
}
