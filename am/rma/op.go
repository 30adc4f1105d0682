package rma

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/internal/progress"
)

// op is an operation that is not over when its call returns, or a set of such: the implicit ones of a context. It is
// complete when its records have been sent, every one has been answered, and nobody holds it open. One that is an access
// of the conduit is held until that has ended.
type op struct {
	done progress.Done
	m    *Memory
	// gen changes when the op is given back, so that stale handles do not meet its next use. Its owner alone writes it.
	gen atomic.Uint32

	mu   spin.Lock // guards the next group; never held while anything blocks or a waiter is woken
	id   uint64    // in Memory.numbers, by which answers name it; 0 if it awaits none
	left int       // answers, or operations of a set, to come
	held bool      // records are still to be sent, or the set is open
	err  error     // the first
	dst  []byte    // of a get
	old  uint64    // value that the answer brought
	into result    // where old goes, too

	peer int // -1: a set
	set  *op // told of the end instead of a handle's owner, who then has none

	// Written by whoever starts the op, before the first record; used once, when all have been sent.
	local  *op      // told when the source may be reused; nil
	bounce *[]byte  // what the records are taken from; nil if that is the caller's own memory
	bulk   *am.Bulk // &access, or nil if the op has records
	access am.Bulk  // of the conduit

	// Owned by whoever holds the lock of the pair towards peer, while records are to be sent.
	send sendState
	am.Link
}

// result is a place for the outcome of an atomic: 4 or 8 bytes at p.
type result struct {
	p    unsafe.Pointer // keeps the caller's variable alive
	wide bool
}

func (r result) store(v uint64) {
	switch {
	case r.p == nil:
	case r.wide:
		*(*uint64)(r.p) = v
	default:
		*(*uint32)(r.p) = uint32(v)
	}
}

// Each of the next four may complete the op, after which the caller must not touch it.

// onAnswer takes an answer to a record of the op that id names. f, if not nil, takes the data, under the lock.
func (m *Memory) onAnswer(id uint64, err error, w *fult.Worker, f func(o *op) error) {
	o := m.numbers.Get(id)
	if o == nil {
		return // late: the op has failed meanwhile
	}
	o.mu.Lock()
	if o.id != id || o.left == 0 {
		o.mu.Unlock()
		return // has just failed
	}
	if err == nil && f != nil {
		err = f(o)
	}
	o.noteError(err)
	o.left--
	o.endLocked(w)
}

// releaseHeld lets go of an op that was held.
func (o *op) releaseHeld(err error, w *fult.Worker) {
	o.mu.Lock()
	if err != nil {
		o.noteError(err)
		o.left = 0
	}
	o.held = false
	o.endLocked(w)
}

// endPart tells a set that one of its operations has ended.
func (o *op) endPart(err error, w *fult.Worker) {
	o.mu.Lock()
	o.noteError(err)
	if o.left > 0 {
		o.left--
	}
	o.endLocked(w)
}

// abortSent ends an op that is under way with err, as far as it can: one that is being sent ends when its sender
// notices.
func (o *op) abortSent(id uint64, err error, w *fult.Worker) {
	o.mu.Lock()
	if o.id != id || o.left == 0 {
		o.mu.Unlock()
		return
	}
	o.noteError(err)
	o.left = 0
	o.endLocked(w)
}

// noteError keeps the first error; under mu.
func (o *op) noteError(err error) {
	if err != nil && o.err == nil {
		o.err = err
	}
}

// endLocked completes the op if it is complete, and unlocks it.
func (o *op) endLocked(w *fult.Worker) {
	if o.left > 0 || o.held {
		o.mu.Unlock()
		return
	}
	set, err := o.set, o.err
	o.mu.Unlock()
	if set == nil {
		o.done.Complete(w)
		return
	}
	o.freeOp()
	set.endPart(err, w)
}

// takeOutcome is called by the waiter of a complete op: it returns the outcome and gives the op back.
func (o *op) takeOutcome() (old uint64, err error) {
	o.mu.Lock()
	old, err = o.old, o.err
	o.mu.Unlock()
	o.freeOp()
	return old, err
}

// newOp gives a fresh op, held, with left answers to come, which bring dst or into. The error is ErrClosed.
//
// Every operation that needs an answer begins here, and is refused in a handler or with a handler-safe lock.
func (m *Memory) newOp(peer, left int, dst []byte, into result) (*op, error) {
	if err := m.allowCall(am.CallRequest); err != nil {
		return nil, err
	}
	o := m.ops.Get()
	if o == nil {
		o = &op{m: m}
	}
	o.done.Reset()
	o.mu.Lock()
	o.left, o.held, o.err, o.old = left, true, nil, 0
	o.peer, o.set, o.local, o.dst, o.into = peer, nil, nil, dst, into
	o.mu.Unlock()
	if left > 0 {
		id := m.numbers.Add(o)
		o.mu.Lock()
		o.id = id
		o.mu.Unlock()
	}
	if m.closed.Load() {
		o.freeOp()
		return nil, fmt.Errorf("%w: rank %d", ErrClosed, m.rank)
	}
	return o, nil
}

// freeOp gives a complete op back. Nobody else looks at it any more, but late answers, which its number refuses.
func (o *op) freeOp() {
	m, id := o.m, o.id
	o.gen.Add(1)
	o.mu.Lock()
	o.id, o.left, o.held, o.dst, o.into = 0, 0, false, nil, result{}
	o.mu.Unlock()
	if id != 0 {
		m.numbers.Remove(id)
	}
	o.dropSource()
	o.send = sendState{}
	m.ops.Put(o)
}

const anyPeer = -1 // stands for every peer

// failPeer ends with err what awaits answers of a peer, or of all.
func (m *Memory) failPeer(peer int, err error, w *fult.Worker) {
	failing := map[uint64]*op{}
	m.numbers.Each(func(id uint64, o *op) {
		if peer == anyPeer || peer == o.peer { // o.peer changes before o has a number
			failing[id] = o
		}
	})
	for id, o := range failing {
		o.abortSent(id, err, w)
	}
}
