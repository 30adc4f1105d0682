package core

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/reqkind"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// sendrecvOp is a send and a receive with one request.
type sendrecvOp struct {
	c    *Comm
	call comm.Req // ends with the later of the two
	recv Request  // null only while Isendrecv starts it
	send Request
	left atomic.Int32  // of the two, and Isendrecv itself; who makes it 0 ends the call
	stop func() bool   // of a view's context; nil: there is none
	gone chan struct{} // closed after abandon
}

// Isendrecv is Sendrecv that only starts (3.10). The request is done when both operations are. Its status and its error
// are those of the receive; an error of the send is told, too.
func (c *Comm) Isendrecv(
	what string, sent *signature.Elem, out []byte, dest, stag int, received *signature.Elem, in []byte, source, rtag int,
) (Request, error) {
	if err := c.Bad(what, Sending, sent.Err(), dest, stag); err != nil {
		return Request{}, err
	}
	if err := c.Bad(what, Receiving, received.Err(), source, rtag); err != nil {
		return Request{}, err
	}
	from, to := data{b: out, signature: c.signature(sent)}, data{b: in, signature: c.signature(received)}
	return c.isendrecv(what, &from, dest, stag, &to, source, rtag)
}

// IsendrecvBuf is Isendrecv of buffers of any type.
func (c *Comm) IsendrecvBuf(what string, out Buf, dest, stag int, in Buf, source, rtag int) (Request, error) {
	from, err := c.sent(what, &out, dest, stag)
	if err != nil {
		return Request{}, err
	}
	to, err := c.received(what, &in, source, rtag)
	if err != nil {
		return Request{}, err
	}
	return c.isendrecv(what, &from, dest, stag, &to, source, rtag)
}

// isendrecv is Isendrecv with arguments that have been checked.
func (c *Comm) isendrecv(what string, out *data, dest, stag int, in *data, source, rtag int) (Request, error) {
	if argument.Overlap(out.b, in.b) {
		return Request{}, c.commErrorf(what, ": %w: the buffers overlap", sentinel.ErrBuffer)
	}
	b := &sendrecvOp{c: c}
	b.left.Store(1)
	b.call = c.Srv.NewCall(pending.Op{
		Call: what, Context: pending.NoContext, Peer: pending.AnyRank, Tag: pending.AnyTag, Needs: pending.Nobody, Parts: true,
	}, pending.Terms{Stop: b.stopped})
	if err := b.startRecv(what, in, source, rtag); err != nil {
		c.Srv.EndCall(b.call, nil, nil)
		return Request{}, err
	}
	if err := b.startSend(what, out, dest, stag); err != nil {
		_ = b.recv.Cancel()
		_, _ = b.recv.Wait(what)
		c.Srv.EndCall(b.call, nil, nil)
		return Request{}, err // which is the cause
	}
	if c.until != nil {
		b.gone = make(chan struct{})
		b.stop = context.AfterFunc(c.until, b.abandon)
	}
	b.onEvent(nil)
	return Request{c: c, req: b.call, x: &requestExt{composite: b}}, nil
}

// IsendrecvReplace is Isendrecv in one buffer: what is sent is copied first.
func (c *Comm) IsendrecvReplace(what string, e *signature.Elem, b []byte, dest, stag, source, rtag int) (Request,
	error,
) {
	var out []byte
	if dest != ProcNull {
		out = bytes.Clone(b)
	}
	return c.Isendrecv(what, e, out, dest, stag, e, b, source, rtag)
}

// IsendrecvReplaceBuf is IsendrecvReplace of a buffer of any type.
func (c *Comm) IsendrecvReplaceBuf(what string, b Buf, dest, stag, source, rtag int) (Request, error) {
	d, err := c.sent(what, &b, dest, stag)
	if err != nil {
		return Request{}, err
	}
	if err := c.Bad(what, Receiving, nil, source, rtag); err != nil {
		return Request{}, err
	}
	var out data
	if dest != ProcNull {
		out = d.packed()
	}
	return c.isendrecv(what, &out, dest, stag, &d, source, rtag)
}

func (b *sendrecvOp) startRecv(what string, d *data, source, tag int) error {
	c := b.c
	if b.recv = (Request{c: c, req: comm.DoneReq(markNullRecv)}); source == ProcNull {
		return nil
	}
	opt := c.recvOptions(formIsendrecv, d)
	opt.Done = b.onEvent
	b.left.Add(1)
	r, err := c.Srv.Irecv(c.Ctx, c.world(source), tag, d.b, &opt)
	if err != nil {
		return c.RecvError(what, source, tag, d.len(), err)
	}
	if b.recv.req = r; r.Null() {
		b.left.Add(-1)
	}
	return nil
}

func (b *sendrecvOp) startSend(what string, d *data, dest, tag int) error {
	c := b.c
	if b.send = (Request{c: c}); dest == ProcNull {
		return nil
	}
	opt := c.sendOptions(formIsendrecv, d, comm.Standard)
	opt.Done = b.onEvent
	b.left.Add(1)
	r, err := c.Srv.Isend(c.Ctx, int(c.group[dest]), tag, d.b, &opt)
	if err != nil {
		return c.SendError(what, dest, tag, d.len(), err)
	}
	if b.send.req = r; r.Null() {
		b.left.Add(-1)
	}
	return nil
}

// onEvent is called when one of the two has ended, and when both have been started.
func (b *sendrecvOp) onEvent(w *fult.Worker) {
	if b.left.Add(-1) == 0 {
		b.c.Srv.EndCall(b.call, nil, w)
	}
}

// abandon ends both, as the end of a view's context does.
func (b *sendrecvOp) abandon() {
	defer close(b.gone)
	b.c.Srv.End(b.recv.req)
	b.c.Srv.End(b.send.req)
}

func (b *sendrecvOp) opKind() reqkind.Kind { return reqkind.PointToPoint }

func (b *sendrecvOp) opOutcome(c *Comm, last bool) (Status, error) {
	if !last {
		st, err := b.recv.peek()
		_, other := b.send.peek()
		return st, errors.Join(err, other)
	}
	if b.stop != nil && !b.stop() {
		<-b.gone // it holds the requests
	}
	st, err := b.recv.result()
	_, other := b.send.result()
	if err == nil {
		err = other
	}
	return st, err
}

// stopped asks for the end of both from outside. They are in the registry themselves, so this is for a wait that ends.
func (b *sendrecvOp) stopped(uint64, error, *fult.Worker) { _ = b.cancelOp(b.c) }

// cancelOp asks for the end of both.
func (b *sendrecvOp) cancelOp(c *Comm) error {
	c.Srv.Cancel(b.recv.req)
	c.Srv.Cancel(b.send.req)
	return nil
}

func (b *sendrecvOp) forgetOp(*Comm) error { return nil }
