package mpi

import (
	"context"
	"fmt"

	"github.com/golci/golci/comm"
)

// Request stands for a started operation (3.7). The zero Request is null: waiting for it returns at once. A call that
// finds the request done makes it null. A Request must not be waited for by two at a time; a copy of one that has
// been waited for gives ErrRequest.
type Request struct {
	c     *Comm // nil: null
	req   comm.Req
	watch *watch // set by Done
} // four words: more of them would be copied through memory

// markNullRecv marks the request of a receive from the null process, which was done when it was started.
const markNullRecv = 1

// Null reports whether r stands for nothing.
func (r *Request) Null() bool { return r == nil || r.c == nil }

// Wait blocks until r is done and makes it null (3.7.3). It may switch threads. The errors are those of the
// operation, and ErrRequest.
func (r *Request) Wait() (Status, error) { return r.wait("Wait") }

// wait is Wait for the function what, which errors name.
func (r *Request) wait(what string) (Status, error) {
	if r == nil || r.c == nil {
		return empty, nil
	}
	c := r.c
	st, err := r.result()
	if err != nil {
		err = c.opError(what, err)
	}
	return st, err
}

// waitAt is wait for request i of several, and until ctx ends.
func (r *Request) waitAt(ctx context.Context, what string, i int) (Status, error) {
	if r.c == nil {
		return empty, nil
	}
	c := r.c
	st, err := r.waitContext(ctx)
	if err != nil {
		err = c.opError(fmt.Sprintf("%s, request %d", what, i), err)
	}
	return st, err
}

// result waits and gives what the server says. r is not null.
func (r *Request) result() (Status, error) {
	c, req := r.c, r.req
	if r.watch != nil {
		if err := c.srv.AwaitAnyContext(nil, r.watch); err != nil {
			return Status{}, err
		}
	}
	*r = Request{}
	if !req.Null() {
		st, err := c.wait(req)
		return c.status(st, AnySource), err
	}
	if req.Mark() == markNullRecv {
		return nullStatus, nil
	}
	return empty, nil
}

// late reports whether the context of the request's communicator has ended, so that a wait ends it if that can be done.
func (r *Request) late() bool { return r.c.until != nil && r.c.until.Err() != nil }

// endLate ends r if the context of its communicator has ended, and reports whether it is done by that. A receive
// whose bytes are still to come does not end. It does not block.
func (r *Request) endLate() bool { return r.late() && r.c.srv.End(r.req) }

// drop ends r if it is done without an error, with the fewest steps; false if Wait must.
func (r *Request) drop() bool {
	if r.c == nil || r.watch != nil || !r.req.Null() && !r.c.srv.Drop(r.req) {
		return false
	}
	*r = Request{}
	return true
}

// Test polls once and reports whether r is done; if so r becomes null (3.7.3). It does not block.
func (r *Request) Test() (Status, bool, error) {
	if !r.Null() && !r.settled() {
		if r.c.srv.Poll(); !r.settled() {
			return Status{}, false, nil
		}
	}
	st, err := r.wait("Test")
	return st, true, err
}

// Cancel asks for the operation to end before it is matched (3.8.4); it does not block. The request must still be
// waited for: ErrCancelled and Status.Cancelled tell that it was cancelled, anything else that it took place. Error:
// ErrRequest for a null request.
func (r *Request) Cancel() error {
	if r == nil || r.c == nil {
		return fmt.Errorf("mpi: Cancel: %w: null", ErrRequest)
	}
	if !r.req.Null() {
		r.c.srv.Cancel(r.req)
	}
	return nil
}

// settled reports whether r is done, without using it up. r is not null.
func (r *Request) settled() bool {
	return (r.req.Ready() || r.endLate()) && (r.watch == nil || r.watch.Err() != nil)
}

// Wait is r.Wait.
func Wait(r *Request) (Status, error) { return r.Wait() }

// Test is r.Test.
func Test(r *Request) (Status, bool, error) { return r.Test() }
