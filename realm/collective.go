package realm

import (
	"sync"

	"github.com/golci/golci/realm/internal/event"
)

// collective tells when the parts of a collective spawn have ended on all ranks. It is the first barrier of rank 0, one
// phase for each call.
type collective struct {
	mu   sync.Mutex // guards next; nothing is taken under it
	next Barrier[struct{}]
}

// makeCollective makes the barrier, or finds that of rank 0. It is called before any other barrier is made.
func (rt *Runtime) makeCollective() (err error) {
	if rt.ev.Self == 0 {
		rt.collective.next, err = NewBarrier(rt, int64(rt.ev.Size), Reduction[struct{}]{}, Participants())
		return err
	}
	id := BarrierID[struct{}]{Event: Event(event.MakeBarrier(0, 0, 1)), Phase: 1}
	rt.collective.next = id.On(rt)
	return nil
}

// CollectiveSpawn runs a task on all processors of a kind of all ranks. Every rank calls it, with arguments of its own,
// and all make such calls in the same order. The result triggers on each rank when all these tasks have ended on all
// ranks. If one of them fails, or a rank dies, it is poisoned. Otherwise it is like Spawn.
func CollectiveSpawn[A any](at Site, kind ProcessorKind, t Task[A], args A, opts ...Option) Event {
	rt, _ := at.site()
	var ps []Processor
	for i := range rt.processorsOf(kind) {
		ps = append(ps, makeProcessor(rt.ev.Self, kind, i))
	}
	if ps == nil {
		return rt.failedEvent(rt.ev.CallErrorf("CollectiveSpawn", "%w: %v processors", ErrArgument, kind))
	}
	here := SpawnEach(at, ps, t, func(int) A { return args }, opts...)
	c := &rt.collective
	c.mu.Lock()
	b := c.next
	c.next = b.Next()
	c.mu.Unlock()
	if err := b.Arrive(1, struct{}{}, here); err != nil {
		return rt.failedEvent(err)
	}
	return b.Event()
}

// processorsOf is the number of processors of a kind on this rank; 0 for a kind that has none.
func (rt *Runtime) processorsOf(kind ProcessorKind) int {
	d := rt.describe()
	if int(kind) >= len(d.Processors) {
		return 0
	}
	return d.Processors[kind]
}
