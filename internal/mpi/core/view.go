package core

import (
	"context"
	"fmt"

	"github.com/golci/golci/comm"
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
	return &Comm{
		Hot: Hot{Srv: c.Srv, Ctx: c.Ctx}, proc: c.proc, group: c.group, inverse: c.inverse, lowest: c.lowest, rank: c.rank, id: c.id,
		collCtx: c.collCtx, coll: c.coll, checked: c.checked, base: c, until: until, codec: codec,
	}
}

// noContext stands for a nil context: it has ended, for that reason.
var noContext = func() context.Context {
	ctx, end := context.WithCancelCause(context.Background())
	end(fmt.Errorf("%w: nil context", ErrArgument))
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

// terms of an operation on elements of that shape.
func (c *Comm) terms(shape uint64) comm.Terms {
	return comm.Terms{Endable: c.until != nil, Shape: shape}
}

// contexts are ctx and that of a view.
func (c *Comm) contexts(ctx context.Context) []context.Context {
	if c.until == nil {
		return []context.Context{ctx}
	}
	return []context.Context{ctx, c.until}
}

// over tells why nothing may start on a view whose context has ended.
func (c *Comm) over() error {
	if c.until == nil || c.until.Err() == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrCancelled, context.Cause(c.until))
}

// The point to point calls of a communicator on the server, with ranks of c. They honour the context of a view. shape
// names the type of the elements where types are checked, and is 0 elsewhere.

// sendBytes sends b; it waits.
func (c *Comm) sendBytes(to, tag int, b []byte, mode comm.Mode, shape uint64) error {
	if c.plain() {
		return c.Srv.Send(c.Ctx, int(c.group[to]), tag, b, mode)
	}
	if c.until == nil {
		return c.Srv.SendShaped(c.Ctx, int(c.group[to]), tag, b, mode, shapeFor(b, shape))
	}
	r, err := c.isendBytes(to, tag, b, mode, shape)
	if err == nil {
		_, err = c.wait(r)
	}
	return err
}

// recvBytes receives into b from a rank or AnySource; it waits. The status names the source by its world rank.
func (c *Comm) recvBytes(from, tag int, b []byte, shape uint64) (comm.Status, error) {
	if c.plain() {
		return c.Srv.Recv(c.Ctx, c.world(from), tag, b)
	}
	if c.until == nil {
		return c.Srv.RecvShaped(c.Ctx, c.world(from), tag, b, shape)
	}
	r, err := c.irecvBytes(from, tag, b, shape)
	if err != nil {
		return comm.Status{}, err
	}
	return c.wait(r)
}

// recvAllocBytes receives into what alloc gives; it waits. The status is as for recvBytes.
func (c *Comm) recvAllocBytes(from, tag int, shape uint64, alloc func(n int) []byte) (comm.Status, error) {
	if c.plain() {
		return c.Srv.RecvAlloc(c.Ctx, c.world(from), tag, alloc)
	}
	if err := c.over(); err != nil {
		return comm.Status{}, err
	}
	r, err := c.Srv.IrecvWith(c.Ctx, c.world(from), tag, nil, alloc, c.terms(shape))
	if err != nil {
		return comm.Status{}, err
	}
	return c.wait(r)
}

// isendBytes starts to send b.
func (c *Comm) isendBytes(to, tag int, b []byte, mode comm.Mode, shape uint64) (comm.Req, error) {
	if c.plain() {
		return c.Srv.Isend(c.Ctx, int(c.group[to]), tag, b, mode)
	}
	if err := c.over(); err != nil {
		return comm.Req{}, err
	}
	return c.Srv.IsendWith(c.Ctx, int(c.group[to]), tag, b, mode, c.terms(shapeFor(b, shape)))
}

// shapeFor is the shape that a message of b carries: nothing has no type.
func shapeFor(b []byte, shape uint64) uint64 {
	if len(b) == 0 {
		return 0
	}
	return shape
}

// irecvBytes starts to receive into b from a rank or AnySource.
func (c *Comm) irecvBytes(from, tag int, b []byte, shape uint64) (comm.Req, error) {
	if c.plain() {
		return c.Srv.Irecv(c.Ctx, c.world(from), tag, b)
	}
	if err := c.over(); err != nil {
		return comm.Req{}, err
	}
	return c.Srv.IrecvWith(c.Ctx, c.world(from), tag, b, nil, c.terms(shape))
}

// wait waits for r and uses it up.
func (c *Comm) wait(r comm.Req) (comm.Status, error) {
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
	return c.Srv.AwaitAllContext(rs, c.until)
}
