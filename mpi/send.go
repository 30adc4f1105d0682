package mpi

import (
	"context"
	"unsafe"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/core"
)

// hot is what the direct path needs of c. It lies at the beginning of the communicator.
func (c *Comm) hot() *core.Hot { return (*core.Hot)(unsafe.Pointer(c)) }

// direct reports whether a send or receive may take the direct path: its arguments are valid, and neither a view nor a
// wildcard nor the null process is among them. e is a nil *T for elements of type T. It must stay small enough for the
// compiler to inline it.
func (c *Comm) direct(peer, tag int, e any) bool {
	if c == nil {
		return false
	}
	h := c.hot()
	return uint(peer) < uint(len(h.Near)) && uint(tag) <= TagUB && !h.Freed.Load() && known(e)
}

// Send sends buf to rank dest of c with tag, 0 to TagUB (3.2.1). It returns when buf may be reused. That is at once
// while the message is small and the receiver keeps up. Otherwise it waits, and may switch threads. dest may be
// ProcNull. Errors: ErrComm, ErrRank, ErrTag, ErrType, ErrFinalized, ErrAborted, ErrPeer.
func Send[T any](c *Comm, buf []T, dest, tag int) error {
	if !c.direct(dest, tag, any((*T)(nil))) {
		return c.core().SendAny("Send", elemOf[T](), bytesOf(buf), dest, tag, comm.Standard)
	}
	b := bytesOf(buf)
	h := c.hot()
	if err := h.Srv.Send(h.Ctx, int(h.Near[dest]), tag, b, nil); err != nil {
		return c.core().SendError("Send", dest, tag, len(b), err)
	}
	return nil
}

// Ssend is Send that returns only when a receive has been matched with the message (3.4). It waits for that, and may
// switch threads. Errors as for Send.
func Ssend[T any](c *Comm, buf []T, dest, tag int) error {
	return c.core().SendAny("Ssend", elemOf[T](), bytesOf(buf), dest, tag, comm.Synchronous)
}

// Isend starts a send and returns a request for it (3.7.2); buf must not be changed until the request is done. It
// does not block. Errors as for Send.
func Isend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	if !c.direct(dest, tag, any((*T)(nil))) {
		r, err := c.core().IsendAny("Isend", elemOf[T](), bytesOf(buf), dest, tag, comm.Standard)
		return Request(r), err
	}
	b := bytesOf(buf)
	h := c.hot()
	r, err := h.Srv.Isend(h.Ctx, int(h.Near[dest]), tag, b, nil)
	if err != nil {
		return Request{}, c.core().SendError("Isend", dest, tag, len(b), err)
	}
	return Request(c.core().Started(r)), nil
}

// Issend is Isend whose request is done when a receive has been matched with the message (3.7.2). It does not block.
// Errors as for Send.
func Issend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	r, err := c.core().IsendAny("Issend", elemOf[T](), bytesOf(buf), dest, tag, comm.Synchronous)
	return Request(r), err
}

// Rsend is Send for a receive that has been posted already (3.4, ready mode). That is a promise of the caller. Nothing
// is gained by it, and a message without a receive is kept like any other. Errors as for Send.
func Rsend[T any](c *Comm, buf []T, dest, tag int) error {
	return c.core().SendAny("Rsend", elemOf[T](), bytesOf(buf), dest, tag, comm.Standard)
}

// Irsend is Isend for a receive that has been posted already (3.7.2); see Rsend. It does not block. Errors as for
// Send.
func Irsend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	r, err := c.core().IsendAny("Irsend", elemOf[T](), bytesOf(buf), dest, tag, comm.Standard)
	return Request(r), err
}

// SendContext is Send on c.WithContext(ctx), which tells what becomes of the message when ctx ends first.
func SendContext[T any](ctx context.Context, c *Comm, buf []T, dest, tag int) error {
	k := c.core().WithContext(ctx)
	return k.SendAny("SendContext", elemOf[T](), bytesOf(buf), dest, tag, comm.Standard)
}
