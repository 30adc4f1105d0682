package am

import (
	"bytes"
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
	return e.RequestMedium(dst, h, nil, args...)
}

// RequestMedium is RequestShort with a payload of at most MaxMedium bytes, which the handler sees in the receive space.
// payload may be reused when it returns. Errors as for RequestShort.
func (e *Endpoint) RequestMedium(dst int, h uint8, payload []byte, args ...uint64) error {
	if err := e.checkRequest(dst, h, len(args), len(payload)); err != nil {
		return err
	}
	body, first, o := e.Open(dst, h, len(args), len(payload))
	if o == Opened {
		PutArgs(body, args)
		e.CopyOut(dst, body[len(args)*argBytes:], payload)
		e.Commit(dst, first)
		return nil
	}
	return e.requestSlow(dst, o, h, args, message{payload: payload})
}

// Post is RequestMedium for whoever must not wait, a handler too. It never blocks. What cannot go now waits in the
// queue of the pair, with a copy of payload, and is dropped if the peer dies. Its arguments are not checked.
func (e *Endpoint) Post(peer int, h uint8, payload []byte, args ...uint64) {
	e.postRecord(peer, h, false, payload, args)
}

// PostUrgent is Post without payload that waits before the requests, not behind them, and for room, not for credits: as
// RequestUrgent does.
func (e *Endpoint) PostUrgent(peer int, h uint8, args ...uint64) {
	e.postRecord(peer, h, true, nil, args)
}

func (e *Endpoint) postRecord(peer int, h uint8, urgent bool, payload []byte, args []uint64) {
	body, first, o := e.Open(peer, h, len(args), len(payload))
	switch o {
	case Opened:
		PutArgs(body, args)
		e.CopyOut(peer, body[len(args)*argBytes:], payload)
		e.Commit(peer, first)
	case Stalled:
		q := e.newRequest(peer, h, args, message{payload: bytes.Clone(payload)})
		q.posted, q.urgent = true, urgent
		if urgent {
			e.enqueueUrgent(peer, q)
		} else {
			e.Enqueue(peer, q)
		}
	case Failed: // whoever waits for an answer learns of it
	}
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
	case uint(dst) >= uint(len(e.senders)):
		return fmt.Errorf("%w: %d of %d", ErrRank, dst, len(e.senders))
	case e.specs[h].Run == nil:
		return fmt.Errorf("%w: index %d, to rank %d", ErrHandler, h, dst)
	case nargs > MaxArgs:
		return fmt.Errorf("%w: %d arguments to rank %d, the most is %d", ErrSize, nargs, dst, MaxArgs)
	case payload > e.maxMedium:
		return fmt.Errorf("%w: %d bytes to rank %d, the most is %d", ErrSize, payload, dst, e.maxMedium)
	}
	return nil
}

// PutArgs writes the arguments of a record to the beginning of its body.
func PutArgs(body []byte, args []uint64) {
	for i, a := range args {
		binary.LittleEndian.PutUint64(body[i*argBytes:], a)
	}
}

// message is what a record carries beside its arguments. The zero message is that of a Short.
type message struct {
	flags   uint8
	prefix  [3]uint64 // words of a Long before its payload
	nprefix int
	payload []byte
}

func (m *message) byteCount() int { return m.nprefix*argBytes + len(m.payload) }

// putRecord writes the body of the record for peer.
func (e *Endpoint) putRecord(peer int, body []byte, args []uint64, m *message) {
	PutArgs(body, args)
	body = body[len(args)*argBytes:]
	PutArgs(body, m.prefix[:m.nprefix])
	e.CopyOut(peer, body[m.nprefix*argBytes:], m.payload)
}

// packedLong is a Long whose payload is in the record, splitLong one whose payload of n bytes comes as Bulk id.
func packedLong(off int64, payload []byte) message {
	return message{flags: flagLong, prefix: [3]uint64{uint64(off)}, nprefix: 1, payload: payload}
}

func splitLong(off int64, n int, id uint64) message {
	return message{flags: flagLong | flagSplit, prefix: [3]uint64{uint64(off), uint64(n), id}, nprefix: 3}
}

// request is a queued request.
type request struct {
	Link
	e      *Endpoint
	dst    int
	h      uint8
	urgent bool // it goes before those that are not
	posted bool // nobody waits for it
	nargs  int
	args   [MaxArgs]uint64
	msg    message
	done   progress.Done
	err    error
}

var requests = sync.Pool{New: func() any { return new(request) }}

// requestSlow queues the request and waits until it is sent. The pair is locked if o is Stalled.
func (e *Endpoint) requestSlow(dst int, o Outcome, h uint8, args []uint64, m message) error {
	if o == Failed {
		return e.PeerError(dst)
	}
	q := e.newRequest(dst, h, args, m)
	e.Enqueue(dst, q)
	return q.waitSent()
}

func (e *Endpoint) newRequest(dst int, h uint8, args []uint64, m message) *request {
	q := requests.Get().(*request)
	q.e, q.dst, q.h, q.nargs, q.msg, q.err = e, dst, h, copy(q.args[:], args), m, nil
	q.urgent, q.posted = false, false
	e.prog.Begin(&q.done)
	return q
}

// waitSent waits until q, which is queued, has been sent or has failed.
func (q *request) waitSent() error {
	q.e.prog.Wait(&q.done)
	err := q.err
	q.freeRequest()
	return err
}

func (q *request) freeRequest() {
	q.msg = message{}
	requests.Put(q)
}

// Emit implements Queued.
func (q *request) Emit() bool {
	ln, args := q.e.senderOf(q.dst), q.args[:q.nargs]
	if q.urgent {
		return q.e.emitUrgent(ln, q.dst, q.h, args)
	}
	return q.e.emitRequest(ln, q.dst, q.h, args, &q.msg)
}

// emitRequest sends a request if it can go now. The pair is locked.
func (e *Endpoint) emitRequest(ln *sender, peer int, h uint8, args []uint64, m *message) bool {
	body, first, o := e.openSender(ln, peer, h, m.flags, len(args), m.byteCount())
	if o == Opened {
		e.putRecord(peer, body, args, m)
		e.c.Commit(peer, first)
	}
	return o == Opened
}

// Sent implements Queued.
func (q *request) Sent(w *fult.Worker) {
	if q.posted {
		q.freeRequest()
	} else {
		q.done.Complete(w)
	}
}

// Fail implements Queued.
func (q *request) Fail(err error, w *fult.Worker) {
	q.err = err
	q.Sent(w)
}
