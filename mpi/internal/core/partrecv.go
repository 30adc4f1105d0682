package core

import (
	"errors"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/reqkind"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// partitionedRecv is a partitioned receive.
type partitionedRecv struct {
	partitionedOp
	key partKey

	// Under mu. The first is set once; then news and arrived do not change.
	met       bool // the sender's announcement is here
	announced announced
	arrived   []partArrival // by message
	waiting   bool          // a start waits for the announcement
}

// partArrival is a message of a partitioned receive. Where the data have holes it is the target of the message, so that
// what has not come changes nothing.
type partArrival struct {
	p        *partitionedRecv
	i        int
	from, to int // the bytes of the buffer that it brings
	here     atomic.Bool
}

// Len implements comm.Target.
func (a *partArrival) Len() int { return a.to - a.from }

// Unpack implements comm.Target.
func (a *partArrival) Unpack(src []byte, off int) { a.p.cur.Unpack(src, a.from+off) }

// PrecvInit makes a partitioned receive into b in so many partitions, for the function what. Wildcards are errors.
func (c *Comm) PrecvInit(what string, e *signature.Elem, b []byte, parts, source, tag int) (Request, error) {
	if err := c.Bad(what, Sending, e.Err(), source, tag); err != nil { // which refuses wildcards
		return Request{}, err
	}
	return c.precvInit(what, data{b: b, signature: c.signature(e)}, parts, source, tag)
}

// PrecvInitBuf is PrecvInit of a buffer, which has all partitions.
func (c *Comm) PrecvInitBuf(what string, b Buf, parts, source, tag int) (Request, error) {
	d, err := c.sent(what, &b, source, tag)
	if err != nil {
		return Request{}, err
	}
	return c.precvInit(what, d, parts, source, tag)
}

func (c *Comm) precvInit(what string, d data, parts, source, tag int) (Request, error) {
	p := &partitionedRecv{partitionedOp: c.newParted(what, d, parts, source, tag)}
	if err := p.divisible(); err != nil {
		return Request{}, err
	}
	if source == ProcNull {
		p.met = true
	} else {
		c.proc.parts.awaitSend(p, int(c.group[source]))
	}
	return c.keptParts(p, p.startRecv), nil
}

func (p *partitionedRecv) startRecv(c *Comm) (comm.Req, error) {
	if err := p.mayStart(c); err != nil {
		return comm.Req{}, err
	}
	p.mu.Lock()
	for i := range p.arrived {
		p.arrived[i].here.Store(false)
	}
	p.left.Store(0)
	met := p.met
	p.waiting = !met
	if met {
		p.countMessages()
	}
	p.beginStart(p.stopped) // before the announcement can come
	call := p.call
	p.mu.Unlock()
	p.checkHopeless()
	if met {
		p.postAll()
	}
	return call, nil
}

// countMessages makes a start expect its messages, each with two events. It is called with mu held.
func (p *partitionedRecv) countMessages() {
	p.expectMessages(len(p.arrived))
	p.left.Add(int32(2 * len(p.arrived)))
}

// meetSend takes the announcement of the sender.
func (p *partitionedRecv) meetSend(a announced) {
	p.mu.Lock()
	p.met, p.announced = true, a
	p.arrived = make([]partArrival, a.batch.messages())
	for i := range p.arrived {
		p.arrived[i].p, p.arrived[i].i = p, i
	}
	waiting := p.waiting
	p.waiting = false
	if waiting {
		p.countMessages()
	}
	p.mu.Unlock()
	if waiting {
		p.postAll()
	}
}

// stopped ends the start from outside.
func (p *partitionedRecv) stopped(number uint64, err error, w *fult.Worker) {
	p.mu.Lock()
	ended, waiting := p.endStart(number, err), p.waiting
	if ended {
		p.waiting = false
	}
	p.mu.Unlock()
	switch {
	case !ended:
	case waiting:
		p.onEvent(w) // that of the start, which post would add
	default:
		p.stopStart(2, w)
	}
}

// postAll starts the receives of all messages, and ends what beginStart has counted.
func (p *partitionedRecv) postAll() {
	for i := range p.arrived {
		if p.msgs[i].step.CompareAndSwap(msgIdle, msgClaimed) {
			p.arrived[i].postRecv()
		}
	}
	p.onEvent(nil)
}

func (a *partArrival) postRecv() {
	p := a.p
	from, to := p.announced.batch.span(a.i)
	a.to = min(to, p.total) // what is longer gives ErrTruncate
	a.from = min(from, a.to)
	r, err := a.receivePart(int(p.c.group[p.peer]), partTag(p.announced.channel, a.i))
	p.started(a.i, r, err)
}

func (a *partArrival) receivePart(peer, tag int) (comm.Req, error) {
	p, opt := a.p, comm.Options{Signature: a.p.signature, Done: a.onArrival}
	if p.cur != nil {
		opt.Target = a
		return p.c.Srv.Irecv(partCtx, peer, tag, nil, &opt)
	}
	return p.c.Srv.Irecv(partCtx, peer, tag, p.mem[a.from:a.to], &opt)
}

// onArrival is called when the message has come.
func (a *partArrival) onArrival(w *fult.Worker) {
	a.here.Store(true)
	a.p.onEvent(w)
}

func (p *partitionedRecv) opKind() reqkind.Kind { return reqkind.PartitionedIn }

func (p *partitionedRecv) opOutcome(c *Comm, last bool) (Status, error) {
	err := p.collectMessages(last)
	if p.peer == ProcNull {
		return nullStatus, err
	}
	st := Status{Source: p.peer, Tag: p.tag, Bytes: int64(min(p.announced.batch.bytes, p.total))}
	if err == nil && p.announced.batch.bytes > p.total {
		err = sentinel.ErrTruncate
	}
	var e *comm.OpError
	if errors.As(err, &e) {
		err = e.Err // it names a context and a tag that nobody knows
	}
	return st, err
}

// forgetOp removes a receive that no sender has announced from its place.
func (p *partitionedRecv) forgetOp(*Comm) error {
	p.c.proc.parts.forgetRecv(p)
	return nil
}

// Parrived polls once and tells whether a partition of a partitioned receive has come, for the function what. All have
// come where the request is null or inactive.
func (r *Request) Parrived(what string, part int) (bool, error) {
	if r.Null() {
		return true, nil
	}
	p, ok := r.ends().(*partitionedRecv)
	if err := r.may(what, reqkind.Parrived); err != nil {
		return false, err
	}
	switch {
	case !ok:
		return false, r.c.commErrorf(what, ": %w: it is no partitioned receive", sentinel.ErrRequest)
	case part < 0 || part >= p.parts:
		return false, r.c.commErrorf(what, ": %w: partition %d of %d", sentinel.ErrArgument, part, p.parts)
	case r.isIdle() || r.Ready() || p.hasPart(part):
		r.pollInTurn()
		return true, nil
	}
	r.c.Srv.Poll()
	return r.Ready() || p.hasPart(part), nil
}

// hasPart tells whether the bytes of a partition have come.
func (p *partitionedRecv) hasPart(part int) bool {
	p.mu.Lock()
	posted := p.met && !p.waiting
	p.mu.Unlock()
	if !posted {
		return false
	}
	one := p.total / p.parts
	from, to := part*one, (part+1)*one
	for i := range p.arrived {
		a, b := p.announced.batch.span(i)
		of := a < to && from < b || one == 0 // a partition without elements is in all messages, which are as empty
		if of && !p.arrived[i].here.Load() {
			return false
		}
	}
	return true
}
