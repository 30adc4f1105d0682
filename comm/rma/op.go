package rma

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/spin"
)

// op is an operation that travels by active messages, or a set of such: the implicit ones of a context. It is complete
// when its records have been sent, every one has been answered, and nobody holds it open.
type op struct {
	done progress.Done
	m    *Memory
	// Changes when the op is given back, so that late answers and stale handles do not meet its next use. Written under
	// mu; a holder of a handle reads it without.
	gen   atomic.Uint32
	index uint32

	mu   spin.Lock // guards the next group; never held while anything blocks or a waiter is woken
	left int       // answers, or operations of a set, to come
	held bool      // records are still to be sent, or the set is open
	err  error     // the first
	dst  []byte    // of a get
	old  uint64    // value that the answer brought
	into result    // where old goes, too

	peer int    // -1: a set
	set  *op    // told of the end instead of a handle's owner, who then has none
	some Handle // told of the end, too: a waiter for any one of several

	// Written by whoever starts the op, before the first record; used once, when all have been sent.
	local  *op     // told when the source may be reused; nil
	bounce *[]byte // what the records are taken from; nil if that is the caller's own memory

	// Owned by whoever holds the lock of the pair towards peer, while records are to be sent.
	send sending
	next am.Queued

	free *op // in the table, under its lock
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

// id names the op on the wire.
func (o *op) id() uint64 { return uint64(o.gen.Load())<<32 | uint64(o.index) }

// Ends: each of the next four may complete the op, after which the caller must not touch it.

// answer takes an answer to one of the op's records. f, if it is not nil, takes the data under the lock; an error
// that it returns, or err, is the op's.
func (o *op) answer(gen uint32, err error, w *fult.Worker, f func(o *op) error) {
	o.mu.Lock()
	if o.gen.Load() != gen || o.left == 0 {
		o.mu.Unlock()
		return // late: the op has failed meanwhile
	}
	if err == nil && f != nil {
		err = f(o)
	}
	o.note(err)
	o.left--
	o.endLocked(w)
}

// release lets go of an op that was held.
func (o *op) release(err error, w *fult.Worker) {
	o.mu.Lock()
	if err != nil {
		o.note(err)
		o.left = 0
	}
	o.held = false
	o.endLocked(w)
}

// ring completes an op that only waits for another one, if it still does.
func (o *op) ring(gen uint32, w *fult.Worker) {
	o.mu.Lock()
	if o.gen.Load() != gen || !o.held {
		o.mu.Unlock()
		return
	}
	o.held = false
	o.endLocked(w)
}

// watch has some told of the end of the op that h stands for; false if that has come.
func (h Handle) watch(some Handle) bool {
	o := h.o
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gen.Load() != h.gen || o.left == 0 && !o.held {
		return false
	}
	o.some = some
	return true
}

// part tells a set that one of its operations has ended.
func (o *op) part(err error, w *fult.Worker) {
	o.mu.Lock()
	o.note(err)
	if o.left > 0 {
		o.left--
	}
	o.endLocked(w)
}

// abort ends an op that is under way with err, as far as it can: one that is being sent ends when its sender notices.
func (o *op) abort(gen uint32, err error, w *fult.Worker) {
	o.mu.Lock()
	if o.gen.Load() != gen || o.left == 0 {
		o.mu.Unlock()
		return
	}
	o.note(err)
	o.left = 0
	o.endLocked(w)
}

// note keeps the first error; under mu.
func (o *op) note(err error) {
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
	set, some, err := o.set, o.some, o.err
	o.some = Handle{}
	if set == nil {
		o.mu.Unlock()
		o.done.Complete(w)
		if some.o != nil {
			some.o.ring(some.gen, w)
		}
		return
	}
	o.mu.Unlock()
	o.m.ops.put(o)
	set.part(err, w)
}

// take is called by the waiter of a complete op: it returns the outcome and gives the op back.
func (o *op) take() (old uint64, err error) {
	o.mu.Lock()
	old, err = o.old, o.err
	o.mu.Unlock()
	o.m.ops.put(o)
	return old, err
}

const (
	chunkOps  = 256
	maxChunks = 2048
)

// MaxOutstanding is how many operations may be outstanding at once, where they travel as active messages.
const MaxOutstanding = chunkOps * maxChunks

// table holds the ops of a rank, by their index. Their memory stays, for the next ones.
type table struct {
	m      *Memory
	chunks [maxChunks]atomic.Pointer[[chunkOps]op] // published to answers by number

	most  int // chunks; fixed
	mu    spin.Lock
	first *op // free ones; this and the rest under mu
	made  int // chunks, or about to be
	out   int // ops in use
}

func (t *table) init(m *Memory) { t.m, t.most = m, maxChunks }

// get takes a fresh op, with left answers to come, held. The error is ErrTooMany, or ErrClosed.
//
// Every operation that needs another rank's answer begins here, so here those are refused that a handler, or a holder
// of a handler-safe lock, must not begin.
func (t *table) get(peer, left int) (*op, error) {
	if err := t.m.allow(am.CallRequest); err != nil {
		return nil, err
	}
	for {
		t.mu.Lock()
		o := t.first
		if o != nil {
			t.first = o.free
			t.out++
			t.mu.Unlock()
			o.reset(peer, left)
			if t.m.closed.Load() {
				t.put(o)
				return nil, fmt.Errorf("%w: rank %d", ErrClosed, t.m.rank)
			}
			return o, nil
		}
		k := t.made
		if k == t.most {
			t.mu.Unlock()
			return nil, fmt.Errorf("%w: %d", ErrTooMany, k*chunkOps)
		}
		t.made++
		t.mu.Unlock()
		t.grow(k)
	}
}

func (t *table) grow(k int) {
	c := new([chunkOps]op)
	for i := range c {
		c[i].m, c[i].index = t.m, uint32(k*chunkOps+i)
		if i > 0 {
			c[i-1].free = &c[i]
		}
	}
	t.chunks[k].Store(c)
	t.mu.Lock()
	c[chunkOps-1].free = t.first
	t.first = &c[0]
	t.mu.Unlock()
}

func (o *op) reset(peer, left int) {
	o.done.Reset()
	o.mu.Lock()
	o.left, o.held, o.err, o.old = left, true, nil, 0
	o.peer, o.set = peer, nil
	o.mu.Unlock()
	o.local = nil
}

// put gives a complete op back. Nobody else looks at it any more, but late answers, which its generation refuses.
func (t *table) put(o *op) {
	o.mu.Lock()
	o.gen.Add(1)
	o.left, o.held, o.dst, o.into, o.some = 0, false, nil, result{}, Handle{}
	o.mu.Unlock()
	o.dropBounce()
	o.send = sending{}
	t.mu.Lock()
	o.free = t.first
	t.first = o
	t.out--
	t.mu.Unlock()
}

// outstanding is the number of ops in use.
func (t *table) outstanding() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out
}

// find gives the op that id named when it was sent, and the generation that it had then; nil if there is no such op.
func (t *table) find(id uint64) (*op, uint32) {
	i := uint32(id)
	if i >= MaxOutstanding {
		return nil, 0
	}
	c := t.chunks[i/chunkOps].Load()
	if c == nil {
		return nil, 0
	}
	return &c[i%chunkOps], uint32(id >> 32)
}

// fail ends the ops towards peers for which reason is not nil.
func (t *table) fail(w *fult.Worker, reason func(peer int) error) {
	for k := range t.chunks {
		c := t.chunks[k].Load()
		if c == nil {
			continue
		}
		for i := range c {
			o := &c[i]
			o.mu.Lock()
			gen, peer, busy := o.gen.Load(), o.peer, o.left > 0
			o.mu.Unlock()
			if !busy || peer < 0 {
				continue
			}
			if err := reason(peer); err != nil {
				o.abort(gen, err, w)
			}
		}
	}
}
