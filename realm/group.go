package realm

import (
	"sync/atomic"

	"github.com/golci/golci/internal/spin"
)

// group is a queue of tasks that several processors share.
type group struct {
	id      Processor
	members []*processor
	some    atomic.Bool // the queue is not empty

	mu    spin.Lock // guards queue; it may be taken under processor.mu
	queue taskHeap
}

// NewGroup makes a processor of kind Group out of CPU or utility processors of this rank. A task that is spawned there
// runs on the member that is free first. It does not block. The error is ErrArgument.
func (rt *Runtime) NewGroup(members ...Processor) (Processor, error) {
	g := &group{}
	for _, id := range members {
		p, _ := rt.executorOf(id).(*processor)
		if p == nil {
			return 0, rt.errorf("NewGroup", "%w: %v is no CPU or utility processor of this rank", ErrArgument, id)
		}
		g.members = append(g.members, p)
	}
	if len(members) == 0 {
		return 0, rt.errorf("NewGroup", "%w: no members", ErrArgument)
	}
	id := rt.procs.addGroup(rt.rank, g)
	g.id = id
	for _, p := range g.members {
		p.mu.Lock()
		p.groups = append(p.groups, g)
		p.mu.Unlock()
	}
	return id, nil
}

// push implements executor. All members look; whoever is free takes the task.
func (g *group) push(t *task, k *cascade) {
	g.mu.Lock()
	g.queue.add(t)
	g.some.Store(true)
	g.mu.Unlock()
	for _, p := range g.members {
		p.mu.Lock()
		p.urgent.Store(true)
		busy := p.turn != nil && !p.lingers
		p.start(k)
		if !busy {
			return
		}
	}
}

// take takes a task; nil if there is none.
func (g *group) take() *task {
	if !g.some.Load() {
		return nil
	}
	g.mu.Lock()
	t := g.queue.take()
	g.some.Store(g.queue.any())
	g.mu.Unlock()
	return t
}

// fromGroups takes a task of a group that p is a member of. p.mu is held.
func (p *processor) fromGroups() *task {
	for _, g := range p.groups {
		if t := g.take(); t != nil {
			return t
		}
	}
	return nil
}

// groupsWaiting tells whether a group of p has tasks. p.mu is held.
func (p *processor) groupsWaiting() bool {
	for _, g := range p.groups {
		if g.some.Load() {
			return true
		}
	}
	return false
}
