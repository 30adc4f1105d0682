package mpi

import (
	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/core"
)

// SendInit makes a persistent request for a send of buf to dest with tag (3.9). Nothing is sent yet: each Start sends
// what buf then holds. The request is inactive: for a wait it counts as null. A wait that finds its operation done
// makes it inactive again, so that it can be started again. Copies of it are the same request. Starts allocate
// nothing. It is local, and does not block. Errors as for Send.
func SendInit[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	return sendInit(c, "SendInit", buf, dest, tag, comm.Standard)
}

// SsendInit is SendInit for synchronous sends (3.9); see Ssend.
func SsendInit[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	return sendInit(c, "SsendInit", buf, dest, tag, comm.Synchronous)
}

// RsendInit is SendInit for sends in ready mode (3.9); see Rsend.
func RsendInit[T any](c *Comm, buf []T, dest, tag int) (Request, error) {
	return sendInit(c, "RsendInit", buf, dest, tag, comm.Standard)
}

func sendInit[T any](c *Comm, what string, buf []T, dest, tag int, mode comm.Mode) (Request, error) {
	r, err := c.core().SendInit(what, elemOf[T](), bytesOf(buf), dest, tag, mode)
	return Request(r), err
}

// RecvInit makes a persistent request for a receive into buf from source with tag, both of which may be wildcards
// (3.9). See SendInit. Errors as for Recv; truncation shows when the request is waited for.
func RecvInit[T any](c *Comm, buf []T, source, tag int) (Request, error) {
	r, err := c.core().RecvInit("RecvInit", elemOf[T](), bytesOf(buf), source, tag)
	return Request(r), err
}

// Start starts the operation of a persistent request that is inactive (3.9, MPI_Start). Until it is done the buffer
// must not be touched, or not be changed if it is a send. It does not block. Errors: ErrRequest for a request that is
// not persistent, or that is active or freed; ErrComm for a communicator that has been freed; ErrFinalized, ErrAborted,
// and ErrCancelled on a view whose context has ended. After an error r is as before.
func (r *Request) Start() error { return r.core().Start("Start") }

// StartAll starts persistent requests in their order (3.9, MPI_Startall). It does not block. Errors as for
// Request.Start, of the first request that cannot be started: those before it have started, others have not.
func StartAll(rs []Request) error { return core.StartAll(cores(rs)) }
