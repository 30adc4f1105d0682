package realm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golci/golci/realm/internal/event"
)

// TestBriefWord: what a brief spawn says in one word is what the long form says, and no spawn is brief that the word
// has no room for.
func TestBriefWord(t *testing.T) {
	rnd := rand.New(rand.NewPCG(seedOf(t), 1))
	rt := new(Runtime)
	for range 100_000 {
		rt.ev.Self = rnd.IntN(event.MaxRanks)
		src := rnd.IntN(event.MaxRanks)
		p := makeProcessor(rt.ev.Self, ProcessorKind(rnd.IntN(int(Group)+1)), rnd.IntN(64))
		place := rnd.Uint64N(1 << 13)
		finish := event.MakeEvent(src, rnd.IntN(event.MaxIndex+1), rnd.Uint32N(event.MaxGen+1))
		if want := p.Kind() == CPU && p.Index() < 32 && place < 4096; isBrief(p, place) != want {
			t.Fatalf("%v, place %d: brief %v", p, place, !want)
		} else if !want {
			continue
		}
		want := [spawnWords]uint64{uint64(p), place, 0, uint64(finish), 0}
		if got := rt.unbrief(src, brief(p, place, finish)); got != want {
			t.Fatalf("%v, place %d, %v: %x, want %x", p, place, finish, got, want)
		}
	}
}

type whereArgs struct {
	On       Processor
	Priority int32
}

var whereTask = Register("brief/where", func(c *Ctx, a whereArgs) error {
	if p := c.task.priority; c.Processor() != a.On || p != a.Priority {
		return fmt.Errorf("a task for %v with priority %d has %d", a.On, a.Priority, p)
	}
	return nil
})

// TestSpawnOnEach spawns on processors of all kinds and indices of another rank, so by brief and by long messages. With
// a priority or a precondition the message is long, too.
func TestSpawnOnEach(t *testing.T) {
	const n = 40
	err := Run(2, func(rt *Runtime) error {
		if rt.Rank() != 0 {
			return nil
		}
		on := []Processor{makeProcessor(1, Utility, 0), makeProcessor(1, IO, 0)}
		for i := range n {
			on = append(on, makeProcessor(1, CPU, i))
		}
		u := rt.NewUserEvent()
		var all []Event
		for _, p := range on {
			plain := Spawn(rt, p, whereTask, whereArgs{On: p})
			urgent := Spawn(rt, p, whereTask, whereArgs{p, 3}, Priority(3))
			late := Spawn(rt, p, whereTask, whereArgs{On: p}, After(u.Event()))
			if err := rt.Wait(t.Context(), rt.Merge(plain, urgent)); err != nil {
				t.Error(err)
			}
			if done, _ := rt.HasTriggered(late); done {
				t.Errorf("%v: a task runs before its precondition", p)
			}
			all = append(all, late)
		}
		must(t, u.Trigger(NoEvent))
		return rt.Wait(t.Context(), rt.Merge(all...))
	}, Config{CPUs: n})
	if err != nil {
		t.Error(err)
	}
}
