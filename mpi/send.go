package mpi

import "github.com/golci/golci/comm"

// Send sends buf to rank dest of c with tag, 0 to TagUB (3.2.1). It returns when buf may be reused: at once while the message
// is small and the receiver keeps up, else it waits, and may switch threads. dest may be ProcNull. Errors: ErrComm, ErrRank,
// ErrTag, ErrType, ErrFinalized, ErrAborted, ErrPeer.
func Send[T any](c *Comm, buf []T, dest, tag int) error {
	if c == nil || uint(dest) >= uint(len(c.group)) || uint(tag) > TagUB || c.freed.Load() || !known(any((*T)(nil))) && typeError[T]() != nil {
		return c.badSend("Send", typeError[T](), dest, tag)
	}
	b := bytesOf(buf)
	if err := c.srv.Send(c.ctx, int(c.group[dest]), tag, b, comm.Standard); err != nil {
		return c.sendError("Send", dest, tag, len(b), err)
	}
	return nil
}

// Ssend is Send that returns only when a receive has been matched with the message (3.4). It waits for that.
func Ssend[T any](c *Comm, buf []T, dest, tag int) error {
	if c == nil || uint(dest) >= uint(len(c.group)) || uint(tag) > TagUB || c.freed.Load() || !known(any((*T)(nil))) && typeError[T]() != nil {
		return c.badSend("Ssend", typeError[T](), dest, tag)
	}
	b := bytesOf(buf)
	if err := c.srv.Send(c.ctx, int(c.group[dest]), tag, b, comm.Synchronous); err != nil {
		return c.sendError("Ssend", dest, tag, len(b), err)
	}
	return nil
}

// Isend starts a send and returns a request for it (3.7.2); buf must not be changed until the request is done. It does not
// block. Errors as for Send.
func Isend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	if c == nil || uint(dest) >= uint(len(c.group)) || uint(tag) > TagUB || c.freed.Load() || !known(any((*T)(nil))) && typeError[T]() != nil {
		return c.noSend("Isend", typeError[T](), dest, tag)
	}
	b := bytesOf(buf)
	r, err := c.srv.Isend(c.ctx, int(c.group[dest]), tag, b, comm.Standard)
	if err != nil {
		return Request{}, c.sendError("Isend", dest, tag, len(b), err)
	}
	return Request{c: c, req: r}, nil
}

// Issend is Isend whose request is done when a receive has been matched with the message.
func Issend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	if c == nil || uint(dest) >= uint(len(c.group)) || uint(tag) > TagUB || c.freed.Load() || !known(any((*T)(nil))) && typeError[T]() != nil {
		return c.noSend("Issend", typeError[T](), dest, tag)
	}
	b := bytesOf(buf)
	r, err := c.srv.Isend(c.ctx, int(c.group[dest]), tag, b, comm.Synchronous)
	if err != nil {
		return Request{}, c.sendError("Issend", dest, tag, len(b), err)
	}
	return Request{c: c, req: r}, nil
}

// noSend is the request of a send that does not take place: done, for the null process, or none.
func (c *Comm) noSend(what string, typ error, dest, tag int) (Request, error) {
	if err := c.badSend(what, typ, dest, tag); err != nil {
		return Request{}, err
	}
	return Request{c: c}, nil
}
