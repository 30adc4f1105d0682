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
	_, st, _, err := c.probe("Probe", source, tag, true, false)
	return st, err
}

// Iprobe polls once and looks for such a message; it does not block. The result is false if there is none. Errors as
// for Probe; in a view whose context has ended ErrCancelled and its cause, so that a loop of Iprobe ends with it.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	_, st, ok, err := c.probe("Iprobe", source, tag, false, false)
	return st, ok, err
}

// probe looks for a message for the function what. With wait it waits for one, with take it takes it.
func (c *Comm) probe(
	what string, source, tag int, wait, take bool,
) (m *comm.Message, st Status, ok bool, err error) {
	if err := c.bad(what, receiving, nil, source, tag); err != nil {
		return nil, Status{}, false, err
	}
	if source == ProcNull {
		return nil, nullStatus, true, nil
	}
	if !wait {
		err = c.over()
	}
	var found comm.Status
	switch from := c.world(source); {
	case err != nil:
	case wait && take:
		m, found, err = c.srv.MprobeContext(c.until, c.ctx, from, tag)
	case wait:
		found, err = c.srv.ProbeContext(c.until, c.ctx, from, tag)
	case take:
		m, found, err = c.srv.Improbe(c.ctx, from, tag)
	default:
		found, ok, err = c.srv.Iprobe(c.ctx, from, tag)
	}
	switch {
	case err != nil:
		return nil, Status{}, false, c.recvError(what, source, tag, 0, err)
	case wait || ok || m != nil:
		return m, c.status(found, source), true, nil
	}
	return nil, Status{}, false, nil
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
	return c.mprobe("Mprobe", source, tag, true)
}

// mprobe is Mprobe for the function what, or Improbe if it does not wait.
func (c *Comm) mprobe(what string, source, tag int, wait bool) (*Message, error) {
	m, st, ok, err := c.probe(what, source, tag, wait, true)
	if err != nil || !ok {
		return nil, err
	}
	return &Message{c: c, m: m, st: st}, nil
}

// Improbe polls once and takes such a message, if there is one; else it returns nil (3.8.2). It does not block.
// Errors as for Iprobe.
func (c *Comm) Improbe(source, tag int) (*Message, error) {
	return c.mprobe("Improbe", source, tag, false)
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
	r, err := m.c.srv.ImrecvWith(m.m, b, alloc, m.c.terms(m.c.shape(e)))
	if err != nil {
		return Request{}, m.c.opError(what, err)
	}
	return Request{c: m.c, req: r}, nil
}
