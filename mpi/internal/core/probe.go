package core

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// Probe waits for a message and tells its source, tag and length without Receiving it.
func (c *Comm) Probe(source, tag int) (Status, error) {
	_, st, _, err := c.probe("Probe", source, tag, true, false)
	return st, err
}

// Iprobe polls once and looks for such a message.
func (c *Comm) Iprobe(source, tag int) (Status, bool, error) {
	_, st, ok, err := c.probe("Iprobe", source, tag, false, false)
	return st, ok, err
}

// probe looks for a message for the function what. With wait it waits for one, with take it takes it.
func (c *Comm) probe(
	what string, source, tag int, wait, take bool,
) (m *comm.Message, st Status, ok bool, err error) {
	if err := c.Bad(what, Receiving, nil, source, tag); err != nil {
		return nil, Status{}, false, err
	}
	if source == ProcNull {
		c.Srv.PollInTurn()
		return nil, nullStatus, true, nil
	}
	if !wait {
		err = c.contextOver()
	}
	var found comm.Status
	switch from := c.world(source); {
	case err != nil:
	case wait && take:
		m, found, err = c.Srv.MprobeContext(c.until, what, c.Ctx, from, tag)
	case wait:
		found, err = c.Srv.ProbeContext(c.until, what, c.Ctx, from, tag)
	case take:
		m, found, err = c.Srv.Improbe(c.Ctx, from, tag)
	default:
		found, ok, err = c.Srv.Iprobe(c.Ctx, from, tag)
	}
	switch {
	case err != nil:
		return nil, Status{}, false, c.RecvError(what, source, tag, 0, err)
	case wait || ok || m != nil:
		return m, c.status(found, source), true, nil
	}
	return nil, Status{}, false, nil
}

// Message is a message that Mprobe has taken for its caller.
type Message struct {
	c    *Comm
	m    *comm.Message // nil: from the null process
	st   Status
	used atomic.Bool
}

// Status tells the message's source, tag and length.
func (m *Message) Status() Status {
	if m == nil {
		return empty
	}
	return m.st
}

// NullSource tells that the message is from the null process.
func (m *Message) NullSource() bool { return m.m == nil }

// Mprobe is Probe that also takes the message, for the function what.
func (c *Comm) Mprobe(what string, source, tag int) (*Message, error) {
	return c.mprobe(what, source, tag, true)
}

// Improbe polls once and takes such a message, if there is one, for the function what.
func (c *Comm) Improbe(what string, source, tag int) (*Message, error) {
	return c.mprobe(what, source, tag, false)
}

// mprobe is Mprobe, or Improbe if it does not wait.
func (c *Comm) mprobe(what string, source, tag int, wait bool) (*Message, error) {
	m, st, ok, err := c.probe(what, source, tag, wait, true)
	if err != nil || !ok {
		return nil, err
	}
	return &Message{c: c, m: m, st: st}, nil
}

// Imrecv starts to receive m into b, for the function what. If alloc is not nil it gives the buffer.
func (m *Message) Imrecv(what string, e *signature.Elem, b []byte, alloc func(n int) []byte) (Request, error) {
	d := data{b: b}
	if m.lives() {
		d.signature = m.c.signature(e)
	}
	return m.imrecv(what, d, alloc, e.Err())
}

// lives tells that m is a message.
func (m *Message) lives() bool { return m != nil && m.c != nil }

// imrecv is Imrecv into d. bad tells what is wrong with that.
func (m *Message) imrecv(what string, d data, alloc func(n int) []byte, bad error) (Request, error) {
	if !m.lives() {
		return Request{}, fmt.Errorf("mpi: %s: %w: nil message", what, sentinel.ErrRequest)
	}
	if err := m.c.checkUsable(what); err != nil {
		return Request{}, err
	}
	if bad != nil {
		return Request{}, m.c.opError(what, bad)
	}
	if m.used.Swap(true) {
		return Request{}, m.c.opError(what, fmt.Errorf("%w: the message has been received", sentinel.ErrRequest))
	}
	if m.m == nil {
		return Request{c: m.c, req: comm.DoneReq(markNullRecv)}, nil
	}
	r, err := m.startReceive(&d, alloc)
	if err != nil {
		return Request{}, m.c.opError(what, err)
	}
	return Request{c: m.c, req: r}, nil
}

// startReceive starts to receive m, which is not from the null process.
func (m *Message) startReceive(d *data, alloc func(n int) []byte) (comm.Req, error) {
	opt := m.c.recvOptions(formMatched, d)
	if d.cur == nil {
		opt.Alloc = alloc
	}
	return m.c.Srv.Imrecv(m.m, d.b, &opt)
}

// Mrecv is Imrecv that waits.
func (m *Message) Mrecv(what string, e *signature.Elem, b []byte, alloc func(n int) []byte) (Status, error) {
	r, err := m.Imrecv(what, e, b, alloc)
	if err != nil {
		return Status{}, err
	}
	return r.Wait(what)
}
