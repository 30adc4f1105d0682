package realm

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/observe"
)

// ProcessorKind says what a processor is for.
type ProcessorKind uint8

// Kinds of processors.
const (
	CPU     ProcessorKind = iota // a worker of the rank runs its tasks one at a time
	Utility                      // the same, for what the runtime and programs do beside
	IO                           // each of its tasks has a goroutine of its own, and may block anywhere
	Group                        // several CPU processors of a rank: whichever is free runs a task
)

// String names the kind.
func (k ProcessorKind) String() string {
	switch k {
	case CPU:
		return "CPU"
	case Utility:
		return "utility"
	case IO:
		return "IO"
	case Group:
		return "group"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Processor names a processor of the job. It is a number that may be compared, stored and sent.
type Processor uint64

func makeProcessor(rank int, kind ProcessorKind, index int) Processor {
	return Processor(1)<<63 | Processor(rank)<<32 | Processor(kind)<<24 | Processor(index)
}

// possible tells whether p is a number that makeProcessor returns.
func (p Processor) possible() bool { return p>>48 == 1<<15 && p.Kind() <= Group }

func (rt *Runtime) noProcessor(p Processor) error {
	return rt.ev.CallErrorf("Spawn", "%w: there is no %v in this job of %d ranks", ErrArgument, p, rt.ev.Size)
}

// Rank is the rank that the processor belongs to.
func (p Processor) Rank() int { return int(p >> 32 & 0xFFFF) }

// Kind is its kind.
func (p Processor) Kind() ProcessorKind { return ProcessorKind(p >> 24) }

// Index is its number among those of its kind and rank.
func (p Processor) Index() int { return int(p & (1<<24 - 1)) }

// String names kind, rank and index.
func (p Processor) String() string {
	switch {
	case p == 0:
		return "no processor"
	case !p.possible():
		return fmt.Sprintf("processor %#x", uint64(p))
	}
	return fmt.Sprintf("%v processor %d.%d", p.Kind(), p.Rank(), p.Index())
}

// executor is what runs the tasks of a processor.
type executor interface {
	// push hands over a task that is ready. It neither blocks nor runs it. k is the cascade that calls, or nil.
	pushTask(t *task, k *events.Cascade)
}

// nameOf is the processor whose tasks x runs.
func nameOf(x executor) Processor {
	switch x := x.(type) {
	case *processor:
		return x.id
	case *group:
		return x.id
	case *ioProcessor:
		return x.id
	}
	return 0
}

// processor runs tasks one after the other, on one worker. A task that waits lets another run; so there may be several
// runners, of which one has the turn.
type processor struct {
	rt     *Runtime
	id     Processor
	worker int
	groups []*group // that it is a member of; set under mu

	urgent   atomic.Bool    // there is something in back or first, or in a group's queue
	chain    taskList       // the next tasks; it belongs to who has the turn
	batch    *observe.Batch // profiles that have not been delivered; likewise
	finished finishBatch

	mu      spin.Lock // guards what follows; nothing is taken under it
	turn    *runner   // who has the turn, nil if there is nothing to do
	lingers bool      // who has the turn has nothing to do, polls, and watches urgent
	ready   taskList
	first   taskHeap  // tasks of other than the usual priority
	back    []*runner // tasks that have waited and can go on
	idle    []*runner // without a task
	all     int       // runners
}

// pushTask implements executor.
func (p *processor) pushTask(t *task, k *events.Cascade) {
	p.mu.Lock()
	if t.priority == 0 {
		p.ready.pushTask(t)
	} else {
		p.first.addTask(t)
		p.urgent.Store(true)
	}
	p.startRunner(k)
}

// startRunner gives the turn to a runner if nobody has it. It unlocks p.mu.
func (p *processor) startRunner(k *events.Cascade) {
	if p.turn != nil {
		if p.lingers {
			p.lingers = false
			p.urgent.Store(true)
		}
		p.mu.Unlock()
		return
	}
	r := p.another()
	p.turn = r
	p.mu.Unlock()
	r.giveTurn(k)
}

// another takes an idle runner, or makes one. p.mu is held.
func (p *processor) another() *runner {
	if n := len(p.idle); n > 0 {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return r
	}
	p.all++
	return p.rt.newRunner(p)
}

// resume has runner r go on, whose task has waited.
func (p *processor) resume(r *runner, k *events.Cascade) {
	p.mu.Lock()
	if p.turn != nil && !r.keeps {
		p.back = append(p.back, r)
		p.urgent.Store(true)
		p.mu.Unlock()
		return
	}
	p.turn = r
	r.resumed = r.keeps && !r.rests
	r.rests = false
	p.mu.Unlock()
	r.giveTurn(k)
}

// restTurn notes that r waits for an event and keeps the turn, so that the processor has nothing to do until then.
func (p *processor) restTurn(r *runner) {
	p.mu.Lock()
	r.rests = !r.resumed
	r.resumed = false
	p.mu.Unlock()
}

// firstBack takes the runner that is to go on first, by the priority of its task. p.mu is held, and there is one.
func (p *processor) firstBack() *runner {
	best := 0
	for i, r := range p.back {
		if r.priority > p.back[best].priority {
			best = i
		}
	}
	r := p.back[best]
	p.back = slices.Delete(p.back, best, best+1)
	return r
}

// nextTask is the next task for runner r, which has the turn. With nil r has lost the turn.
func (p *processor) nextTask(r *runner) *task {
	if !p.urgent.Load() {
		if t := p.chain.popTask(); t != nil {
			return t
		}
	}
	t, has := p.choose(r, true)
	if t == nil && has {
		r.linger(&p.urgent)
		t, _ = p.choose(r, false)
	}
	return t
}

// choose is next when there is more to look at than the chain. Tasks that have waited go first, then those of high
// priority, then the chain. has tells whether r still has the turn. With linger it keeps the turn if there is nothing
// to do, and is to call choose again.
func (p *processor) choose(r *runner, linger bool) (t *task, has bool) {
	p.finished.sendFirst(p.rt)
	p.mu.Lock()
	p.lingers = false
	if len(p.back) > 0 {
		x := p.firstBack()
		p.looked()
		p.idle = append(p.idle, r)
		p.turn = x
		p.mu.Unlock()
		x.giveTurn(nil)
		return nil, false
	}
	t = p.pickTask()
	has = t != nil || linger
	p.lingers = t == nil && linger
	var b *observe.Batch
	if !has {
		p.turn = nil
		p.idle = append(p.idle, r)
		b, p.batch = p.batch, nil
	}
	p.looked()
	p.mu.Unlock()
	p.rt.ev.Log.Deliver(b)
	return t, has
}

// looked notes whether there is something urgent left. p.mu is held.
func (p *processor) looked() {
	p.urgent.Store(len(p.back) > 0 || p.first.positive() || p.groupsWaiting(0))
}

// pickTask takes the task that is to run next. It has the highest priority among those of the processor and of its
// groups; among equals the processor's own go first. p.mu is held, by the runner that has the turn.
func (p *processor) pickTask() *task {
	usual := !p.chain.isEmpty() || !p.ready.isEmpty()
	own := p.first.top()
	if usual {
		own = max(own, 0)
	}
	switch t := p.fromGroups(own); {
	case t != nil:
		return t
	case own > 0 || !usual:
		return p.first.takeTask()
	}
	if p.chain.isEmpty() {
		p.chain, p.ready = p.ready, taskList{}
	}
	return p.chain.popTask()
}

// yield gives the turn away for runner r, whose task waits. It returns true if r may go on at once.
func (p *processor) yield(r *runner) bool {
	p.mu.Lock()
	var x *runner
	switch {
	case len(p.back) > 0:
		x = p.firstBack()
		p.looked()
	case !p.chain.isEmpty() || !p.ready.isEmpty() || p.first.any() || p.groupsWaiting(noTask):
		x = p.another()
	}
	p.turn = x
	var b *observe.Batch
	if x == nil {
		b, p.batch = p.batch, nil
	}
	p.mu.Unlock()
	p.rt.ev.Log.Deliver(b)
	if x == r {
		return true
	}
	if x != nil {
		x.giveTurn(nil)
	}
	return false
}

// keepTurn tells whether runner r has the turn, after a task of it has ended in another way than by returning. If its
// thread ends too, another one gets the turn.
func (p *processor) keepTurn(r *runner, alive bool) bool {
	p.mu.Lock()
	has := p.turn == r
	p.mu.Unlock()
	if has && !alive {
		p.finished.sendFirst(p.rt)
		p.yield(r)
	}
	return has && alive
}

// noteWait notes how the task of r waits.
func (p *processor) noteWait(r *runner) {
	p.mu.Lock()
	r.priority, r.keeps = r.task.priority, r.holds > 0
	p.mu.Unlock()
}
