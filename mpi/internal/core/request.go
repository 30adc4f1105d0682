package core

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/reqkind"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Request stands for a started operation. The zero Request is null.
type Request struct {
	c   *Comm // nil: null
	req comm.Req
	x   *requestExt // nil for most
} // four words: more of them would be copied through memory

// markNullRecv marks the request of a receive from the null process, which was done when it was started.
const markNullRecv = 1

// Null reports whether r stands for nothing.
func (r *Request) Null() bool { return r == nil || r.c == nil }

// Wait blocks until r is done and makes it null, for the function what, which errors name. A persistent request becomes
// inactive, and one that is inactive counts as null.
func (r *Request) Wait(what string) (Status, error) {
	if r == nil || r.isIdle() {
		r.pollInTurn()
		return empty, nil
	}
	c := r.c
	st, err := r.result()
	if err != nil {
		err = c.opError(what, err)
	}
	return st, err
}

// waitAt is Wait for request i of several, and until ctx ends.
func (r *Request) waitAt(ctx context.Context, what string, i int) (Status, error) {
	if r.isIdle() {
		r.pollInTurn()
		return empty, nil
	}
	c := r.c
	st, err := r.waitContext(ctx)
	if err != nil {
		err = c.opError(fmt.Sprintf("%s, request %d", what, i), err)
	}
	return st, err
}

// result waits and gives what the server says. r is not idle.
func (r *Request) result() (Status, error) {
	c, req := r.c, r.op()
	if w := r.watched(); w != nil {
		if err := c.Srv.AwaitAny(nil, w); err != nil {
			return Status{}, err
		}
	}
	if r.freed() {
		return Status{}, errFreed
	}
	if req.Null() {
		st := r.atOnce()
		r.endUse()
		return st, nil
	}
	if e := r.ends(); e != nil {
		c.Srv.PollInTurn()
		_, err := c.waitReq(req)
		r.endUse() // not before: others may end the operation by r
		if err != nil {
			return Status{}, err
		}
		return e.opOutcome(c, true)
	}
	was := *r
	r.endUse()
	st, err := c.waitReq(req)
	if err != nil && errors.Is(err, sentinel.ErrFailedPending) {
		r.stays(was, req)
	}
	return c.status(st, AnySource), err
}

// stays has r be as it was before its wait gave an error: its operation has not ended.
func (r *Request) stays(was Request, req comm.Req) {
	if k := was.persistentState(); k != nil {
		k.state, k.req = reqkind.Active, req
		return
	}
	*r = was
}

// late reports whether the context of the request's communicator has ended, so that a wait ends it if that can be done.
func (r *Request) late() bool { return r.c.until != nil && r.c.until.Err() != nil }

// endLate ends r if the context of its communicator has ended, and reports whether it is done by that. A receive
// whose bytes are still to come does not end. It does not block.
func (r *Request) endLate() bool { return r.late() && r.c.Srv.End(r.op()) }

// dropDone ends r if it is done without an error, with the fewest steps; false if Wait must. d is kept for the next
// request.
func (r *Request) dropDone(d *comm.Dropper) bool {
	if r.c == nil || r.x != nil {
		return false
	}
	if !r.req.Null() {
		if !d.Of(r.c.Srv) {
			*d = r.c.Srv.Dropper()
		}
		if !d.Drop(r.req) {
			return false
		}
	}
	*r = Request{}
	return true
}

// Test polls once and reports whether r is done; if so r becomes null.
func (r *Request) Test() (Status, bool, error) {
	if !r.polled() {
		return Status{}, false, nil
	}
	st, err := r.Wait("Test")
	return st, true, err
}

// polled makes the progress of one test, and reports whether r is done or counts as null.
func (r *Request) polled() bool {
	if r == nil || r.isIdle() || r.settled() {
		r.pollInTurn()
		return true
	}
	r.c.Srv.Poll()
	return r.settled()
}

// pollInTurn is for calls that find r done. A null request is of no rank, and nothing is polled for it.
func (r *Request) pollInTurn() {
	if r != nil && r.c != nil {
		r.c.Srv.PollInTurn()
	}
}

// Cancel asks for the operation to end before it is matched.
func (r *Request) Cancel() error {
	if err := r.may("Cancel", reqkind.Cancel); err != nil {
		return err
	}
	r.c.Srv.PollInTurn()
	if e := r.ends(); e != nil {
		return e.cancelOp(r.c)
	}
	r.c.Srv.Cancel(r.op())
	return nil
}

// settled reports whether r is done, without using it up. r is not idle.
func (r *Request) settled() bool {
	if !r.op().Ready() && !r.endLate() {
		return false
	}
	w := r.watched()
	return w == nil || w.Err() != nil
}

// Ready tells whether the operation of r is done, without a poll.
func (r *Request) Ready() bool { return r.op().Ready() }

// State is the word in which that shows, and what it holds then, as long as r is not ended. It is nil for requests that
// need more than one operation, or were done when they were started.
func (r *Request) State() (word *atomic.Uint32, done uint32) {
	if r.c == nil || r.x != nil || r.c.until != nil {
		return nil, 0
	}
	return r.req.State()
}
