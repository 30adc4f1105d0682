package realm

import (
	"sync"

	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/realm/internal/events"
)

// ioProcessor runs each task on a goroutine of its own, so many at a time. A task that waits for an event does not
// count: it has freed its place. When it goes on there may be more for a while, and then others that end are not
// followed. So a queue that is not empty has limit tasks before it that do not wait.
type ioProcessor struct {
	rt    *Runtime
	id    Processor
	limit int
	tasks sync.Map // of *Ctx, those whose tasks run, by their goroutine

	mu      sync.Mutex // guards what follows; nothing is taken under it
	running int
	resting int // of those that run, how many wait for an event
	queue   taskHeap
}

// pushTask implements executor.
func (p *ioProcessor) pushTask(t *task, _ *events.Cascade) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.addTask(t)
	p.fillPlaces()
}

// fillPlaces begins tasks of the queue while there are places. p.mu is held.
func (p *ioProcessor) fillPlaces() {
	for p.running-p.resting < p.limit && p.queue.any() {
		p.running++
		go p.workOff(p.queue.takeTask())
	}
}

// workOff runs t, and then what is queued. A task that ends its goroutine is followed by another goroutine.
func (p *ioProcessor) workOff(t *task) {
	ended := true
	defer func() {
		if ended {
			p.followTask()
		}
	}()
	for ; t != nil; t = p.following() {
		p.one(t)
	}
	ended = false
}

// following takes what is queued; nil ends the goroutine that asks.
func (p *ioProcessor) following() *task {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running-p.resting <= p.limit {
		if t := p.queue.takeTask(); t != nil {
			return t
		}
	}
	p.running--
	return nil
}

func (p *ioProcessor) followTask() {
	if t := p.following(); t != nil {
		go p.workOff(t)
	}
}

// restTask notes that the task of s waits.
func (p *ioProcessor) restTask(s *sleeper) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.rests = !s.resumed; s.rests {
		p.resting++
		p.fillPlaces()
	}
}

// resume notes that the task of s can go on.
func (p *ioProcessor) resume(s *sleeper) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.resumed = true; s.rests {
		p.resting--
	}
}

// one runs t. If that panics, its finish event is poisoned.
func (p *ioProcessor) one(t *task) {
	c, g := &Ctx{rt: p.rt, proc: p.id, cascade: events.Cascade{Rank: &p.rt.ev}}, arch.G()
	p.tasks.Store(g, c)
	defer func() {
		p.tasks.Delete(g)
		if x := c.task; x != nil {
			c.task = nil
			x.finishWith(c, x.gaveUp(recover()))
		}
	}()
	t.runTask(c)
}

// taskOf is the context of the task that goroutine g, the caller's, runs; nil if it runs none.
func (p *ioProcessor) taskOf(g uintptr) *Ctx {
	c, ok := p.tasks.Load(g)
	if !ok || c.(*Ctx).task == nil {
		return nil
	}
	return c.(*Ctx)
}
