package core

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/signature"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// SendBuf sends a buffer; it waits. what is the function that errors name.
func (c *Comm) SendBuf(what string, b Buf, dest, tag int, mode comm.Mode) error {
	d, err := c.sent(what, &b, dest, tag)
	if err != nil {
		return err
	}
	return c.send(what, d, dest, tag, mode)
}

// IsendBuf is SendBuf that only starts.
func (c *Comm) IsendBuf(what string, b Buf, dest, tag int, mode comm.Mode) (Request, error) {
	d, err := c.sent(what, &b, dest, tag)
	if err != nil {
		return Request{}, err
	}
	return c.isend(what, comm.Nonblocking, d, dest, tag, mode)
}

// RecvBuf receives into a buffer; it waits. What the message does not fill stays as it was. ErrType: the message ends
// within a basic element of a type with holes, so the sender meant another type. The message has been received.
func (c *Comm) RecvBuf(what string, b Buf, source, tag int) (Status, error) {
	d, err := c.received(what, &b, source, tag)
	if err != nil {
		return Status{}, err
	}
	st, err := c.recv(what, d, source, tag)
	if err == nil && d.cur != nil {
		if _, whole := b.T.Elements(st.Bytes); !whole {
			return st, c.RecvError(what, source, tag, d.len(), fmt.Errorf("%w: %d bytes of them came", sentinel.ErrType,
				st.Bytes))
		}
	}
	return st, err
}

// IrecvBuf is RecvBuf that only starts.
func (c *Comm) IrecvBuf(what string, b Buf, source, tag int) (Request, error) {
	d, err := c.received(what, &b, source, tag)
	if err != nil {
		return Request{}, err
	}
	return c.irecv(what, comm.Nonblocking, d, source, tag)
}

// SendrecvBuf sends out and receives into in at the same time. The buffers must not share memory.
func (c *Comm) SendrecvBuf(what string, out Buf, dest, stag int, in Buf, source, rtag int) (Status, error) {
	sent, err := c.sent(what, &out, dest, stag)
	if err != nil {
		return Status{}, err
	}
	received, err := c.received(what, &in, source, rtag)
	if err != nil {
		return Status{}, err
	}
	return c.sendrecv(what, sent, dest, stag, received, source, rtag)
}

// SendrecvReplaceBuf is SendrecvBuf in one buffer: what is sent is copied first.
func (c *Comm) SendrecvReplaceBuf(what string, b Buf, dest, stag, source, rtag int) (Status, error) {
	d, err := c.sent(what, &b, dest, stag)
	if err != nil {
		return Status{}, err
	}
	if err := c.Bad(what, Receiving, nil, source, rtag); err != nil {
		return Status{}, err
	}
	out := data{signature: d.signature}
	if dest != ProcNull {
		out = d.packed()
	}
	return c.sendrecv(what, out, dest, stag, d, source, rtag)
}

// SendInitBuf makes a persistent request for a send.
func (c *Comm) SendInitBuf(what string, b Buf, dest, tag int, mode comm.Mode) (Request, error) {
	d, err := c.sent(what, &b, dest, tag)
	if err != nil {
		return Request{}, err
	}
	return c.kept(persistentState{mode: mode, peer: dest, tag: tag, data: d}), nil
}

// RecvInitBuf makes a persistent request for a receive.
func (c *Comm) RecvInitBuf(what string, b Buf, source, tag int) (Request, error) {
	d, err := c.received(what, &b, source, tag)
	if err != nil {
		return Request{}, err
	}
	return c.kept(persistentState{recv: true, peer: source, tag: tag, data: d}), nil
}

// ImrecvBuf starts to receive m into a buffer.
func (m *Message) ImrecvBuf(what string, b Buf) (Request, error) {
	d, err := b.data()
	if m.lives() {
		d.signature = m.c.signatureOf(&b)
	}
	return m.imrecv(what, d, nil, err)
}

// MrecvBuf is ImrecvBuf that waits.
func (m *Message) MrecvBuf(what string, b Buf) (Status, error) {
	r, err := m.ImrecvBuf(what, b)
	if err != nil {
		return Status{}, err
	}
	return r.Wait(what)
}

// The calls below have checked arguments. They honour the context of a view.

// isPlain tells that an operation on d needs no options.
func (c *Comm) isPlain(d *data) bool { return c.plain() && d.cur == nil }

// options of an operation on elements of that signature, for a call of form f.
func (c *Comm) options(f comm.Form, signature uint64) comm.Options {
	return comm.Options{Form: f, Endable: c.until != nil, Signature: signature}
}

