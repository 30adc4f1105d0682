package barrier

import (
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
)

// The message of a step has two arguments: phase (32 bits), step (8), kind (8); and the id.
const stepArgs = 2

func packStep(phase uint32, step int, k kind) uint64 {
	return uint64(phase) | uint64(step)<<32 | uint64(k)<<40
}

// message is what one step tells.
type message struct {
	dst  int
	args [stepArgs]uint64
}

// deferredWork are what has to be done when the lock is free again.
type deferredWork struct {
	n        int
	few      [3]message // n to send, without an allocation
	more     []message  // and these
	complete *phaseState
}

// noteStep notes what step k of a phase is to tell.
func (b *Barrier) noteStep(phase uint32, k int, v vote, c *deferredWork) {
	m := message{(b.rank + 1<<k) % b.size, [stepArgs]uint64{packStep(phase, k, v.kind), v.id}}
	if c.n == len(c.few) {
		c.more = append(c.more, m)
		return
	}
	c.few[c.n] = m
	c.n++
}

// mergeSteps merges the steps that have come, in order, and sends each next one. Under mu, in a phase that is not over.
func (b *Barrier) mergeSteps(h *phaseState, c *deferredWork) {
	for h.merged < b.steps && h.arrived[h.merged].kind != none {
		v := h.arrived[h.merged]
		if v.kind == failed {
			b.breakDown(h, v, c)
			return
		}
		h.acc = mergeVotes(h.acc, v)
		h.arrived[h.merged] = vote{}
		if h.merged++; h.merged < b.steps {
			b.noteStep(b.phase, h.merged, h.acc, c)
		}
	}
	switch {
	case h.merged == b.steps:
		c.complete = h
	case b.e.Gone(b.senderOf(h.merged)): // what it sent before has been handled, and this was not among it
		b.breakDown(h, vote{failed, uint64(b.senderOf(h.merged))}, c)
	}
}

// peerGone ends the phase if it waits for that peer. A later phase looks by itself, in advance.
func (b *Barrier) peerGone(_ int, _ error, w *fult.Worker) {
	var todo deferredWork
	b.mu.Lock()
	if h := &b.halves[b.phase&3]; b.state != idle && b.broken == nil && h.merged < b.steps {
		b.mergeSteps(h, &todo)
	}
	b.mu.Unlock()
	b.carryOut(&todo, w)
}

// breakDown ends the phase, and the barrier, because of v. It sends what others await of this rank, in this phase and,
// since some may have ended this one rightly, in the next. From then on what comes is ignored. Under mu.
func (b *Barrier) breakDown(h *phaseState, v vote, c *deferredWork) {
	h.acc = v
	b.broken = fmt.Errorf("%w: rank %d, phase %d: rank %d cannot be reached", ErrPeer, b.rank, b.phase, v.id)
	for k := h.merged + 1; k < b.steps; k++ {
		b.noteStep(b.phase, k, v, c)
	}
	for k := range b.steps {
		b.noteStep(b.phase+1, k, v, c)
	}
	h.merged = b.steps
	c.complete = h
}

// carryOut does what was prepared; w is the worker that calls, or nil.
func (b *Barrier) carryOut(c *deferredWork, w *fult.Worker) {
	for _, m := range c.few[:c.n] {
		b.e.Post(m.dst, handlerStep, nil, m.args[:]...)
	}
	for _, m := range c.more {
		b.e.Post(m.dst, handlerStep, nil, m.args[:]...)
	}
	if c.complete != nil {
		c.complete.done.Complete(w)
	}
}

// onStep is the handler of a step.
func (b *Barrier) onStep(t *am.Token, args []uint64, _ []byte) {
	if len(args) != stepArgs {
		b.e.Fault(fmt.Errorf("barrier: rank %d: %d arguments from rank %d", b.rank, len(args), t.Source()))
		return
	}
	phase, step, k := uint32(args[0]), int(uint8(args[0]>>32)), kind(args[0]>>40)
	b.mu.Lock()
	if b.broken != nil {
		b.mu.Unlock()
		return
	}
	if !b.isPlausible(t.Source(), phase, step, k) {
		have := b.phase
		b.mu.Unlock()
		b.e.Fault(fmt.Errorf("barrier: rank %d: step %d of phase %d from rank %d, within phase %d", b.rank, step, phase, t.Source(), have))
		return
	}
	h := &b.halves[phase&3]
	h.arrived[step] = vote{k, args[1]}
	var todo deferredWork
	if phase == b.phase {
		b.mergeSteps(h, &todo)
	}
	b.mu.Unlock()
	b.carryOut(&todo, t.Worker())
}

// isPlausible tells whether such a message can come now: within the phase, or one early. Under mu.
func (b *Barrier) isPlausible(src int, phase uint32, step int, k kind) bool {
	if step >= b.steps || src != b.senderOf(step) || k == none || k > failed {
		return false
	}
	h := &b.halves[phase&3]
	if h.arrived[step].kind != none {
		return false
	}
	ahead := phase - b.phase
	return ahead == 0 && step >= h.merged || ahead == 1 || ahead == 2 && k == failed
}

// senderOf is the rank that tells this one in step k.
func (b *Barrier) senderOf(k int) int { return (b.rank + b.size - 1<<k) % b.size }
