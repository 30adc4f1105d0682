package core

import (
	"context"
	"fmt"

	"github.com/golci/golci/internal/mpi/pure/reqkind"
)

// kind is the kind of the operation of r, which is neither null nor used up.
func (r *Request) kind() reqkind.Kind {
	if r.req.IsCall() {
		return reqkind.Collective
	}
	return reqkind.PointToPoint
}

// state is what has become of r so far.
func (r *Request) state() reqkind.State {
	switch {
	case r.Null() || r.req.Used():
		return reqkind.Null
	case r.req.Ready():
		return reqkind.Done
	}
	return reqkind.Active
}

// may tells why call must not be made with r, for the function what.
func (r *Request) may(what string, call reqkind.Call) error {
	state := r.state()
	if state == reqkind.Null {
		return fmt.Errorf("mpi: %s: %w: %v", what, ErrRequest, state)
	}
	kind := r.kind()
	if _, err := reqkind.Next(kind, state, call); err != nil {
		return r.c.errorf(what, ": %w: it is %v and %v", ErrRequest, kind, state)
	}
	return nil
}

// Free makes r null. Its operation goes on, and nobody learns how it ends.
func (r *Request) Free() error {
	if err := r.may("Free", reqkind.Free); err != nil {
		return err
	}
	if r.watch == nil || r.watch.Err() != nil {
		r.c.Srv.Drop(r.req) // what is not done is forgotten: the collector takes it when it has ended
	}
	*r = Request{}
	return nil
}

// GetStatus is Test that leaves r as it is.
func (r *Request) GetStatus() (Status, bool, error) {
	if r.Null() {
		return empty, true, nil
	}
	if !r.settled() {
		if r.c.Srv.Poll(); !r.settled() {
			return Status{}, false, nil
		}
	}
	st, err := r.peek()
	if err != nil {
		err = r.c.opError("GetStatus", err)
	}
	if u := r.c.until; st.Cancelled && u != nil && u.Err() != nil {
		err = fmt.Errorf("%w: %w", err, context.Cause(u))
	}
	return st, true, err
}

// peek is result of a request that is done, which stays as it is.
func (r *Request) peek() (Status, error) {
	if r.req.Null() {
		return r.atOnce(), nil
	}
	st, err := r.c.Srv.Peek(r.req)
	return r.c.status(st, AnySource), err
}

// atOnce is the status of an operation that was done when it was started.
func (r *Request) atOnce() Status {
	if r.req.Mark() == markNullRecv {
		return nullStatus
	}
	return empty
}
