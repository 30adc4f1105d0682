package comm

import (
	"fmt"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
)

// OnGone sets the function that is told of each rank that has failed, after the operations that name it have ended. The
// poller calls it; it must not block. It is to be set before the first rank can fail.
func (s *Server) OnGone(f func(peer int, w *fult.Worker)) { s.gone = f }

// AnyGone tells whether it is known that some rank has failed.
func (s *Server) AnyGone() bool { return s.e.AnyGone() }

// Gone tells whether it is known that a rank has failed.
func (s *Server) Gone(peer int) bool { return s.e.Gone(peer) }

// peerGone notes a peer that has failed, for the tick of this poll. What is posted from now on ends in postReceive.
func (s *Server) peerGone(peer int, err error, _ *fult.Worker) {
	if s.lost == nil {
		s.lost = map[int32]error{}
	}
	s.lost[int32(peer)] = fmt.Errorf("%w: %w", ErrPeer, err)
}

// failLost ends what needs a peer that has failed. Receives from any source are for the layer above, which knows the
// ranks of a context: see RefuseAnySource. All that pends is looked through once, for all peers of which a poll has
// told: thousands may die together. It is called by the poller.
func (s *Server) failLost(w *fult.Worker) {
	lost := s.lost
	s.lost = nil
	s.registry.EndWhere(func(p *pending.Op) error {
		if p.Needs == nil {
			return lost[int32(p.Peer)]
		}
		for r, err := range lost {
			if p.Needs(int(r)) {
				return err
			}
		}
		return nil
	}, w)
	if s.gone != nil {
		for p := range lost {
			s.gone(int(p), w)
		}
	}
}
