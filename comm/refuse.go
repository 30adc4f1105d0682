package comm

import (
	"errors"
	"maps"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
)

// endedError tells why a receive or probe of peer, or of any source, must not wait in a context; nil if it may. What
// ends those that wait is stored before they are searched, and this is called after the new one can be found.
func (s *Server) endedError(ctx uint16, peer int) error {
	switch {
	case s.isRevoked(ctx):
		return ErrCancelled
	case peer < 0:
		return s.doubtedError(ctx)
	case s.e.Gone(peer):
		return s.e.PeerError(peer)
	}
	return nil
}

// A receive or probe from any source does not name a rank that has failed, but may wait for it. Only the layer above
// knows which ranks a context has, and which deaths the program has acknowledged.

// refusal is why a receive from any source does not wait.
type refusal struct{ error }

// Unwrap gives the reason, for errors.Is.
func (d *refusal) Unwrap() error { return d.error }

// RefuseAnySource has receives and probes from any source in a context end with err, those that wait and those to come,
// until it is called with nil. inPoll tells a caller that is in a poll.
//
// A request of such a receive stays. A wait or test gives the error, and once the doubt has gone, the receive waits for
// its message again.
func (s *Server) RefuseAnySource(ctx uint16, err error, inPoll bool, w *fult.Worker) {
	f := func() {
		s.setRefusal(ctx, err) // before the search: who posts looks at it after posting
		err := s.doubtedError(ctx)
		if err == nil {
			return
		}
		s.registry.EndWhere(func(p *pending.Op) error {
			if (p.Kind == pending.Recv || p.Kind == pending.Probe) && p.Context == ctx && p.Peer == AnySource {
				return err
			}
			return nil
		}, w)
	}
	if inPoll {
		f()
		return
	}
	s.e.AsPoller(f)
}

// setRefusal is called by the poller, or in its place.
func (s *Server) setRefusal(ctx uint16, err error) {
	all := map[uint16]error{}
	if old := s.refusals.Load(); old != nil {
		maps.Copy(all, *old)
	}
	if err != nil {
		all[ctx] = &refusal{err}
	} else {
		delete(all, ctx)
	}
	if len(all) == 0 {
		s.refusals.Store(nil)
		return
	}
	s.refusals.Store(&all)
}

// doubtedError tells why a receive from any source in a context must not wait, or nil.
func (s *Server) doubtedError(ctx uint16) error {
	if all := s.refusals.Load(); all != nil {
		return (*all)[ctx]
	}
	return nil
}

// errResumed says that a request which was to be used up waits again.
var errResumed = errors.New("the receive waits again")

// usePaused is use of a receive that a doubt has ended. It stays as long as the doubt does, and is posted again then.
func (s *Server) usePaused(o *op) (Status, error) {
	if s.doubtedError(o.ctx) != nil {
		return o.takeResult()
	}
	o.err, o.paused = nil, false
	o.done.Reset()
	s.postOn(o)
	return Status{}, errResumed
}

// Revoke is Retire of contexts whose program still uses them. Receives and probes that come later end, too, with
// ErrCancelled. inPoll tells a caller that is in a poll, as one that has got a notice is. Sends end when their
// receivers have revoked the contexts as well.
func (s *Server) Revoke(inPoll bool, w *fult.Worker, ctxs ...uint16) {
	f := func() {
		all := map[uint16]bool{}
		if old := s.revoked.Load(); old != nil {
			maps.Copy(all, *old)
		}
		for _, ctx := range ctxs {
			all[ctx] = true
		}
		s.revoked.Store(&all) // before the search: who posts looks at it after posting
		s.retireContexts(ctxs, w)
	}
	if inPoll {
		f()
		return
	}
	s.e.AsPoller(f)
}

// isRevoked tells whether Revoke has been called for a context.
func (s *Server) isRevoked(ctx uint16) bool {
	all := s.revoked.Load()
	return all != nil && (*all)[ctx]
}

// unrevoke forgets what Revoke has noted of contexts. Called by the poller.
func (s *Server) unrevoke(ctxs []uint16) {
	old := s.revoked.Load()
	if old == nil {
		return
	}
	all := maps.Clone(*old)
	for _, ctx := range ctxs {
		delete(all, ctx)
	}
	if len(all) == 0 {
		s.revoked.Store(nil)
		return
	}
	s.revoked.Store(&all)
}
