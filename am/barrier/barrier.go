// Package barrier is a split-phase barrier with names over active messages, after that of GASNet. Notify says that this
// rank has arrived. Wait or Try says that all have, and whether they named the same barrier.
//
// It is a dissemination barrier. In step k each rank sends to the rank 2^k above it, and continues when the message of
// the rank 2^k below it has arrived. So a phase takes log2(N) steps. Handlers carry them out, in polls.
package barrier

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/internal/progress"
)

// Flags say how a rank takes part in a phase.
type Flags uint8

const (
	Named     Flags = 0      // with an id, the same on all ranks that name one
	Anonymous Flags = 1 << 0 // ignores the id and matches any
	Mismatch  Flags = 1 << 1 // has the phase fail on all ranks
)

// Errors that can be tested with errors.Is.
var (
	ErrMismatch = errors.New("barrier: mismatch")           // of ids, or asked for
	ErrOrder    = errors.New("barrier: calls out of order") // Notify, Wait or Try
	ErrPeer     = conduit.ErrPeer                           // a rank has failed, and with it the barrier
	ErrFlags    = errors.New("barrier: unknown flags")
)

// First and Last are the handler indices that belong to this package; one is in use.
const (
	First = 200
	Last  = 207
)

const handlerStep = First

// state of a rank within its current phase.
type state uint8

const (
	idle state = iota
	notified
	waiting // a Wait is under way
)

// Barrier is one rank's end. A phase has one Notify and one Wait, or successful Try, on any goroutine or thread.
type Barrier struct {
	e          *am.Endpoint
	rank, size int
	steps      int

	mu     spin.Lock // guards what follows
	phase  uint32    // number of the last one that was notified; 1 is the first
	state  state
	named  bool   // of the last phase that was waited for
	result uint64 // its id, if named
	broken error  // set when a peer has failed, for good
	// halves are phases, by number. While one lasts, messages of the next may come, and of a failed one after it.
	halves [4]phaseState
}

// phaseState is what belongs to a phase, guarded by Barrier.mu unless said otherwise.
type phaseState struct {
	acc     vote   // of all ranks heard from, and ours
	merged  int    // steps whose messages are in acc
	arrived []vote // by step, those that have come and are not merged
	// done is waited for outside the lock. It is reset by Notify, and completed once by the goroutine that ends the phase.
	done progress.Done
}

// New makes the barrier of e's rank. All ranks must have one. Call it before traffic, and once for an endpoint.
func New(e *am.Endpoint) (*Barrier, error) {
	b := &Barrier{e: e, rank: e.Rank(), size: e.Size()}
	b.steps = bits.Len(uint(b.size - 1))
	for i := range b.halves {
		b.halves[i].arrived = make([]vote, b.steps)
	}
	b.halves[0].merged = b.steps // phase 0 is over
	step := am.Spec{Name: "step", Run: b.onStep, MaxReply: am.NoReply}
	err := e.Attach(am.Layer{
		Name: "barrier", First: First, Handlers: []am.Spec{handlerStep - First: step, Last - First: {}}, PeerGone: b.peerGone,
	})
	if err != nil {
		return nil, fmt.Errorf("barrier: %w", err)
	}
	return b, nil
}

// Notify tells all ranks that this one has come to its next phase, named id unless flags say Anonymous. It does not
// block or switch threads: what it cannot send at once goes when somebody polls. Errors: ErrOrder while nobody has
// waited for the phase before, ErrFlags, ErrPeer once a peer has failed, and am.ErrContext in a handler. In checked
// mode a holder of a handler-safe lock gets an error of package hsl.
func (b *Barrier) Notify(id uint64, flags Flags) error {
	if err := b.checkCall(flags, am.CallRequest); err != nil {
		return err
	}
	b.mu.Lock()
	if b.state != idle || b.broken != nil {
		defer b.mu.Unlock()
		return b.wrongTime("Notify")
	}
	b.phase++
	b.state = notified
	h := &b.halves[b.phase&3]
	h.acc, h.merged = voteOf(id, flags), 0
	h.done.Reset()
	var todo deferredWork
	if b.steps > 0 {
		b.noteStep(b.phase, 0, h.acc, &todo)
	}
	b.mergeSteps(h, &todo)
	b.mu.Unlock()
	b.carryOut(&todo, workerOf(b.e.Progress().Current()))
	return nil
}

