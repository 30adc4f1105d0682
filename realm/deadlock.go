package realm

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// blocked is an operation that waits for an event.
type blocked struct {
	what   string
	of, to event.ID     // it waits for of, and triggers to then; to may be 0
	call   string       // the function that waits; empty for an operation
	thread *fult.Thread // of the call, nil for a goroutine
	advice bool         // it is what the program has said of itself
	rank   int          // that it waits on, as far as several ranks are looked at
}

// blockedBy tells of the operation that w is part of, which waits for e.
func blockedBy(e event.ID, w *event.Waiter) blocked {
	b := blocked{what: describe(w), of: e}
	switch x := w.Op.(type) {
	case *task:
		b.to = x.finish
	case *runner:
		b.call, b.thread = x.call.String(), x.caller()
		if x.task != nil {
			b.to = x.task.finish
		}
	case *events.Forward:
		b.to = x.To
	case *merger:
		if x.early.Load() == nil { // else it has done its work
			b.to = x.to
		}
	case *job:
		b.to = x.finish
	case *fetching:
		b.to = x.j.finish
	case *reduction:
		b.to = x.finish
	case *events.Arrival:
		b.to = x.Phase()
	case *lockOp:
		if x.what == opAcquire || x.what == opGrant {
			b.to = x.grant
		}
	case *sleeper:
		b.call, b.thread = x.call.String(), x.caller()
	case *advice:
		b.to, b.advice = x.to, true
	}
	return b
}

// waitGraph is what waits for what: of this rank, or of several.
type waitGraph struct {
	ops []blocked               // in the order of what they wait for, reservations last
	by  map[event.ID][]event.ID // what an event waits for
	who map[event.ID]*blocked   // an operation that triggers the event

	ends map[event.ID]chainEnd // those that were found
}

func graphOf(ops []blocked) *waitGraph {
	slices.SortStableFunc(ops, func(a, b blocked) int {
		return cmp.Or(cmp.Compare(a.of.Kind(), b.of.Kind()), cmp.Compare(a.of, b.of), cmp.Compare(a.call, b.call),
			cmp.Compare(a.to, b.to))
	})
	g := &waitGraph{ops, make(map[event.ID][]event.ID), make(map[event.ID]*blocked), make(map[event.ID]chainEnd)}
	for i := range ops {
		if b := &ops[i]; b.to != 0 {
			g.by[b.to] = append(g.by[b.to], b.of)
			g.who[b.to] = b
		}
	}
	return g
}

// blockedHere are the operations of this rank that wait, and advice that still matters. An acquire whose precondition
// has triggered waits for the reservation.
func (rt *Runtime) blockedHere() (ops []blocked) {
	add := func(e event.ID, w *event.Waiter) { ops = append(ops, blockedBy(e, w)) }
	rt.ev.EachWaiter(add)
	rt.locks.eachCell(func(c *lockCell) { c.core.Waiters(func(w *event.Waiter) { add(c.id, w) }) })
	return slices.DeleteFunc(ops, func(b blocked) bool {
		if !b.advice {
			return false
		}
		st, _ := rt.ev.LookAtEvent(b.to)
		return st == event.Triggered
	})
}

// cycles are events that wait for each other, each for the next, and the last for the first.
func (g *waitGraph) cycles() (all [][]event.ID) {
	const visiting, visited = 1, 2
	state := make(map[event.ID]int)
	type step struct {
		e    event.ID
		next int // of what e waits for
	}
	for _, start := range slices.Sorted(maps.Keys(g.by)) {
		for path := []step{{start, 0}}; len(path) > 0 && state[start] != visited; {
			s := &path[len(path)-1]
			state[s.e] = visiting
			of := g.by[s.e]
			if s.next == len(of) {
				state[s.e] = visited
				path = path[:len(path)-1]
				continue
			}
			e := of[s.next]
			s.next++
			switch state[e] {
			case 0:
				path = append(path, step{e, 0})
			case visiting:
				var cycle []event.ID
				for i := len(path) - 1; len(cycle) == 0 || cycle[len(cycle)-1] != e; i-- {
					cycle = append(cycle, path[i].e)
				}
				slices.Reverse(cycle)
				all = append(all, cycle)
			}
		}
	}
	return all
}

// cycleLine describes a cycle.
func (g *waitGraph) cycleLine(cycle []event.ID) string {
	var steps []string
	for i, e := range cycle {
		steps = append(steps, fmt.Sprintf("%s waits for %v", g.who[e].what, cycle[(i+1)%len(cycle)]))
	}
	return "deadlock: " + strings.Join(steps, "; ")
}

