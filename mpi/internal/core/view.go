package core

import (
	"context"
	"fmt"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// WithContext returns a view of c: the same communicator, whose waiting calls end when ctx does.
func (c *Comm) WithContext(ctx context.Context) *Comm {
	if c == nil || c.proc == nil {
		return c
	}
	if ctx = OrNone(ctx); ctx.Done() == nil {
		ctx = nil
	}
	return c.view(ctx, c.codec)
}

// WithCodec returns a view of c that keeps codec, which this package does not look at.
func (c *Comm) WithCodec(codec any) *Comm {
	if c == nil || c.proc == nil {
		return c
	}
	return c.view(c.until, codec)
}

// Codec is what WithCodec was given; nil without it.
func (c *Comm) Codec() any { return c.codec }

// view is the communicator of c with another context and codec.
func (c *Comm) view(until context.Context, codec any) *Comm {
	c = c.origin()
	if until == nil && codec == nil {
		return c
	}
	v := &Comm{
		Hot: Hot{Srv: c.Srv, Ctx: c.Ctx}, proc: c.proc, group: c.group, local: c.local, peers: c.peers,
		inverse: c.inverse, lowest: c.lowest, rank: c.rank, id: c.id,
		collCtx: c.collCtx, coll: c.coll, checked: c.checked, base: c, until: until, codec: codec,
	}
	v.calls = c.coll.View(v, until)
	return v
}

// noContext stands for a nil context: it has ended, for that reason.
var noContext = func() context.Context {
	ctx, end := context.WithCancelCause(context.Background())
	end(fmt.Errorf("%w: nil context", sentinel.ErrArgument))
	return ctx
}()

// OrNone is ctx, or noContext in the place of nil.
func OrNone(ctx context.Context) context.Context {
	if ctx == nil {
		return noContext
	}
	return ctx
}

// origin is the communicator that a view is of, else c.
func (c *Comm) origin() *Comm {
	if c.base != nil {
		return c.base
	}
	return c
}

// plain reports whether the calls of c need nothing but what the server's plain calls do.
func (c *Comm) plain() bool { return c.until == nil && !c.checked }

// contexts are ctx and that of a view.
func (c *Comm) contexts(ctx context.Context) []context.Context {
	if c.until == nil {
		return []context.Context{ctx}
	}
	return []context.Context{ctx, c.until}
}

// contextOver tells why nothing may start on a view whose context has ended.
func (c *Comm) contextOver() error {
	if c.until == nil || c.until.Err() == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", sentinel.ErrCancelled, context.Cause(c.until))
}

// waitReq waits for r and uses it up.
func (c *Comm) waitReq(r comm.Req) (comm.Status, error) {
	if c.until == nil {
		return c.Srv.Wait(r)
	}
	return c.Srv.WaitContext(r, c.until)
}

// awaitAll waits until all of rs are done, or the context has ended, and uses up none. A wait for each then returns at
// once.
func (c *Comm) awaitAll(rs []comm.Req) error {
	if c.until == nil {
		return c.Srv.AwaitAll(rs)
	}
	return c.Srv.AwaitAll(rs, c.until)
}
