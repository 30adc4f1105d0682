package realm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/realm/internal/event"
)

// node is an event of a random graph, and what is to become of it.
type node struct {
	e      Event
	what   string
	causes []string // of which one poisons it; none: it is not poisoned
	begin  func() error
}

// graph is a random graph of events that depend on each other, over several ranks.
type graph struct {
	rng   *rand.Rand
	rts   []*Runtime
	nodes []*node
}

func (g *graph) rank() *Runtime { return g.rts[g.rng.IntN(len(g.rts))] }

// some are up to n nodes, mostly new ones.
func (g *graph) some(n int) (of []*node, events []Event, causes []string) {
	for range g.rng.IntN(n + 1) {
		if len(g.nodes) == 0 {
			break
		}
		x := g.nodes[len(g.nodes)-1-g.rng.IntN(min(len(g.nodes), 20))]
		of, events = append(of, x), append(events, x.e)
		causes = append(causes, x.causes...)
	}
	slices.Sort(causes)
	return of, events, slices.Compact(causes)
}

func (g *graph) add() {
	x := new(node)
	at, owner := g.rank(), g.rank()
	of, events, causes := g.some(9)
	ignore := g.rng.IntN(6) == 0
	x.causes = causes
	var opts []Option
	if ignore {
		x.causes, opts = nil, []Option{IgnoreFaults()}
	}
	switch g.rng.IntN(4) {
	case 0:
		g.source(x, at, owner)
		of = nil
	case 1:
		u := at.UserEvent(owner.NewUserEvent().Event())
		x.e, x.what = u.Event(), "trigger"
		after := at.MergeIgnoringFaults(events...)
		if !ignore {
			after = at.Merge(events...)
		}
		x.begin = func() error { return u.Trigger(after, opts...) }
	case 2:
		x.what = "merge"
		if x.e = at.Merge(events...); ignore {
			x.e = at.MergeIgnoringFaults(events...)
		}
	case 3:
		x.what = "task"
		x.e = Spawn(at, makeProcessor(owner.ev.Self, CPU, 0), nothing, args40{}, append(opts, After(events...))...)
	}
	x.what += fmt.Sprintf(" of %d on rank %d, ignoring %v", len(of), at.ev.Self, ignore)
	g.nodes = append(g.nodes, x)
}

// source makes x an event that the program triggers or cancels.
func (g *graph) source(x *node, at, owner *Runtime) {
	u := at.UserEvent(owner.NewUserEvent().Event())
	x.e, x.what, x.causes = u.Event(), "source", nil
	x.begin = func() error { return u.Trigger(NoEvent) }
	if g.rng.IntN(8) == 0 {
		cause := fmt.Sprintf("cause %d", len(g.nodes))
		x.causes = []string{cause}
		x.begin = func() error { return u.Cancel(errors.New(cause)) }
	}
}

// check waits for all nodes, each on some rank.
func (g *graph) check() (errs error) {
	for i, x := range g.nodes {
		rt := g.rank()
		err := rt.Wait(context.Background(), x.e)
		var pe *PoisonError
		wrong := err != nil
		if len(x.causes) > 0 {
			wrong = !errors.As(err, &pe) || !slices.Contains(x.causes, pe.Cause) && pe.Rank != event.NoRank
		}
		if wrong {
			errs = errors.Join(errs, fmt.Errorf("node %d, %s, on rank %d: %v, want one of %q",
				i, x.what, rt.ev.Self, err, x.causes))
		}
	}
	return errs
}

// TestRandomGraphs builds graphs of events of all ranks. It begins their sources in a random order, some before the
// graph is whole. Then each event must have triggered, with the poison of one that it depends on. The cause may be
// forgotten where an event is asked about long after.
func TestRandomGraphs(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rounds := 30
	switch {
	case invariants.Race: // each graph has 200 nodes that begin beside each other
		rounds = 2
	case testing.Short():
		rounds = 5
	}
	for _, n := range []int{1, 2, 3, 5} {
		overNets(t, n, func(t *testing.T, rts []*Runtime) {
			for i := range rounds {
				g := &graph{rng: rand.New(rand.NewPCG(seed, uint64(n*1000+i))), rts: rts}
				g.run(t)
			}
		})
	}
}

func (g *graph) run(t *testing.T) {
	var early sync.WaitGroup
	for range 200 {
		g.add()
		if x := g.nodes[g.rng.IntN(len(g.nodes))]; x.begin != nil && g.rng.IntN(3) == 0 {
			begin := x.begin
			x.begin = nil
			early.Go(func() { must(t, begin()) })
		}
	}
	for _, i := range g.rng.Perm(len(g.nodes)) {
		if begin := g.nodes[i].begin; begin != nil {
			early.Go(func() { must(t, begin()) })
		}
	}
	early.Wait()
	must(t, g.check())
}
