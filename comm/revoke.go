package comm

import (
	"maps"

	"github.com/golci/golci/fult"
)

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

// OnGone sets the function that is told of each rank that has failed, after the operations that name it have ended. The
// poller calls it; it must not block. It is to be set before the first rank can fail.
func (s *Server) OnGone(f func(peer int, w *fult.Worker)) { s.gone = f }

// AnyGone tells whether it is known that some rank has failed.
func (s *Server) AnyGone() bool { return s.e.AnyGone() }

// Gone tells whether it is known that a rank has failed.
func (s *Server) Gone(peer int) bool { return s.e.Gone(peer) }
