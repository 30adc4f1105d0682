package comm

import (
	"errors"
	"fmt"

	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
)

// peerGone notes a peer that has failed, for the tick of this poll. What is posted from now on ends in postReceive.
func (s *Server) peerGone(peer int, err error, _ *fult.Worker) {
	if s.lost == nil {
		s.lost = map[int32]error{}
	}
	s.lost[int32(peer)] = fmt.Errorf("%w: %w", ErrPeer, err)
}

// failLost ends what needs a peer that has failed. Receives from any source are for the layer above, which knows the
// ranks of a context: see Doubt. All that pends is looked through once, for all peers of which a poll has told:
// thousands may die together. It is called by the poller.
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

// postLate ends the receive o, which has been posted and found no message, if its source is gone or its context has
// been revoked. It is called after o can be found by failLost and retireContexts. These search after the flags have
// been set that are looked at here (see am.Endpoint.Gone and Server.revoked). So one of the two withdraws o.
func (s *Server) postLate(o *op) {
	p := o.postedPattern()
	var err error
	switch {
	case s.isRevoked(o.ctx):
		err = ErrCancelled
	case p.Source >= 0 && s.e.Gone(int(p.Source)):
		err = s.e.PeerError(int(p.Source))
	case p.Source < 0:
		err = s.doubtedError(o.ctx)
	}
	if err != nil && s.matching.withdrawReceive(o.ctx, p, o) {
		o.endWith(err)
		o.done.Finish()
	}
}

// askedLate ends the rendezvous with number id if the peer that has been asked for its bytes is gone. As postLate it
// comes after the number can be found.
func (s *Server) askedLate(id uint64, peer int) {
	if s.e.Gone(peer) {
		s.failNumber(id, s.e.PeerError(peer), nil)
	}
}

// hookRemoved, set by tests, runs when failNumber has removed a number and has not ended its operation yet.
var hookRemoved func()

// failNumber ends a send or rendezvous that waits for an answer.
func (s *Server) failNumber(id uint64, err error, w *fult.Worker) {
	o := s.ids.Remove(id)
	if o == nil {
		return
	}
	if hookRemoved != nil {
		hookRemoved()
	}
	o.cancelled = errors.Is(err, ErrCancelled)
	s.keepError(o, o.failedWith(err))
	in := match.PeerLost
	if o.role == roleSend && s.e.Withdraw(int(o.peer), o) {
		in = match.Withdrawn
	}
	o.happenTo(in, w)
}