// sendOptions are those of a send of d.
func (c *Comm) sendOptions(f comm.Form, d *data, mode comm.Mode) comm.Options {
	opt := c.options(f, d.signature)
	opt.Mode = mode
	if d.cur != nil {
		opt.Source = d.cur
	} else {
		opt.Signature = signature.OfBytes(d.b, d.signature)
	}
	return opt
}

// recvOptions are those of a receive into d.
func (c *Comm) recvOptions(f comm.Form, d *data) comm.Options {
	opt := c.options(f, d.signature)
	if d.cur != nil {
		opt.Target = d.cur
	}
	return opt
}

func (c *Comm) send(what string, d data, dest, tag int, mode comm.Mode) error {
	if dest == ProcNull {
		c.Srv.PollInTurn()
		return nil
	}
	var err error
	switch {
	case c.until != nil:
		var r comm.Req
		if r, err = c.isendData(comm.Blocking, dest, tag, &d, mode); err == nil {
			_, err = c.waitReq(r)
		}
	case c.isPlain(&d) && mode == comm.Standard:
		err = c.Srv.Send(c.Ctx, int(c.group[dest]), tag, d.b, nil)
	default:
		opt := c.sendOptions(comm.Blocking, &d, mode)
		err = c.Srv.Send(c.Ctx, int(c.group[dest]), tag, d.b, &opt)
	}
	if err != nil {
		return c.SendError(what, dest, tag, d.len(), err)
	}
	return nil
}

func (c *Comm) isend(what string, f comm.Form, d data, dest, tag int, mode comm.Mode) (Request, error) {
	if dest == ProcNull {
		return c.AtOnce(), nil
	}
	r, err := c.isendData(f, dest, tag, &d, mode)
	if err != nil {
		return Request{}, c.SendError(what, dest, tag, d.len(), err)
	}
	return Request{c: c, req: r}, nil
}

// isendData is isend without its errors' names.
func (c *Comm) isendData(f comm.Form, dest, tag int, d *data, mode comm.Mode) (comm.Req, error) {
	if err := c.contextOver(); err != nil {
		return comm.Req{}, err
	}
	opt := c.sendOptions(f, d, mode)
	return c.Srv.Isend(c.Ctx, int(c.group[dest]), tag, d.b, &opt)
}

func (c *Comm) recv(what string, d data, source, tag int) (Status, error) {
	if source == ProcNull {
		c.Srv.PollInTurn()
		return nullStatus, nil
	}
	var st comm.Status
	var err error
	switch {
	case c.until != nil:
		var r comm.Req
		if r, err = c.irecvData(comm.Blocking, source, tag, &d); err == nil {
			st, err = c.waitReq(r)
		}
	case c.isPlain(&d):
		st, err = c.Srv.Recv(c.Ctx, c.world(source), tag, d.b, nil)
	default:
		opt := c.recvOptions(comm.Blocking, &d)
		st, err = c.Srv.Recv(c.Ctx, c.world(source), tag, d.b, &opt)
	}
	if err != nil {
		err = c.RecvError(what, source, tag, d.len(), err)
	}
	return c.status(st, source), err
}

func (c *Comm) irecv(what string, f comm.Form, d data, source, tag int) (Request, error) {
	if source == ProcNull {
		c.Srv.PollInTurn()
		return Request{c: c, req: comm.DoneReq(markNullRecv)}, nil
	}
	r, err := c.irecvData(f, source, tag, &d)
	if err != nil {
		return Request{}, c.RecvError(what, source, tag, d.len(), err)
	}
	return Request{c: c, req: r}, nil
}

// irecvData is irecv without its errors' names.
func (c *Comm) irecvData(f comm.Form, source, tag int, d *data) (comm.Req, error) {
	if err := c.contextOver(); err != nil {
		return comm.Req{}, err
	}
	opt := c.recvOptions(f, d)
	return c.Srv.Irecv(c.Ctx, c.world(source), tag, d.b, &opt)
}

func (c *Comm) sendrecv(what string, out data, dest, stag int, in data, source, rtag int) (Status, error) {
	if argument.Overlap(out.b, in.b) {
		return Status{}, c.commErrorf(what, ": %w: the buffers overlap", sentinel.ErrBuffer)
	}
	r, err := c.irecv(what, formSendrecv, in, source, rtag)
	if err != nil {
		return Status{}, err
	}
	s, err := c.isend(what, formSendrecv, out, dest, stag, comm.Standard)
	if err == nil {
		_, err = s.Wait(what)
	}
	if err != nil {
		_ = r.Cancel() // of a request that is not null: it cannot fail
		_, _ = r.Wait(what)
		return Status{}, err // which is the cause
	}
	return r.Wait(what)
}
