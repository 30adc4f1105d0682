package mpi

import (
	"context"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
)

// Request stands for a started operation (3.7). The zero Request is null: waiting for it returns at once. A call that
// finds the request done makes it null, or inactive if it is persistent: see SendInit. A Request must not be waited
// for by two at a time; a copy of one that has been waited for gives ErrRequest.
type Request core.Request

// core is r as the layer below knows it. The two are one object.
func (r *Request) core() *core.Request { return (*core.Request)(r) }

// cores is rs as the layer below knows it.
func cores(rs []Request) []core.Request {
	return unsafe.Slice((*core.Request)(unsafe.SliceData(rs)), len(rs))
}

// below is st, which has the same layout there, as the layer below knows it.
func below(st []Status) []core.Status {
	return unsafe.Slice((*core.Status)(unsafe.Pointer(unsafe.SliceData(st))), len(st))
}

// Null reports whether r stands for nothing.
func (r *Request) Null() bool { return r.core().Null() }

// Wait blocks until r is done and makes it null (3.7.3). It may switch threads. The errors are those of the
// operation, and ErrRequest.
func (r *Request) Wait() (Status, error) { return status(r.core().Wait("Wait")) }

// Test polls once and reports whether r is done; if so r becomes null (3.7.3). It does not block.
func (r *Request) Test() (Status, bool, error) {
	st, ok, err := r.core().Test()
	return face(st), ok, err
}

// Cancel asks for the operation to end before it is matched (3.8.4); it does not block. The request must still be
// waited for: ErrCancelled and Status.Cancelled tell that it was cancelled, anything else that it took place. Of an
// operation that is done it has no effect. Error: ErrRequest for a request that is null or has been waited for, and of
// a collective.
func (r *Request) Cancel() error { return r.core().Cancel() }

// Free makes r null (3.7.3, MPI_Request_free). Its operation goes on: a message is still sent or received, but nobody
// learns when, or whether it failed. The buffer stays in use until then. The context of a view does not end the
// operation any more. It does not block. Error: ErrRequest for a request that is null or has been waited for, and of a
// collective, which other ranks rely on.
func (r *Request) Free() error { return r.core().Free() }

// GetStatus polls once and reports whether r is done, with the status and the error that a wait will give (3.7.6,
// MPI_Request_get_status). It is Test that leaves r as it is. Of a null request it is true, with an empty status. It
// does not block.
func (r *Request) GetStatus() (Status, bool, error) {
	st, ok, err := r.core().GetStatus()
	return face(st), ok, err
}

// Done returns a channel that is closed when r is done, for use in a select; Wait then returns at once. The first
// call starts a goroutine, which ends with the operation. It does not block. Copies of r made before must not be used
// any more.
func (r *Request) Done() <-chan struct{} { return r.core().Done() }

// WaitContext is Wait that ends the operation when ctx ends, and returns in time. If the operation has ended by that,
// the error is ErrCancelled and the cause of ctx, and r becomes null. What was not matched always ends. So does what
// a view has started, but for long receives under way (see WithContext), which are waited for. Another operation that
// is on its way to its peer stays. The error is then ErrPending with the cause of ctx. r is as before: its buffer
// must not be used, and it must be waited for again. Other errors are those of the operation, and ErrArgument for a
// nil ctx. It may switch threads.
func (r *Request) WaitContext(ctx context.Context) (Status, error) {
	return status(r.core().WaitContext(core.OrNone(ctx)))
}

// Wait is r.Wait.
func Wait(r *Request) (Status, error) { return r.Wait() }

// Test is r.Test.
func Test(r *Request) (Status, bool, error) { return r.Test() }
