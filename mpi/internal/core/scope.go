package core

import (
	"context"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
)

// scope is what the waits inside a larger call have in common.
type scope struct {
	what  string          // the function that the program has called
	ctx   uint16          // of the communicator whose revocation ends them, or pending.NoContext
	on    string          // the name of the communicator where ctx does not tell it
	until context.Context // whose end ends them; nil: none
}

// scope is that of a call of the function what on c.
func (c *Comm) scope(what string) scope { return scope{what: what, ctx: c.Ctx, until: c.until} }

// beyond is s for a call that a revocation of its communicator does not end.
func (s scope) beyond(c *Comm) scope {
	s.ctx, s.on = pending.NoContext, c.Name()
	return s
}

// scopeOf is that of a call of the function what on no communicator.
func scopeOf(what string) scope { return scope{what: what, ctx: pending.NoContext} }

// beginWait registers a wait for peer, a rank of the job or pending.AnyRank, that the death of any rank ends for which
// needs is true.
func (s scope) beginWait(srv *comm.Server, peer int, needs func(rank int) bool) comm.Req {
	return srv.NewCall(pending.Op{
		Call: s.what, Context: s.ctx, On: s.on, Peer: peer, Tag: pending.AnyTag, Needs: needs,
	}, pending.Terms{})
}

// waitReq waits for r and uses it up.
func (s scope) waitReq(srv *comm.Server, r comm.Req) (comm.Status, error) {
	if s.until == nil {
		return srv.Wait(r)
	}
	return srv.WaitContext(r, s.until)
}

// later has f carry out a call of the scope sc on a goroutine of its own, and gives the request of its end. f waits in
// sc only, which can be ended from now on.
func (c *Comm) later(sc *scope, f func() error) comm.Req {
	var ended context.CancelCauseFunc
	*sc, ended = sc.stoppable()
	op := pending.Op{
		Call: sc.what, Context: sc.ctx, On: sc.on, Peer: pending.AnyRank, Tag: pending.AnyTag,
		Needs: pending.Nobody, Parts: true,
	}
	req := c.Srv.NewCall(op, pending.Terms{Stop: func(_ uint64, err error, _ *fult.Worker) { ended(err) }})
	c.Srv.CheckCall(req, &op)
	go func() {
		err := f()
		c.Srv.EndCall(req, err, nil)
		ended(nil)
	}()
	return req
}

// Later gives the request of a call of the function what that f carries out on a goroutine of its own. What f waits for
// is in the registry itself.
func (c *Comm) Later(what string, f func() error) Request {
	sc := c.scope(what)
	return Request{c: c, req: c.later(&sc, f)}
}

// EndedWith gives a request that has ended with err.
func (c *Comm) EndedWith(err error) Request {
	r := scopeOf("").beginWait(c.Srv, pending.AnyRank, pending.Nobody)
	c.Srv.EndCall(r, err, nil)
	return Request{c: c, req: r}
}

// stoppable is the scope of a call that goes on while its caller does not wait, and the function that ends it.
func (s scope) stoppable() (scope, context.CancelCauseFunc) {
	parent := s.until
	if parent == nil {
		parent = context.Background()
	}
	var end context.CancelCauseFunc
	s.until, end = context.WithCancelCause(parent)
	return s, end
}
