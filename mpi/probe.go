package mpi

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/comm"
)

// Probe waits for a message that a Recv with these arguments would get, and tells its source, tag and length without
// receiving it (3.8.1). Another thread may still receive it first; see Mprobe. It may switch threads. Errors: ErrComm,
// ErrRank, ErrTag, ErrFinalized, ErrAborted.
func (c *Comm) Probe(source, tag int) (Status, error) {
	if err := c.badRecv("Probe", nil, source, tag); err != nil {
		return Status{}, err
	}
	if source == ProcNull {
		return nullStatus, nil
	}
	st, err := c.srv.ProbeContext(c.until, c.ctx, c.world(source), tag)
	if err != nil {
		return Status{}, c.recvError("Probe", source, tag, 0, err)
	}
	return c.status(st, source), nil
}

// Iprobe polls once and looks for such a message; it does not block. The result is false if there is none. Errors as
// for Probe; in a view whose context has ended ErrCancelled and its cause, so that a loop of Iprobe ends with it.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	if err := c.badRecv("Iprobe", nil, source, tag); err != nil {
		return Status{}, false, err
	}
	if source == ProcNull {
		return nullStatus, true, nil
	}
	err := c.over()
	var st comm.Status
	ok := false
	if err == nil {
		st, ok, err = c.srv.Iprobe(c.ctx, c.world(source), tag)
	}
	if err != nil {
		return Status{}, false, c.recvError("Iprobe", source, tag, 0, err)
	}
	if !ok {
		return Status{}, false, nil
	}
	return c.status(st, source), true, nil
}

// Message is a message that Mprobe has taken for its caller: only Mrecv and Imrecv can receive it, once (3.8.2).
type Message struct {
	c    *Comm
	m    *comm.Message // nil: from the null process
	st   Status
	used atomic.Bool
}

// Status tells the message's source, tag and length; of a nil message AnySource, AnyTag and 0.
func (m *Message) Status() Status {
	if m == nil {
		return empty
	}
	return m.st
}

// Mprobe is Probe that also takes the message, so that no other thread can receive it (3.8.2). It waits, and may
// switch threads. Errors as for Probe.
func (c *Comm) Mprobe(source, tag int) (*Message, error) {
	if err := c.badRecv("Mprobe", nil, source, tag); err != nil {
		return nil, err
	}
	if source == ProcNull {
		return &Message{c: c, st: nullStatus}, nil
	}
	m, st, err := c.srv.MprobeContext(c.until, c.ctx, c.world(source), tag)
	if err != nil {
		return nil, c.recvError("Mprobe", source, tag, 0, err)
	}
	return &Message{c: c, m: m, st: c.status(st, source)}, nil
}

// Improbe polls once and takes such a message, if there is one; else it returns nil (3.8.2). It does not block.
// Errors as for Iprobe.
func (c *Comm) Improbe(source, tag int) (*Message, error) { return c.improbe("Improbe", source, tag) }

// improbe is Improbe for the function what, which errors name.
func (c *Comm) improbe(what string, source, tag int) (*Message, error) {
	if err := c.badRecv(what, nil, source, tag); err != nil {
		return nil, err
	}
	if source == ProcNull {
		return &Message{c: c, st: nullStatus}, nil
	}
	err := c.over()
	var m *comm.Message
	var st comm.Status
	if err == nil {
		m, st, err = c.srv.Improbe(c.ctx, c.world(source), tag)
	}
	if err != nil {
		return nil, c.recvError(what, source, tag, 0, err)
	}
	if m == nil {
		return nil, nil
	}
	return &Message{c: c, m: m, st: c.status(st, source)}, nil
}

// Imrecv starts to receive m into buf (3.8.3). It does not block. Errors: ErrType, ErrRequest for a message that is
// nil or has been received, ErrFinalized, ErrAborted.
func Imrecv[T any](m *Message, buf []T) (Request, error) {
	return m.imrecv("Imrecv", elemOf[T](), bytesOf(buf), nil)
}

// Mrecv receives m into buf (3.8.3). It waits for the bytes of a long message, and may switch threads. Errors as for
// Imrecv, and ErrTruncate.
func Mrecv[T any](m *Message, buf []T) (Status, error) {
	return m.mrecv("Mrecv", elemOf[T](), bytesOf(buf), nil)
}

// mrecv is Mrecv for the function what, which errors name. If alloc is not nil it gives the buffer.
func (m *Message) mrecv(what string, e *elem, b []byte, alloc func(n int) []byte) (Status, error) {
	r, err := m.imrecv(what, e, b, alloc)
	if err != nil {
		return Status{}, err
	}
	return r.wait(what)
}

func (m *Message) imrecv(what string, e *elem, b []byte, alloc func(n int) []byte) (Request, error) {
	if m == nil || m.c == nil {
		return Request{}, fmt.Errorf("mpi: %s: %w: nil message", what, ErrRequest)
	}
	if err := m.c.usable(what); err != nil {
		return Request{}, err
	}
	if e.err != nil {
		return Request{}, m.c.opError(what, e.err)
	}
	if m.used.Swap(true) {
		return Request{}, m.c.opError(what, fmt.Errorf("%w: the message has been received", ErrRequest))
	}
	if m.m == nil {
		return Request{c: m.c, req: comm.DoneReq(markNullRecv)}, nil
	}
	r, err := m.c.imrecvBytes(m.m, b, alloc, m.c.shape(e))
	if err != nil {
		return Request{}, m.c.opError(what, err)
	}
	return Request{c: m.c, req: r}, nil
}
