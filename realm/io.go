package realm

import (
	"sync"
)

// ioProcessor runs each task on a goroutine of its own, so many at a time.
type ioProcessor struct {
	rt    *Runtime
	id    Processor
	limit int

	mu      sync.Mutex // guards what follows; nothing is taken under it
	running int
	queue   taskHeap
}

// push implements executor.
func (p *ioProcessor) push(t *task, _ *cascade) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == p.limit {
		p.queue.add(t)
		return
	}
	p.running++
	p.rt.goroutines.Add(1)
	go p.work(t)
}

// work runs t, and then what is queued.
func (p *ioProcessor) work(t *task) {
	defer p.rt.goroutines.Done()
	for t != nil {
		p.one(t)
		p.mu.Lock()
		if t = p.queue.take(); t == nil {
			p.running--
		}
		p.mu.Unlock()
	}
}

// one runs t. If that panics, its finish event is poisoned.
func (p *ioProcessor) one(t *task) {
	c := &Ctx{rt: p.rt, proc: p.id, cascade: cascade{rt: p.rt}}
	defer func() {
		if x := c.task; x != nil {
			c.task = nil
			x.finishWith(c, x.gaveUp(recover()))
		}
	}()
	t.run(c)
}
