package mpi

import (
	"context"
	"errors"
)

// Recv receives into buf a message from rank source of c, or AnySource, with tag, or AnyTag (3.2.4). It waits for the
// message, and may switch threads. A message longer than buf gives ErrTruncate, and buf then holds its beginning.
// From ProcNull it returns at once, with Source ProcNull. Errors: ErrComm, ErrRank, ErrTag, ErrType, ErrTruncate,
// ErrFinalized, ErrAborted, ErrPeer; ErrFailedPending with AnySource after a death that is not acknowledged.
func Recv[T any](c *Comm, buf []T, source, tag int) (Status, error) {
	if !c.direct(source, tag, any((*T)(nil))) {
		return status(c.core().RecvAny("Recv", elemOf[T](), bytesOf(buf), source, tag))
	}
	b := bytesOf(buf)
	h := c.hot()
	st, err := h.Srv.Recv(h.Ctx, int(h.Near[source]), tag, b, nil)
	if err != nil {
		err = c.core().RecvError("Recv", source, tag, len(b), err)
	}
	return Status{Source: source, Tag: st.Tag, bytes: st.Bytes}, err
}

// Irecv starts a receive into buf and returns a request for it (3.7.2); buf must not be touched until the request is
// done. It does not block. Errors as for Recv; truncation shows when the request is waited for.
func Irecv[T any](c *Comm, buf []T, source, tag int) (Request, error) {
	if !c.direct(source, tag, any((*T)(nil))) {
		r, err := c.core().IrecvAny("Irecv", elemOf[T](), bytesOf(buf), source, tag)
		return Request(r), err
	}
	b := bytesOf(buf)
	h := c.hot()
	r, err := h.Srv.Irecv(h.Ctx, int(h.Near[source]), tag, b, nil)
	if err != nil {
		return Request{}, c.core().RecvError("Irecv", source, tag, len(b), err)
	}
	return Request(c.core().Started(r)), nil
}

// Sendrecv sends sbuf to dest with stag and, at the same time, receives into rbuf from source with rtag (3.10). So
// ranks that exchange messages cannot wait for each other in a circle. The buffers must not overlap. It waits, and
// may switch threads. Errors as for Send and Recv, and ErrBuffer.
func Sendrecv[S, R any](c *Comm, sbuf []S, dest, stag int, rbuf []R, source, rtag int) (Status, error) {
	return status(c.core().Sendrecv(
		"Sendrecv", elemOf[S](), bytesOf(sbuf), dest, stag, elemOf[R](), bytesOf(rbuf), source, rtag))
}

// SendrecvReplace is Sendrecv in one buffer: buf is sent, and what comes takes its place (3.10). What is sent is copied
// first, into memory that it allocates. After an error buf may hold a part of what came. It waits, and may switch
// threads. Errors as for Send and Recv.
func SendrecvReplace[T any](c *Comm, buf []T, dest, stag, source, rtag int) (Status, error) {
	return status(c.core().SendrecvReplace(elemOf[T](), bytesOf(buf), dest, stag, source, rtag))
}

// Isendrecv is Sendrecv that only starts (3.10). The request is done when both messages are: the status is that of the
// receive. Until then rbuf must not be touched, and sbuf not be changed. Cancel is for both. It does not block. Errors
// as for Sendrecv.
func Isendrecv[S, R any](c *Comm, sbuf []S, dest, stag int, rbuf []R, source, rtag int) (Request, error) {
	r, err := c.core().Isendrecv(
		"Isendrecv", elemOf[S](), bytesOf(sbuf), dest, stag, elemOf[R](), bytesOf(rbuf), source, rtag)
	return Request(r), err
}

// IsendrecvReplace is SendrecvReplace that only starts (3.10); see Isendrecv.
func IsendrecvReplace[T any](c *Comm, buf []T, dest, stag, source, rtag int) (Request, error) {
	r, err := c.core().IsendrecvReplace("IsendrecvReplace", elemOf[T](), bytesOf(buf), dest, stag, source, rtag)
	return Request(r), err
}

// RecvAlloc is Recv of a message of any length, into memory that is allocated when the message has been matched. It
// waits as Recv does. Errors as for Recv, without ErrTruncate; ErrCount if the length is not a whole number of
// elements: the whole elements are returned all the same; ErrMemory for a message of more bytes than this process may
// have, which is dropped. Up to there the sender says how much is allocated: where that is too much, use Probe and
// Recv.
func RecvAlloc[T any](c *Comm, source, tag int) ([]T, Status, error) {
	return recvAlloc[T](c, "RecvAlloc", source, tag)
}

// recvAlloc is RecvAlloc for the function what, which errors name.
func recvAlloc[T any](c *Comm, what string, source, tag int) ([]T, Status, error) {
	var buf []T
	size := sizeOf[T]()
	st, err := c.core().RecvAlloc(what, elemOf[T](), size, source, tag, func(n int) []byte {
		if size == 0 {
			return nil
		}
		buf = make([]T, (n+size-1)/size)
		return bytesOf(buf)[:n]
	})
	switch {
	case errors.Is(err, ErrCount):
		buf = buf[:st.Bytes/int64(size)]
	case err != nil:
		buf = nil
	}
	return buf, face(st), err
}

// RecvContext is Recv on c.WithContext(ctx), which tells what becomes of the message when ctx ends first.
func RecvContext[T any](ctx context.Context, c *Comm, buf []T, source, tag int) (Status, error) {
	k := c.core().WithContext(ctx)
	return status(k.RecvAny("RecvContext", elemOf[T](), bytesOf(buf), source, tag))
}
