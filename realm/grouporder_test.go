package realm

import (
	"fmt"
	"strings"
	"testing"
)

// TestGroupPriorities: a processor takes the ready task of the highest priority among its own and those of its groups,
// and its own first among equals. SetOperationPriority counts in a group, too.
func TestGroupPriorities(t *testing.T) {
	team(t, 1, rankConfig("local"), func(rts []*Runtime) {
		rt := rts[0]
		p := rt.CPU(0)
		var groups []Processor
		for range 2 {
			g, err := rt.NewGroup(p)
			must(t, err)
			groups = append(groups, g)
		}
		var got []string // by tasks of one processor
		var all []Event
		begun, gate := make(chan struct{}), make(chan struct{})
		all = append(all, SpawnLocal(rt, p, func(*Ctx) error { close(begun); <-gate; return nil }))
		<-begun
		name := map[Processor]string{p: "own", groups[0]: "a", groups[1]: "b"}
		put := func(on Processor, priority int32) Event {
			e := SpawnLocal(rt, on, func(*Ctx) error {
				got = append(got, fmt.Sprintf("%s%d", name[on], priority))
				return nil
			}, Priority(priority))
			all = append(all, e)
			return e
		}
		put(p, -1)
		put(groups[0], 0)
		put(groups[1], 10)
		put(p, 5)
		put(groups[0], 5)
		put(p, 0)
		put(p, 0)
		put(groups[1], -5)
		put(groups[0], -1)
		last := put(groups[1], 20)
		must(t, rt.SetOperationPriority(last, -9))
		close(gate)
		must(t, wait(t, rt, rt.Merge(all...)))
		want := "b10 own5 a5 own0 own0 a0 own-1 a-1 b-5 b20"
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s, want %s", s, want)
		}
	})
}
