package mpi

import "github.com/golci/golci/comm"

// hot reports whether a send or receive may take the direct path: its arguments are valid, and neither a view nor a
// wildcard nor the null process is among them. e is a nil *T for elements of type T. It must stay small enough for the
// compiler to inline it.
func (c *Comm) hot(peer, tag int, e any) bool {
	return c != nil && uint(peer) < uint(len(c.near)) && uint(tag) <= TagUB && !c.freed.Load() && known(e)
}

// Send sends buf to rank dest of c with tag, 0 to TagUB (3.2.1). It returns when buf may be reused. That is at once
// while the message is small and the receiver keeps up. Otherwise it waits, and may switch threads. dest may be
// ProcNull. Errors: ErrComm, ErrRank, ErrTag, ErrType, ErrFinalized, ErrAborted, ErrPeer.
func Send[T any](c *Comm, buf []T, dest, tag int) error {
	if !c.hot(dest, tag, any((*T)(nil))) {
		return c.sendAny("Send", elemOf[T](), bytesOf(buf), dest, tag, comm.Standard)
	}
	b := bytesOf(buf)
	if err := c.srv.Send(c.ctx, int(c.near[dest]), tag, b, comm.Standard); err != nil {
		return c.sendError("Send", dest, tag, len(b), err)
	}
	return nil
}

// Ssend is Send that returns only when a receive has been matched with the message (3.4). It waits for that, and may
// switch threads. Errors as for Send.
func Ssend[T any](c *Comm, buf []T, dest, tag int) error {
	return c.sendAny("Ssend", elemOf[T](), bytesOf(buf), dest, tag, comm.Synchronous)
}

// Isend starts a send and returns a request for it (3.7.2); buf must not be changed until the request is done. It
// does not block. Errors as for Send.
func Isend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	if !c.hot(dest, tag, any((*T)(nil))) {
		return c.isendAny("Isend", elemOf[T](), bytesOf(buf), dest, tag, comm.Standard)
	}
	b := bytesOf(buf)
	r, err := c.srv.Isend(c.ctx, int(c.near[dest]), tag, b, comm.Standard)
	if err != nil {
		return Request{}, c.sendError("Isend", dest, tag, len(b), err)
	}
	return Request{c: c, req: r}, nil
}

// Issend is Isend whose request is done when a receive has been matched with the message (3.7.2). It does not block.
// Errors as for Send.
func Issend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	return c.isendAny("Issend", elemOf[T](), bytesOf(buf), dest, tag, comm.Synchronous)
}

// sendAny sends in the cases that are not hot: to the null process, in a view, with a type that is new. Or it tells
// what is wrong.
func (c *Comm) sendAny(what string, e *elem, b []byte, dest, tag int, mode comm.Mode) error {
	if err := c.bad(what, sending, e.err, dest, tag); err != nil || dest == ProcNull {
		return err
	}
	if err := c.sendBytes(dest, tag, b, mode, c.shape(e)); err != nil {
		return c.sendError(what, dest, tag, len(b), err)
	}
	return nil
}

// isendAny is sendAny that only starts.
func (c *Comm) isendAny(what string, e *elem, b []byte, dest, tag int, mode comm.Mode) (Request, error) {
	if err := c.bad(what, sending, e.err, dest, tag); err != nil {
		return Request{}, err
	}
	if dest == ProcNull {
		return Request{c: c}, nil
	}
	r, err := c.isendBytes(dest, tag, b, mode, c.shape(e))
	if err != nil {
		return Request{}, c.sendError(what, dest, tag, len(b), err)
	}
	return Request{c: c, req: r}, nil
}
