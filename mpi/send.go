package mpi

import (
	"context"

	"github.com/golci/golci/comm"
)

// Send sends buf to rank dest of c with tag, 0 to TagUB (3.2.1). It returns when buf may be reused. That is at once
// while the message is small and the receiver keeps up. Otherwise it waits, and may switch threads. dest may be
// ProcNull. Errors: ErrComm, ErrRank, ErrTag, ErrType, ErrFinalized, ErrAborted, ErrPeer.
func Send[T any](c *Comm, buf []T, dest, tag int) error {
	k := c.core()
	if !k.Hot(dest, tag, any((*T)(nil))) {
		return k.SendAny("Send", elemOf[T](), bytesOf(buf), dest, tag, comm.Standard)
	}
	b := bytesOf(buf)
	if err := k.HotSend(b, dest, tag); err != nil {
		return k.SendError("Send", dest, tag, len(b), err)
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
	k := c.core()
	if !k.Hot(dest, tag, any((*T)(nil))) {
		r, err := k.IsendAny("Isend", elemOf[T](), bytesOf(buf), dest, tag, comm.Standard)
		return Request(r), err
	}
	b := bytesOf(buf)
	r, err := k.HotIsend(b, dest, tag)
	if err != nil {
		return Request{}, k.SendError("Isend", dest, tag, len(b), err)
	}
	return Request(k.Started(r)), nil
}

// Issend is Isend whose request is done when a receive has been matched with the message (3.7.2). It does not block.
// Errors as for Send.
func Issend[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	r, err := c.core().IsendAny("Issend", elemOf[T](), bytesOf(buf), dest, tag, comm.Synchronous)
	return Request(r), err
}

// SendContext is Send on c.WithContext(ctx), which tells what becomes of the message when ctx ends first.
func SendContext[T any](ctx context.Context, c *Comm, buf []T, dest, tag int) error {
	k := c.core().WithContext(ctx)
	return k.SendAny("SendContext", elemOf[T](), bytesOf(buf), dest, tag, comm.Standard)
}
