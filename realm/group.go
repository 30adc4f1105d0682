package realm

import (
	"math"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/realm/internal/events"
)

// group is a queue of tasks that several processors share.
type group struct {
	id      Processor
	members []*processor
	top     atomic.Int64 // the priority of the next task, or noTask. Written under mu

	mu    spin.Lock // guards queue; it may be taken under processor.mu
	queue taskHeap
}

// noTask is less than all priorities.
const noTask = math.MinInt64

// NewGroup makes a processor of kind Group out of CPU or utility processors of this rank. A task that is spawned there
// runs on the member that is free first. A member takes the task of the highest priority among its own and those of its
// groups, and its own first where that is the same. It does not block. The error is ErrArgument.
func (rt *Runtime) NewGroup(members ...Processor) (Processor, error) {
	g := &group{}
	g.top.Store(noTask)
	for _, id := range members {
		p, _ := rt.executorOf(id).(*processor)
		if p == nil {
			return 0, rt.ev.CallErrorf("NewGroup", "%w: %v is no CPU or utility processor of this rank", ErrArgument, id)
		}
		g.members = append(g.members, p)
	}
	if len(members) == 0 {
		return 0, rt.ev.CallErrorf("NewGroup", "%w: no members", ErrArgument)
	}
	id := rt.procs.addGroup(rt.ev.Self, g)
	g.id = id
	for _, p := range g.members {
		p.mu.Lock()
		p.groups = append(p.groups, g)
		p.mu.Unlock()
	}
	return id, nil
}

// pushTask implements executor. All members look; whoever is free takes the task.
func (g *group) pushTask(t *task, k *events.Cascade) {
	g.mu.Lock()
	g.queue.addTask(t)
	g.looked()
	g.mu.Unlock()
	for _, p := range g.members {
		p.mu.Lock()
		p.urgent.Store(true)
		busy := p.turn != nil && !p.lingers
		p.startRunner(k)
		if !busy {
			return
		}
	}
}

// looked notes the priority of the next task. g.mu is held.
func (g *group) looked() { g.top.Store(g.queue.top()) }

// takeHigher takes the next task if it has a higher priority than one; nil if it has not, or there is none.
func (g *group) takeHigher(than int64) *task {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.queue.top() <= than {
		return nil
	}
	t := g.queue.takeTask()
	g.looked()
	return t
}

// fromGroups takes the task of the highest priority of the groups that p is a member of, if that is higher than one.
// p.mu is held.
func (p *processor) fromGroups(than int64) *task {
	for {
		var best *group
		highest := than
		for _, g := range p.groups {
			if top := g.top.Load(); top > highest {
				best, highest = g, top
			}
		}
		if best == nil {
			return nil
		}
		if t := best.takeHigher(than); t != nil { // else another member has taken it
			return t
		}
	}
}

// groupsWaiting tells whether a group of p has tasks of a higher priority than one. p.mu is held.
func (p *processor) groupsWaiting(than int64) bool {
	for _, g := range p.groups {
		if g.top.Load() > than {
			return true
		}
	}
	return false
}
