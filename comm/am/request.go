package am

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/progress"
)

// RequestShort runs handler index h at rank dst with args (at most MaxArgs). It blocks the calling thread or goroutine
// while there are no credits or others are queued before it; it must not be called in a handler. Errors: ErrRank,
// ErrHandler, ErrSize, ErrClosed, ErrPeer, and ErrContext in a handler.
func (e *Endpoint) RequestShort(dst int, h uint8, args ...uint64) error {
	if err := e.checkRequest(dst, h, len(args), 0); err != nil {
		return err
	}
	body, first, o := e.Open(dst, h, len(args), 0)
	if o == Opened {
		putArgs(body, args)
		e.Commit(dst, first)
		return nil
	}
	return e.requestSlow(dst, o, h, args, message{})
}

// RequestMedium is RequestShort with a payload of at most MaxMedium bytes, which the handler sees in the receive space.
// payload may be reused when it returns. Errors as for RequestShort.
func (e *Endpoint) RequestMedium(dst int, h uint8, payload []byte, args ...uint64) error {
	if err := e.checkRequest(dst, h, len(args), len(payload)); err != nil {
		return err
	}
	body, first, o := e.Open(dst, h, len(args), len(payload))
	if o == Opened {
		putArgs(body, args)
		copy(body[len(args)*argBytes:], payload)
		e.Commit(dst, first)
		return nil
	}
	return e.requestSlow(dst, o, h, args, message{payload: payload})
}

func (e *Endpoint) checkRequest(dst int, h uint8, nargs, payload int) error {
	if e.Watched() {
		if err := e.Allow(CallRequest); err != nil {
			return fmt.Errorf("to rank %d: %w", dst, err)
		}
	}
	switch {
	case e.closed.Load():
		return fmt.Errorf("%w: rank %d", ErrClosed, e.rank)
	case uint(dst) >= uint(len(e.lanes)):
		return fmt.Errorf("%w: %d of %d", ErrRank, dst, len(e.lanes))
	case e.specs[h].Run == nil:
		return fmt.Errorf("%w: index %d, to rank %d", ErrHandler, h, dst)
	case nargs > MaxArgs:
		return fmt.Errorf("%w: %d arguments to rank %d, the most is %d", ErrSize, nargs, dst, MaxArgs)
	case payload > e.maxMedium:
		return fmt.Errorf("%w: %d bytes to rank %d, the most is %d", ErrSize, payload, dst, e.maxMedium)
	}
	return nil
}

func putArgs(body []byte, args []uint64) {
	for i, a := range args {
		binary.LittleEndian.PutUint64(body[i*argBytes:], a)
	}
}

// message is what a record carries beside its arguments.
type message struct {
	flags   uint8
	prefix  [3]uint64 // words of a Long before its payload
	nprefix int
	payload []byte
}

func (m *message) bytes() int { return m.nprefix*argBytes + len(m.payload) }

func (m *message) put(body []byte) {
	for i := range m.nprefix {
		binary.LittleEndian.PutUint64(body[i*argBytes:], m.prefix[i])
	}
	copy(body[m.nprefix*argBytes:], m.payload)
}

// request is a queued request whose caller waits.
type request struct {
	next  Queued
	e     *Endpoint
	dst   int
	h     uint8
	nargs int
	args  [MaxArgs]uint64
	msg   message
	done  progress.Done
	err   error
}

var requests = sync.Pool{New: func() any { return new(request) }}

// requestSlow queues the request and waits until it is sent. The pair is locked if o is Stalled.
func (e *Endpoint) requestSlow(dst int, o Outcome, h uint8, args []uint64, m message) error {
	if o == Failed {
		return e.peerError(dst)
	}
	q := requests.Get().(*request)
	q.e, q.dst, q.h, q.nargs, q.msg, q.err = e, dst, h, copy(q.args[:], args), m, nil
	q.done.Reset()
	if t := e.prog.Current(); t != nil {
		q.done.Expect(t)
	}
	e.Enqueue(dst, q)
	e.prog.Wait(&q.done)
	err := q.err
	q.msg = message{}
	requests.Put(q)
	return err
}

// Emit implements Queued.
func (q *request) Emit() bool {
	e := q.e
	body, first, o := e.open(e.lane(q.dst), q.dst, q.h, q.msg.flags, q.nargs, q.msg.bytes())
	if o != Opened {
		return false
	}
	putArgs(body, q.args[:q.nargs])
	q.msg.put(body[q.nargs*argBytes:])
	e.CommitQueued(q.dst, first)
	return true
}

// Sent implements Queued.
func (q *request) Sent(w *fult.Worker) { q.done.Complete(w) }

// Fail implements Queued.
func (q *request) Fail(err error, w *fult.Worker) {
	q.err = err
	q.done.Complete(w)
}

// Next implements Queued.
func (q *request) Next() *Queued { return &q.next }