// longestPath bounds how many events a line names between the one that is waited for and what has to trigger first.
const longestPath = 6

// reason tells what has to happen for e to trigger: it follows what e waits for to the first event that waits for
// nothing on this rank.
func (rt *Runtime) reason(g *waitGraph, e event.ID, idle bool) string {
	var b strings.Builder
	last, seen := g.endOf(e), map[event.ID]bool{}
	for ; g.who[e] != nil && !seen[e]; e = g.by[e][0] {
		if len(seen) == longestPath {
			b.WriteString(", and so on")
			break
		}
		fmt.Fprintf(&b, ", which %s is to trigger, which waits for %v", g.who[e].what, g.by[e][0])
		seen[e] = true
	}
	if last.cycle {
		return b.String() + ", in a cycle"
	}
	return b.String() + ", " + rt.lastReason(last.e, idle)
}

// chainEnd is where the way from one event to the next that it waits for ends: at an event for which no operation
// waits, or never.
type chainEnd struct {
	e     event.ID // 0 while the way is being gone, and in a circle
	cycle bool
}

// endOf finds the end of the way from e, once for all events on it.
func (g *waitGraph) endOf(e event.ID) chainEnd {
	var way []event.ID
	for {
		x, known := g.ends[e]
		switch {
		case known && x == (chainEnd{}):
			x.cycle = true
		case known:
		case g.who[e] == nil:
			x.e = e
		default:
			g.ends[e] = chainEnd{}
			way = append(way, e)
			e = g.by[e][0]
			continue
		}
		for _, e := range way {
			g.ends[e] = x
		}
		return x
	}
}

// lastReason tells which rank is to trigger e, for which no operation waits here.
func (rt *Runtime) lastReason(e event.ID, idle bool) string {
	if e.IsEvent() && e.EventRank() == rt.ev.Self {
		c := rt.ev.Events.CellAt(e.EventIndex())
		c.Lock.Lock()
		by := c.Expect
		c.Lock.Unlock()
		switch {
		case by > events.None:
			return fmt.Sprintf("which an operation on rank %d is to trigger", by-1)
		case idle:
			return "which the program is to trigger, or who holds a fast reservation"
		}
		return "which a task that runs or is ready, or the program, is to trigger"
	}
	if c := rt.locks.findCell(e); c != nil {
		c.lock.Lock()
		defer c.lock.Unlock()
		if c.core.Owned() {
			return "which its holder is to release"
		}
		return fmt.Sprintf("which rank %d owns", c.core.Owner())
	}
	return fmt.Sprintf("which rank %d owns", e.Rank())
}

// reportWaits adds what waits to a dump.
func (rt *Runtime) reportWaits(x *rank.Report) {
	rt.procs.eachRunning(func(p *processor) {
		p.mu.Lock()
		for _, r := range p.idle {
			x.InCall(r.thread.Load())
		}
		p.mu.Unlock()
	})
	ops := rt.blockedHere()
	for i := range ops {
		if ops[i].call != "" {
			x.Calls++
			x.InCall(ops[i].thread)
		}
	}
	x.Lines = append(x.Lines, rt.waitLines(ops, math.MaxInt)...)
}

// firstWait describes one of the operations that wait, and a cycle rather than others.
func (rt *Runtime) firstWait() string {
	if lines := rt.waitLines(rt.blockedHere(), 1); len(lines) > 0 {
		return lines[0]
	}
	return "it has ended since"
}

// waitLines describes what waits: first cycles, then the operations that wait for each event, and the calls by their
// names. Advice is none of these. It stops after most lines.
func (rt *Runtime) waitLines(ops []blocked, most int) (lines []string) {
	g, idle := graphOf(ops), rt.isIdle()
	for _, c := range g.cycles() {
		lines = append(lines, g.cycleLine(c))
	}
	g.ops = slices.DeleteFunc(slices.Clone(g.ops), func(b blocked) bool { return b.advice }) // g.who has the others
	for i := 0; i < len(g.ops) && len(lines) < most; {
		same := 1
		for i+same < len(g.ops) && g.ops[i+same].of == g.ops[i].of && g.ops[i+same].call == g.ops[i].call {
			same++
		}
		b := g.ops[i]
		line := fmt.Sprintf("%s waits for %v", b.what, b.of)
		if same > 1 {
			line = fmt.Sprintf("%s and %d more wait for %v", b.what, same-1, b.of)
		}
		lines = append(lines, line+rt.reason(g, b.of, idle))
		i += same
	}
	return lines
}
