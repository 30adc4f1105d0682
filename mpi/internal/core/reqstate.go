package core

import (
	"context"
	"fmt"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/reqkind"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// requestExt is state that few requests have, made on demand. Copies of a request share it.
type requestExt struct {
	watch      *contextWatch    // set by Done
	persistent *persistentState // persistent
	composite  compositeOp      // its operation is of NewCall, and this package ends it
}

// compositeOp is an operation that is not exactly one operation of the server: partitioned, generalized, of two. Its
// request is of NewCall.
type compositeOp interface {
	opKind() reqkind.Kind
	// outcome gives how the operation has ended; it is called once EndCall has been. With last nobody asks again.
	opOutcome(c *Comm, last bool) (Status, error)
	// cancel asks for the end.
	cancelOp(c *Comm) error
	// forget is called when the request is freed. The operation may be under way.
	forgetOp(c *Comm) error
}

// ends is the operation behind a request of NewCall; nil of another. r is not null.
func (r *Request) ends() compositeOp {
	if r.x == nil {
		return nil
	}
	return r.x.composite
}

// errFreed is of copies of a persistent request that has been freed.
var errFreed = fmt.Errorf("%w: it has been freed", sentinel.ErrRequest)

// persistentState is what a persistent request keeps, nil of another. r is not null.
func (r *Request) persistentState() *persistentState {
	if r.x == nil {
		return nil
	}
	return r.x.persistent
}

// Lasts reports whether r is persistent.
func (r *Request) Lasts() bool { return !r.Null() && r.persistentState() != nil }

// isIdle reports whether r counts as null in waits: it is null, or persistent and inactive.
func (r *Request) isIdle() bool {
	if r.c == nil {
		return true
	}
	k := r.persistentState()
	return k != nil && k.state == reqkind.Inactive
}

// Called reports whether the operation of r is more than one of the server: partitioned, generalized, or several.
func (r *Request) Called() bool { return !r.Null() && r.ends() != nil }

// Idle reports whether r counts as null in waits: it is null, or persistent and inactive.
func (r *Request) Idle() bool { return r.isIdle() }

// freed reports whether a copy of the persistent request r has been freed.
func (r *Request) freed() bool {
	k := r.persistentState()
	return k != nil && k.state == reqkind.Null
}

// op is the operation that r stands for now.
func (r *Request) op() comm.Req {
	if k := r.persistentState(); k != nil {
		return k.req
	}
	return r.req
}

// watched is what Done has made, nil if nothing.
func (r *Request) watched() *contextWatch {
	if r.x == nil {
		return nil
	}
	return r.x.watch
}

// endUse makes r null, or inactive if it is persistent.
func (r *Request) endUse() {
	if k := r.persistentState(); k != nil && k.state == reqkind.Active {
		k.state, k.req, r.x.watch = reqkind.Inactive, comm.Req{}, nil
		return
	}
	*r = Request{}
}

// opKind is the kind of the operation of r, which is neither null nor used up.
func (r *Request) opKind() reqkind.Kind {
	switch {
	case r.ends() != nil:
		return r.ends().opKind()
	case r.persistentState() != nil:
		return reqkind.Persistent
	case r.req.IsCall():
		return reqkind.Collective
	}
	return reqkind.PointToPoint
}

// state is what has become of r so far.
func (r *Request) state() reqkind.State {
	if r.Null() || r.op().Used() {
		return reqkind.Null
	}
	k := r.persistentState()
	switch {
	case k != nil && k.state != reqkind.Active:
		return k.state
	case r.op().Ready():
		return reqkind.Done
	}
	return reqkind.Active
}

// may tells why call must not be made with r, for the function what.
func (r *Request) may(what string, call reqkind.Call) error {
	state := r.state()
	if state == reqkind.Null {
		return fmt.Errorf("mpi: %s: %w: %v", what, sentinel.ErrRequest, state)
	}
	kind := r.opKind()
	if _, err := reqkind.Next(kind, state, call); err != nil {
		return r.c.commErrorf(what, ": %w: it is %v and %v", sentinel.ErrRequest, kind, state)
	}
	return nil
}

// Free makes r null. Its operation goes on, and nobody learns how it ends.
func (r *Request) Free() error {
	if err := r.may("Free", reqkind.Free); err != nil {
		return err
	}
	var err error
	r.c.Srv.PollInTurn()
	if e := r.ends(); e != nil {
		err = e.forgetOp(r.c)
	} else if w := r.watched(); w == nil || w.Err() != nil {
		r.c.Srv.Drop(r.op()) // what is not done is forgotten: the collector takes it when it has ended
	}
	if k := r.persistentState(); k != nil {
		k.state, k.req = reqkind.Null, comm.Req{}
		if k.comm != nil {
			err = k.comm.FreeLater()
		}
	}
	*r = Request{}
	return err
}

// GetStatus is Test that leaves r as it is.
func (r *Request) GetStatus() (Status, bool, error) {
	if !r.polled() {
		return Status{}, false, nil
	}
	if r == nil || r.isIdle() {
		return empty, true, nil
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

// Peek is GetStatus of a request that is done, without a poll.
func (r *Request) Peek() (Status, error) { return r.peek() }

// peek is result of a request that is done, which stays as it is.
func (r *Request) peek() (Status, error) {
	switch req := r.op(); {
	case r.freed():
		return Status{}, errFreed
	case req.Null():
		return r.atOnce(), nil
	case r.ends() != nil:
		return r.ends().opOutcome(r.c, false)
	}
	st, err := r.c.Srv.Peek(r.op())
	return r.c.status(st, AnySource), err
}

// atOnce is the status of an operation that was done when it was started.
func (r *Request) atOnce() Status {
	if r.op().Mark() == markNullRecv {
		return nullStatus
	}
	return empty
}
