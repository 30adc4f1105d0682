package core

import (
	"fmt"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/reqkind"
	"github.com/golci/golci/mpi/internal/signature"
)

// persistentState is what a persistent request keeps from start to start. Copies of the request share it. Its state is
// Inactive, Active, or Null once it has been freed; an operation that is done is still Active here.
type persistentState struct {
	state reqkind.State
	recv  bool
	mode  comm.Mode // of a send
	peer  int
	tag   int
	data  data
	req   comm.Req // the operation, while it is Active

	start func(c *Comm) (comm.Req, error) // of other kinds than sends and receives; else nil
	comm  *Comm                           // that the request alone uses, and is freed with it; else nil
}

// SendInit makes a persistent request for a send, for the function what.
func (c *Comm) SendInit(what string, e *signature.Elem, b []byte, dest, tag int, mode comm.Mode) (Request, error) {
	if err := c.Bad(what, Sending, e.Err(), dest, tag); err != nil {
		return Request{}, err
	}
	return c.kept(persistentState{mode: mode, peer: dest, tag: tag, data: data{b: b, signature: c.signature(e)}}), nil
}

// RecvInit makes a persistent request for a receive, for the function what.
func (c *Comm) RecvInit(what string, e *signature.Elem, b []byte, source, tag int) (Request, error) {
	if err := c.Bad(what, Receiving, e.Err(), source, tag); err != nil {
		return Request{}, err
	}
	return c.kept(persistentState{recv: true, peer: source, tag: tag, data: data{b: b, signature: c.signature(e)}}), nil
}

func (c *Comm) kept(k persistentState) Request {
	k.state = reqkind.Inactive
	return Request{c: c, x: &requestExt{persistent: &k}}
}

// Start starts the operation of a persistent request, for the function what.
func (r *Request) Start(what string) error {
	if err := r.may(what, reqkind.Start); err != nil {
		return err
	}
	c, k := r.c, r.persistentState()
	if err := c.checkUsable(what); err != nil {
		return err
	}
	req, err := k.beginOp(c)
	switch {
	case err == nil:
		k.req, k.state = req, reqkind.Active
		if req.Ready() {
			c.Srv.PollInTurn()
		}
		return nil
	case k.start != nil:
		return c.opError(what, err)
	case k.recv:
		return c.RecvError(what, k.peer, k.tag, k.data.len(), err)
	}
	return c.SendError(what, k.peer, k.tag, k.data.len(), err)
}

// beginOp starts the operation on c.
func (k *persistentState) beginOp(c *Comm) (comm.Req, error) {
	switch {
	case k.start != nil:
		return k.start(c)
	case k.peer == ProcNull && k.recv:
		return comm.DoneReq(markNullRecv), nil
	case k.peer == ProcNull:
		return comm.Req{}, nil
	case k.recv:
		return c.irecvData(formPersistent, k.peer, k.tag, &k.data)
	}
	return c.isendData(formPersistent, k.peer, k.tag, &k.data, k.mode)
}

// StartAll starts all of rs in their order. With an error none is started that comes after.
func StartAll(rs []Request) error {
	for i := range rs {
		if err := rs[i].Start("StartAll"); err != nil {
			return fmt.Errorf("%w (request %d of %d)", err, i, len(rs))
		}
	}
	return nil
}