// Wait blocks until all ranks have notified the phase that this rank has notified, and says how it ended. id must be
// that of the phase unless flags say Anonymous, or the phase is all anonymous; flags need not be those of Notify. It
// may switch threads. The error is ErrMismatch, ErrOrder, ErrFlags, ErrPeer or am.ErrContext, as for Notify.
func (b *Barrier) Wait(id uint64, flags Flags) error {
	h, err := b.beginWait("Wait", flags)
	if err != nil {
		return err
	}
	b.e.Progress().Wait(&h.done)
	return b.finishPhase(h, id, flags)
}

// Try is Wait that does not block: it polls once, and over is false if the phase is not over yet. Errors as for Wait.
func (b *Barrier) Try(id uint64, flags Flags) (over bool, err error) {
	h, err := b.beginWait("Try", flags)
	if err != nil {
		return false, err
	}
	if !h.done.Ready() {
		b.e.Poll()
	}
	if !h.done.Ready() {
		b.mu.Lock()
		b.state = notified
		b.mu.Unlock()
		return false, nil
	}
	return true, b.finishPhase(h, id, flags)
}

// Enter is Notify and Wait. It blocks, and may switch threads. Errors as for Notify and Wait.
func (b *Barrier) Enter(id uint64, flags Flags) error {
	if err := b.Notify(id, flags); err != nil {
		return err
	}
	return b.Wait(id, flags)
}

// Result is the id of the phase last waited for, until the next. named is false if all were anonymous or it failed.
func (b *Barrier) Result() (id uint64, named bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.result, b.named
}

// checkCall refuses unknown flags, and calls where they are not allowed.
func (b *Barrier) checkCall(flags Flags, c am.Call) error {
	if flags&^(Anonymous|Mismatch) != 0 {
		return fmt.Errorf("%w: %#x at rank %d", ErrFlags, uint8(flags), b.rank)
	}
	return b.e.Allow(c)
}

// beginWait begins a Wait or Try.
func (b *Barrier) beginWait(call string, flags Flags) (*phaseState, error) {
	if err := b.checkCall(flags, am.CallWait); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != notified {
		return nil, b.wrongTime(call)
	}
	b.state = waiting
	return &b.halves[b.phase&3], nil
}

// wrongTime makes the error of a call at the wrong time. Under mu.
func (b *Barrier) wrongTime(call string) error {
	if b.broken != nil {
		return b.broken
	}
	was := [...]string{"nothing notified", "notified", "being waited for"}[b.state]
	return fmt.Errorf("%w: %s at rank %d, phase %d, %s", ErrOrder, call, b.rank, b.phase, was)
}

// finishPhase ends a phase that is over, for its waiter.
func (b *Barrier) finishPhase(h *phaseState, id uint64, flags Flags) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = idle
	v := h.acc
	b.named, b.result = v.kind == named, v.id
	switch {
	case v.kind == failed:
		return b.broken
	case v.kind == mismatched:
		return fmt.Errorf("%w: rank %d, phase %d", ErrMismatch, b.rank, b.phase)
	case flags&Mismatch != 0:
		return fmt.Errorf("%w: rank %d, phase %d: asked for at Wait", ErrMismatch, b.rank, b.phase)
	case flags&Anonymous == 0 && v.kind == named && v.id != id:
		return fmt.Errorf("%w: rank %d, phase %d: %d at Wait, %d notified", ErrMismatch, b.rank, b.phase, id, v.id)
	}
	return nil
}

// workerOf of t, or nil.
func workerOf(t *fult.Thread) *fult.Worker {
	if t == nil {
		return nil
	}
	return t.Worker()
}
