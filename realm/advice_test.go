package realm

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
)

// TestAdviseOrder: a circle that the program closes by its own triggers is found by its advice, and named. Nothing
// waits for advice, and advice on what has triggered is over.
func TestAdviseOrder(t *testing.T) {
	for n := 1; n <= 2; n++ {
		overNets(t, n, func(t *testing.T, rts []*Runtime) {
			rt, far := rts[0], rts[n-1]
			gate := rt.NewUserEvent()
			e := Spawn(rt, rt.CPU(0), nothing, args40{}, After(gate.Event()))
			f := Spawn(far, far.CPU(0), nothing, args40{}, After(e))
			deadlocks := func() []Deadlock {
				t.Helper()
				found, _, err := rt.Deadlocks(context.Background())
				must(t, err)
				return found
			}
			if found := deadlocks(); found != nil {
				t.Errorf("without advice: %v", found)
			}
			must(t, rt.AdviseOrder(f, gate.Event()))
			if found := deadlocks(); len(found) != 1 || len(found[0]) != 3 {
				t.Errorf("%d ranks: %v", n, found)
			}
			line := "deadlock: .*the program, which by its advice triggers .*, waits for .*"
			if n > 1 { // the dump of one rank has one part of the circle
				line = "task nothing of .* waits for .*, which the program, which by its advice triggers .*, is to trigger, " +
					"which waits for " + regexp.QuoteMeta(f.String()) + ", which rank 1 owns"
			}
			dumped(t, rt, line)
			var b strings.Builder
			if rt.ev.OfRank.Dump(&b); regexp.MustCompile(`(?m)^ *the program`).MatchString(b.String()) {
				t.Errorf("advice counts as what waits:\n%s", &b)
			}
			must(t, gate.Trigger(NoEvent))
			must(t, rt.Wait(context.Background(), f))
			must(t, rt.AdviseOrder(f, gate.Event()))
			if err := rt.AdviseOrder(noSuchEvent, f); err != nil {
				t.Errorf("advice on what has triggered: %v", err)
			}
			over, never := rt.NewUserEvent(), rt.NewUserEvent()
			must(t, rt.AdviseOrder(never.Event(), over.Event()))
			must(t, rt.AdviseOrder(over.Event(), never.Event()))
			if found := deadlocks(); len(found) != 1 {
				t.Errorf("a circle of advice: %v", found)
			}
			must(t, over.Trigger(NoEvent))
			if found := deadlocks(); found != nil {
				t.Errorf("advice that was wrong: %v", found)
			}
			if n, _ := rt.unended(); n != 0 {
				t.Errorf("%d operations wait", n)
			}
			for _, pair := range [][2]Event{{noSuchEvent, never.Event()}, {never.Event(), noSuchEvent}} {
				if err := rt.AdviseOrder(pair[0], pair[1]); !errors.Is(err, ErrArgument) {
					t.Errorf("an event that cannot be: %v", err)
				}
			}
		})
	}
}
