package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/golci/golci/comm"
)

// watch is a context that ends with the operation of a request. A goroutine of its own waits for the operation, so that
// others can wait for the context.
type watch struct{ context.Context }

// ended is a context that has ended: for requests that are done.
var ended = func() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}()

// Done returns a channel that is closed when r is done.
func (r *Request) Done() <-chan struct{} {
	if r.Null() || r.req.Null() {
		return ended.Done()
	}
	if r.watch == nil {
		ctx, end := context.WithCancel(context.Background())
		r.watch = &watch{ctx}
		c, req := r.c, r.req
		go func() {
			defer end()
			_ = c.awaitAll([]comm.Req{req}) // an error shows in Wait
			if !c.Srv.End(req) {            // the context of a view has ended, and the bytes are still to come
				_ = c.Srv.AwaitAll([]comm.Req{req})
			}
		}()
	}
	return r.watch.Done()
}

// WaitContext is Wait that ends the operation when ctx ends.
func (r *Request) WaitContext(ctx context.Context) (Status, error) {
	if r.Null() {
		return empty, nil
	}
	c := r.c
	st, err := r.waitContext(ctx)
	if err != nil {
		err = c.opError("WaitContext", err)
	}
	return st, err
}

// waitContext is WaitContext of a request that is not null, with a bare error.
func (r *Request) waitContext(ctx context.Context) (Status, error) {
	if ctx == noContext {
		return Status{}, context.Cause(ctx)
	}
	if r.req.Null() || ctx.Done() == nil || r.late() {
		return r.result()
	}
	c := r.c
	if w := r.watch; w != nil {
		if err := c.Srv.AwaitAnyContext(nil, w, ctx); err != nil {
			return Status{}, err
		}
		if w.Err() == nil && c.Srv.End(r.req) {
			_ = c.Srv.AwaitAnyContext(nil, w) // which ends now
		}
		if w.Err() == nil {
			return Status{}, fmt.Errorf("%w: %w", ErrPending, context.Cause(ctx))
		}
	}
	st, err := c.Srv.WaitContext(r.req, c.contexts(ctx)...)
	if !errors.Is(err, ErrPending) {
		*r = Request{}
	}
	return c.status(st, AnySource), err
}
