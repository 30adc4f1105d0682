package comm

import (
	"fmt"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
)

// NewCall gives a request for an operation of the layer above, which ends it with EndCall. It is waited for, tested and
// used up as one of the server's own, and it is in the registry of the rank until its end: t says how it is ended from
// outside. Without t.Stop that happens at once, maybe before NewCall returns. With it CheckCall is to follow.
func (s *Server) NewCall(p pending.Op, t pending.Terms) Req {
	o := s.newRecv(0, 0, 0, nil)
	o.role = roleCall
	o.endable = !t.Kept // a wait whose context has ended waits for the end, which comes soon
	if o.recv.call == nil {
		o.recv.call = new(pending.Entry)
	}
	r := Req{o, o.gen}
	s.registry.Calls.Begin(o.recv.call, o.gen, &p, t, o)
	if t.Stop == nil {
		s.CheckCall(r, &p)
	}
	return r
}

// CheckCall ends the operation p, whose request is r, if what ends it has happened before it was in the registry.
func (s *Server) CheckCall(r Req, p *pending.Op) {
	if !s.closed.Load() && !s.e.AnyGone() && s.revoked.Load() == nil {
		return
	}
	if err := s.callLate(p); err != nil {
		s.StopCall(r, err)
	}
}

// callLate returns the error that must end the call p: the server is closed, the context is revoked, or a rank that p
// needs is gone. It returns nil if p may go on.
func (s *Server) callLate(p *pending.Op) error {
	switch {
	case s.closed.Load():
		return s.closedError()
	case s.isRevoked(p.Context):
		return ErrCancelled
	case !s.e.AnyGone():
		return nil
	case p.Needs == nil:
		if p.Peer >= 0 && s.e.Gone(p.Peer) {
			return s.e.PeerError(p.Peer)
		}
		return nil
	}
	for r := range s.size {
		if s.e.Gone(r) && p.Needs(r) {
			return s.e.PeerError(r)
		}
	}
	return nil
}

// Closed is ErrClosed once the server has been closed.
func (s *Server) Closed() error {
	if s.closed.Load() {
		return s.closedError()
	}
	return nil
}

func (s *Server) closedError() error { return fmt.Errorf("%w: rank %d", ErrClosed, s.rank) }

// EndCall ends a request of NewCall with err. The first end counts; the others return false and have no effect. It may
// be called from anywhere; w is the worker it runs on, or nil.
func (s *Server) EndCall(r Req, err error, w *fult.Worker) bool {
	if !s.registry.Calls.End(r.o.recv.call, r.gen) {
		return false
	}
	r.o.EndPending(err, w)
	return true
}

// StopCall ends a request of NewCall from outside, or has it end soon. It is false for one that only the layer above
// ends. A holder of what the operation's Stop needs must not call it.
func (s *Server) StopCall(r Req, err error) bool {
	return s.registry.Calls.Stop(r.o.recv.call, r.gen, err)
}

// EndPending implements pending.Owner.
func (o *op) EndPending(err error, w *fult.Worker) {
	o.err = err
	o.done.Complete(w)
}

// Waiter implements pending.Owner.
func (o *op) Waiter() *fult.Thread { return o.done.Expected() }
