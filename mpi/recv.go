package mpi

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/comm"
)

// Recv receives into buf a message from rank source of c, or AnySource, with tag, or AnyTag (3.2.4). It waits for the
// message, and may switch threads. A message longer than buf gives ErrTruncate, and buf then holds its beginning.
// From ProcNull it returns at once, with Source ProcNull. Errors: ErrComm, ErrRank, ErrTag, ErrType, ErrTruncate,
// ErrFinalized, ErrAborted, ErrPeer.
func Recv[T any](c *Comm, buf []T, source, tag int) (Status, error) {
	if !c.hot(source, tag, any((*T)(nil))) {
		return c.recvAny("Recv", elemOf[T](), bytesOf(buf), source, tag)
	}
	b := bytesOf(buf)
	st, err := c.srv.Recv(c.ctx, int(c.near[source]), tag, b)
	if err != nil {
		err = c.recvError("Recv", source, tag, len(b), err)
	}
	return Status{Source: source, Tag: st.Tag, bytes: st.Bytes}, err
}

// recvAny receives in the cases that are not hot: with wildcards, from the null process, in a view, with a type that is
// new. Or it tells what is wrong.
func (c *Comm) recvAny(what string, e *elem, b []byte, source, tag int) (Status, error) {
	if err := c.bad(what, receiving, e.err, source, tag); err != nil {
		return Status{}, err
	}
	if source == ProcNull {
		return nullStatus, nil
	}
	st, err := c.recvBytes(source, tag, b, c.shape(e))
	if err != nil {
		err = c.recvError(what, source, tag, len(b), err)
	}
	return c.status(st, source), err
}

// world translates a rank that has been checked, or AnySource, for the server.
func (c *Comm) world(rank int) int {
	if rank < 0 {
		return rank
	}
	return int(c.group[rank])
}

// Irecv starts a receive into buf and returns a request for it (3.7.2); buf must not be touched until the request is
// done. It does not block. Errors as for Recv; truncation shows when the request is waited for.
func Irecv[T any](c *Comm, buf []T, source, tag int) (Request, error) {
	if !c.hot(source, tag, any((*T)(nil))) {
		return c.irecvAny("Irecv", elemOf[T](), bytesOf(buf), source, tag)
	}
	b := bytesOf(buf)
	r, err := c.srv.Irecv(c.ctx, int(c.near[source]), tag, b)
	if err != nil {
		return Request{}, c.recvError("Irecv", source, tag, len(b), err)
	}
	return Request{c: c, req: r}, nil
}

func (c *Comm) irecvAny(what string, e *elem, b []byte, source, tag int) (Request, error) {
	if err := c.bad(what, receiving, e.err, source, tag); err != nil {
		return Request{}, err
	}
	if source == ProcNull {
		return Request{c: c, req: comm.DoneReq(markNullRecv)}, nil
	}
	r, err := c.irecvBytes(source, tag, b, c.shape(e))
	if err != nil {
		return Request{}, c.recvError(what, source, tag, len(b), err)
	}
	return Request{c: c, req: r}, nil
}

// Sendrecv sends sbuf to dest with stag and, at the same time, receives into rbuf from source with rtag (3.10). So
// ranks that exchange messages cannot wait for each other in a circle. The buffers must not overlap. It waits, and
// may switch threads. Errors as for Send and Recv, and ErrBuffer.
func Sendrecv[S, R any](c *Comm, sbuf []S, dest, stag int, rbuf []R, source, rtag int) (Status, error) {
	e, out := elemOf[S](), bytesOf(sbuf)
	if err := c.bad("Sendrecv", sending, e.err, dest, stag); err != nil {
		return Status{}, err
	}
	if overlap(out, bytesOf(rbuf)) {
		return Status{}, c.errorf("Sendrecv", ": %w: the buffers overlap", ErrBuffer)
	}
	r, err := c.irecvAny("Sendrecv", elemOf[R](), bytesOf(rbuf), source, rtag)
	if err != nil {
		return Status{}, err
	}
	if dest != ProcNull {
		err = c.sendBytes(dest, stag, out, comm.Standard, c.shape(e))
	}
	if err != nil {
		_ = r.Cancel() // of a request that is not null: it cannot fail
		_, _ = r.Wait()
		return Status{}, c.sendError("Sendrecv", dest, stag, len(out), err) // which is the cause
	}
	return r.wait("Sendrecv")
}

// overlap reports whether two runs of memory share a byte.
func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
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
	e := elemOf[T]()
	if err := c.bad(what, receiving, e.err, source, tag); err != nil {
		return nil, Status{}, err
	}
	if source == ProcNull {
		return nil, nullStatus, nil
	}
	var buf []T
	size := sizeOf[T]()
	st, err := c.recvAllocBytes(source, tag, c.shape(e), func(n int) []byte {
		if size == 0 {
			return nil
		}
		buf = make([]T, (n+size-1)/size)
		return bytesOf(buf)[:n]
	})
	s := c.status(st, source)
	if err != nil {
		return nil, s, c.recvError(what, source, tag, int(st.Bytes), err)
	}
	if size > 0 && s.bytes%int64(size) != 0 {
		n := s.bytes / int64(size)
		return buf[:n], s, c.recvError(what, s.Source, s.Tag, int(s.bytes), countError(s.bytes, size))
	}
	return buf, s, nil
}

func countError(n int64, size int) error {
	return fmt.Errorf("%w: %d bytes are no whole number of elements of %d", ErrCount, n, size)
}
