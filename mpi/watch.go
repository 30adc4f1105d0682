package mpi

import (
	"context"
	"fmt"

	"github.com/golci/golci/comm"
)

// watch waits for a request on a goroutine of its own, so that others can select on it.
type watch struct{ done chan struct{} }

// done is closed from the start: for requests that are done.
var done = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done returns a channel that is closed when r is done, for use in a select; Wait then returns at once. The first
// call starts a goroutine, which ends with the operation. It does not block. Copies of r made before must not be used
// any more.
func (r *Request) Done() <-chan struct{} {
	if r == nil || r.c == nil || r.req.Null() {
		return done
	}
	if r.watch == nil {
		w := &watch{done: make(chan struct{})}
		r.watch = w
		srv, req := r.c.srv, r.req
		go func() {
			defer close(w.done)
			_ = srv.AwaitAll([]comm.Req{req}) // an error shows in Wait
		}()
	}
	return r.watch.done
}

func (w *watch) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// wait blocks until the watching goroutine has gone: only one may wait for an operation at a time.
func (w *watch) wait(p *Proc) {
	t := p.sched.Current()
	if t == nil {
		<-w.done
		return
	}
	go func() { // a light-weight thread must not block on a channel itself
		<-w.done
		t.Signal()
	}()
	for !w.over() {
		t.Wait()
	}
}

// WaitContext is Wait that cancels the operation when ctx ends. It then still waits until the operation has been
// cancelled or has taken place, which is for a send that has left, or a long message on its way, when the other side
// answers. Errors: those of the operation; if it was cancelled, ErrCancelled and the cause of ctx. It may switch
// threads.
func (r *Request) WaitContext(ctx context.Context) (Status, error) {
	return r.waitContext(ctx, "WaitContext")
}

// waitContext is WaitContext for the function what, which errors name.
func (r *Request) waitContext(ctx context.Context, what string) (Status, error) {
	if r == nil || r.c == nil || r.req.Null() || ctx.Done() == nil {
		return r.wait(what)
	}
	over := make(chan struct{})
	srv, req := r.c.srv, r.req
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		srv.Cancel(req)
	})
	if r.watch != nil {
		r.watch.wait(r.c.proc)
	}
	_ = srv.AwaitAll([]comm.Req{req}) // an error shows in Wait
	if !stop() {
		<-over // Cancel does not block, but must not meet a later use of the operation
	}
	st, err := r.wait(what)
	if err != nil && st.cancelled {
		err = fmt.Errorf("%w: %w", err, context.Cause(ctx))
	}
	return st, err
}

// SendContext is Send that is cancelled when ctx ends; see WaitContext.
func SendContext[T any](ctx context.Context, c *Comm, buf []T, dest, tag int) error {
	if err := c.early(ctx, "SendContext", "to", dest, tag); err != nil {
		return err
	}
	r, err := Isend(c, buf, dest, tag)
	if err == nil {
		_, err = r.waitContext(ctx, "SendContext")
	}
	return err
}

// RecvContext is Recv that is cancelled when ctx ends; see WaitContext.
func RecvContext[T any](ctx context.Context, c *Comm, buf []T, source, tag int) (Status, error) {
	if err := c.early(ctx, "RecvContext", "from", source, tag); err != nil {
		return Status{}, err
	}
	r, err := Irecv(c, buf, source, tag)
	if err != nil {
		return Status{}, err
	}
	return r.waitContext(ctx, "RecvContext")
}

// early tells why an operation whose context has ended does not start.
func (c *Comm) early(ctx context.Context, what, side string, peer, tag int) error {
	if ctx.Err() == nil {
		return nil
	}
	if err := c.usable(what); err != nil {
		return err
	}
	return fmt.Errorf("mpi: %s: %s, %s %s, %s: %w: %w",
		what, c.who(), side, peerText(peer), tagText(tag), ErrCancelled, context.Cause(ctx))
}
