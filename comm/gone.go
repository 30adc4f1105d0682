package comm

import (
	"fmt"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/match"
)

// peerGone notes a peer that has failed, for the tick of this poll. What is posted from now on ends in post.
func (s *Server) peerGone(peer int, err error, _ *fult.Worker) {
	if s.lost == nil {
		s.lost = map[int32]error{}
	}
	s.lost[int32(peer)] = fmt.Errorf("%w: %w", ErrPeer, err)
}

// failLost ends the receives that name a peer that has failed, the sends that wait for it, and the probes. Receives
// from any source stay: another rank may serve them. All that pends is looked through once, for all peers of which a
// poll has told: thousands may die together. It is called by the poller.
func (s *Server) failLost(w *fult.Worker) {
	lost := s.lost
	s.lost = nil
	s.failWhere(func(p int32) error { return lost[p] }, w)
	s.wakeProbers(w)
	if s.gone != nil {
		for p := range lost {
			s.gone(int(p), w)
		}
	}
}

// goneError is why nothing can be had from peer.
func (s *Server) goneError(peer int) error {
	return fmt.Errorf("%w: %w", ErrPeer, s.e.PeerFailed(peer))
}

// postLate ends the receive o, which has been posted and found no message, if its source is gone or its context has
// been revoked. It is called after o can be found by failLost and retire, which search after the flags that are looked
// at here have been set (see am.Endpoint.Gone and Server.revoked): one of the two withdraws o.
func (s *Server) postLate(o *op) {
	p := o.asked()
	var err error
	switch {
	case s.isRevoked(o.ctx):
		err = ErrCancelled
	case p.Source >= 0 && s.e.Gone(int(p.Source)):
		err = s.goneError(int(p.Source))
	default:
		return
	}
	if s.matching.withdraw(o.ctx, p, o) {
		o.err = o.failed(err)
		o.done.Finish()
	}
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
	s.failWhere(func(int32) error { return err }, nil)
	s.wakeProbers(nil)
}

// hookSearched, set by tests, runs when all that pends has been looked through.
var hookSearched func()

// failWhere ends what names a peer for which why is not nil, with that error.
func (s *Server) failWhere(why func(peer int32) error, w *fult.Worker) {
	for _, x := range s.posted() {
		if err := why(x.asked.Source); err != nil && s.matching.withdraw(x.ctx, x.asked, x.o) {
			x.o.err = x.o.failed(err)
			x.o.finish(w)
		}
	}
	type ended struct {
		id  uint64
		err error
	}
	var mine []ended
	s.ids.Each(func(id uint64, o *op) {
		if err := why(o.peer); err != nil {
			mine = append(mine, ended{id, err})
		}
	})
	if hookSearched != nil {
		hookSearched()
	}
	for _, x := range mine {
		s.failNumber(x.id, x.err, w)
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
