package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// contextWatch is a context that ends with the operation of a request. A goroutine of its own waits for the operation,
// so that others can wait for the context.
type contextWatch struct{ context.Context }

// ended is a context that has ended: for requests that are done.
var ended = func() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}()

// Done returns a channel that is closed when r is done.
func (r *Request) Done() <-chan struct{} {
	if r == nil || r.isIdle() || r.op().Null() {
		return ended.Done()
	}
	if r.x == nil {
		r.x = new(requestExt)
	}
	if r.x.watch == nil {
		ctx, end := context.WithCancel(context.Background())
		r.x.watch = &contextWatch{ctx}
		c, req := r.c, r.op()
		go func() {
			defer end()
			_ = c.awaitAll([]comm.Req{req}) // an error shows in Wait
			if !c.Srv.End(req) {            // the context of a view has ended, and the bytes are still to come
				_ = c.Srv.AwaitAll([]comm.Req{req})
			}
		}()
	}
	return r.x.watch.Done()
}

// WaitContext is Wait that ends the operation when ctx ends.
func (r *Request) WaitContext(ctx context.Context) (Status, error) {
	if r == nil || r.isIdle() {
		return empty, nil
	}
	c := r.c
	st, err := r.waitContext(ctx)
	if err != nil {
		err = c.opError("WaitContext", err)
	}
	return st, err
}

// waitContext is WaitContext of a request that is not idle, with a bare error.
func (r *Request) waitContext(ctx context.Context) (Status, error) {
	if ctx == noContext {
		return Status{}, context.Cause(ctx)
	}
	if r.op().Null() || ctx.Done() == nil || r.late() {
		return r.result()
	}
	c, e := r.c, r.ends()
	if w := r.watched(); w != nil {
		if err := c.Srv.AwaitAny(nil, w, ctx); err != nil {
			return Status{}, err
		}
		if w.Err() == nil && c.Srv.End(r.op()) {
			_ = c.Srv.AwaitAny(nil, w) // which ends now
		}
		if w.Err() == nil {
			return Status{}, fmt.Errorf("%w: %w", sentinel.ErrPending, context.Cause(ctx))
		}
	}
	st, err := c.Srv.WaitContext(r.op(), c.contexts(ctx)...)
	if !errors.Is(err, sentinel.ErrPending) && !errors.Is(err, sentinel.ErrFailedPending) {
		r.endUse()
		if e != nil && err == nil {
			return e.opOutcome(c, true)
		}
	}
	return c.status(st, AnySource), err
}
