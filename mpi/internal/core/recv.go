package core

import (
	"bytes"
	"fmt"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// RecvAny receives in the cases that are not hot: with wildcards, from the null process, in a view, with a type that is
// new. Or it tells what is wrong.
func (c *Comm) RecvAny(what string, e *signature.Elem, b []byte, source, tag int) (Status, error) {
	if err := c.Bad(what, Receiving, e.Err(), source, tag); err != nil {
		return Status{}, err
	}
	return c.recv(what, data{b: b, signature: c.signature(e)}, source, tag)
}

// world translates a rank that has been checked, or AnySource, for the server.
func (c *Comm) world(rank int) int {
	if rank < 0 {
		return rank
	}
	return int(c.group[rank])
}

// IrecvAny is RecvAny that only starts.
func (c *Comm) IrecvAny(what string, e *signature.Elem, b []byte, source, tag int) (Request, error) {
	if err := c.Bad(what, Receiving, e.Err(), source, tag); err != nil {
		return Request{}, err
	}
	return c.irecv(what, comm.Nonblocking, data{b: b, signature: c.signature(e)}, source, tag)
}

// Sendrecv sends out to dest with stag and, at the same time, receives into in from source with rtag. sent and received
// are the types of the elements. what is the function that errors name.
func (c *Comm) Sendrecv(
	what string, sent *signature.Elem, out []byte, dest, stag int, received *signature.Elem, in []byte, source, rtag int,
) (Status, error) {
	if err := c.Bad(what, Sending, sent.Err(), dest, stag); err != nil {
		return Status{}, err
	}
	if err := c.Bad(what, Receiving, received.Err(), source, rtag); err != nil {
		return Status{}, err
	}
	from, to := data{b: out, signature: c.signature(sent)}, data{b: in, signature: c.signature(received)}
	return c.sendrecv(what, from, dest, stag, to, source, rtag)
}

// SendrecvReplace is Sendrecv in one buffer: what is sent is copied first.
func (c *Comm) SendrecvReplace(e *signature.Elem, b []byte, dest, stag, source, rtag int) (Status, error) {
	var out []byte
	if dest != ProcNull {
		out = bytes.Clone(b)
	}
	return c.Sendrecv("SendrecvReplace", e, out, dest, stag, e, b, source, rtag)
}

// RecvAlloc receives a message into what alloc gives for its length in bytes, for the function what. It waits. With
// ErrCount, for a length that is no multiple of size, the message has been received.
func (c *Comm) RecvAlloc(
	what string, e *signature.Elem, size, source, tag int, alloc func(n int) []byte,
) (Status, error) {
	if err := c.Bad(what, Receiving, e.Err(), source, tag); err != nil {
		return Status{}, err
	}
	if source == ProcNull {
		c.Srv.PollInTurn()
		return nullStatus, nil
	}
	opt := c.options(comm.Blocking, c.signature(e))
	opt.Alloc = alloc
	st, err := c.recvWith(source, tag, &opt)
	s := c.status(st, source)
	if err != nil {
		return s, c.RecvError(what, source, tag, int(st.Bytes), err)
	}
	if size > 0 && s.Bytes%int64(size) != 0 {
		return s, c.RecvError(what, s.Source, s.Tag, int(s.Bytes), CountError(s.Bytes, size))
	}
	return s, nil
}

// recvWith receives what opt says; it waits.
func (c *Comm) recvWith(source, tag int, opt *comm.Options) (comm.Status, error) {
	if c.until == nil {
		return c.Srv.Recv(c.Ctx, c.world(source), tag, nil, opt)
	}
	if err := c.contextOver(); err != nil {
		return comm.Status{}, err
	}
	r, err := c.Srv.Irecv(c.Ctx, c.world(source), tag, nil, opt)
	if err != nil {
		return comm.Status{}, err
	}
	return c.waitReq(r)
}

// CountError tells that n bytes are no whole number of elements of so many bytes.
func CountError(n int64, size int) error {
	return fmt.Errorf("%w: %d bytes are no whole number of elements of %d", sentinel.ErrCount, n, size)
}
