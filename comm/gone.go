package comm

import (
	"fmt"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/match"
)

// peerGone ends the receives that name a peer that has failed, the sends that wait for it, and the probes. Receives
// from any source stay: another rank may serve them. What is posted from now on ends in post.
func (s *Server) peerGone(peer int, err error, w *fult.Worker) {
	err = fmt.Errorf("%w: %w", ErrPeer, err)
	s.failWhere(func(p int32) bool { return int(p) == peer }, err, w)
	s.wakeProbers(w)
}

// goneError is why nothing can be had from peer.
func (s *Server) goneError(peer int) error {
	return fmt.Errorf("%w: %w", ErrPeer, s.e.PeerFailed(peer))
}

// postLate ends the receive o, which has been posted and found no message, if its source is gone. It is called after
// o can be found by peerGone, which sets the flag that is looked at here before it searches (see am.Endpoint.Gone):
// one of the two withdraws o.
func (s *Server) postLate(o *op) {
	p := o.asked()
	if p.Source < 0 || !s.e.Gone(int(p.Source)) || !s.matching.withdraw(o.ctx, p, o) {
		return
	}
	o.err = o.failed(s.goneError(int(p.Source)))
	o.done.Finish()
}

// askedLate ends the rendezvous with number id if the peer that has been asked for its bytes is gone. As postLate it
// comes after the number can be found.
func (s *Server) askedLate(id uint64, peer int) {
	if s.e.Gone(peer) {
		s.failNumber(id, s.goneError(peer), nil)
	}
}

// failAll ends everything that is pending.
func (s *Server) failAll(err error) {
	s.failWhere(func(int32) bool { return true }, err, nil)
	s.wakeProbers(nil)
}

func (s *Server) failWhere(which func(peer int32) bool, err error, w *fult.Worker) {
	for _, x := range s.posted() {
		if which(x.asked.Source) && s.matching.withdraw(x.ctx, x.asked, x.o) {
			x.o.err = x.o.failed(err)
			x.o.finish(w)
		}
	}
	var mine []uint64
	s.ids.Each(func(id uint64, o *op) {
		if which(o.peer) {
			mine = append(mine, id)
		}
	})
	for _, id := range mine {
		s.failNumber(id, err, w)
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
	s.failed(o, o.failed(err))
	in := match.PeerLost
	if o.role == roleSend && s.e.Withdraw(int(o.peer), o) {
		in = match.Withdrawn
	}
	o.happens(in, w)
}
