package core

import "github.com/golci/golci/comm"

// Hot reports whether a send or receive may take the direct path: its arguments are valid, and neither a view nor a
// wildcard nor the null process is among them. e is a nil *T for elements of type T. It must stay small enough for the
// compiler to inline it.
func (c *Comm) Hot(peer, tag int, e any) bool {
	return c != nil && uint(peer) < uint(len(c.near)) && uint(tag) <= TagUB && !c.freed.Load() && Known(e)
}

// HotSend sends b where Hot is true. It waits.
func (c *Comm) HotSend(b []byte, dest, tag int) error {
	return c.srv.Send(c.ctx, int(c.near[dest]), tag, b, comm.Standard)
}

// HotIsend starts to send b where Hot is true; Started makes a request of it.
func (c *Comm) HotIsend(b []byte, dest, tag int) (comm.Req, error) {
	return c.srv.Isend(c.ctx, int(c.near[dest]), tag, b, comm.Standard)
}

// Started is the request of an operation of c.
func (c *Comm) Started(r comm.Req) Request { return Request{c: c, req: r} }

// SendAny sends in the cases that are not hot: to the null process, in a view, with a type that is new. Or it tells
// what is wrong.
func (c *Comm) SendAny(what string, e *Elem, b []byte, dest, tag int, mode comm.Mode) error {
	if err := c.Bad(what, Sending, e.err, dest, tag); err != nil || dest == ProcNull {
		return err
	}
	if err := c.sendBytes(dest, tag, b, mode, c.shape(e)); err != nil {
		return c.SendError(what, dest, tag, len(b), err)
	}
	return nil
}

// IsendAny is SendAny that only starts.
func (c *Comm) IsendAny(what string, e *Elem, b []byte, dest, tag int, mode comm.Mode) (Request, error) {
	if err := c.Bad(what, Sending, e.err, dest, tag); err != nil {
		return Request{}, err
	}
	if dest == ProcNull {
		return Request{c: c}, nil
	}
	r, err := c.isendBytes(dest, tag, b, mode, c.shape(e))
	if err != nil {
		return Request{}, c.SendError(what, dest, tag, len(b), err)
	}
	return Request{c: c, req: r}, nil
}
