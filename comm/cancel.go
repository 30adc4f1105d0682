package comm

import (
	"fmt"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/fult"
)

func (s *Server) cancelled(o *op) error { return o.failed(ErrCancelled) }

// cancelRecv ends a receive that is not matched yet.
func (s *Server) cancelRecv(o *op) bool {
	if !s.matching.withdraw(o.ctx, o.asked(), o) {
		return false
	}
	o.cancelled, o.err = true, s.cancelled(o)
	o.finish(nil)
	return true
}

// cancelSend takes a send back that is still in its pair's queue, or asks the receiver to forget its envelope.
func (s *Server) cancelSend(o *op) bool {
	dst := int(o.peer)
	if s.e.Withdraw(dst, o) {
		o.cancelled = true
		o.leave(s.cancelled(o), nil)
		return true
	}
	s.control(dst, handlerRetract, o.id, o.wireKey())
	return false
}

// onRetract handles the call to forget an envelope, after that envelope, whatever the order of the conduit.
func (s *Server) onRetract(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 2 {
		s.fault(t, "retraction")
		return
	}
	s.inTurn(t, envelope{key: args[1], id: args[0], retract: true}, nil)
}

// forget drops an envelope that has not been matched, and tells its sender. One that was matched is answered by its
// CTS.
func (s *Server) forget(env envelope) {
	m := s.matching.takeEnvelope(env.key, env.id)
	if m == nil {
		return
	}
	s.putOp(m)
	s.control(keySource(env.key), handlerRetracted, env.id)
}

// onRetracted ends a send whose envelope was forgotten: because that was asked for, or, with a second argument, because the
// receiver has retired the context.
func (s *Server) onRetracted(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 1 && len(args) != 2 {
		s.fault(t, "retraction")
		return
	}
	o := s.ids.remove(args[0])
	if o == nil { // the send was ended meanwhile
		return
	}
	if o.role != roleSend || int(o.peer) != t.Source() || o.direct {
		s.fault(t, "retraction")
		return
	}
	o.cancelled = true
	err := ErrCancelled
	if len(args) == 2 {
		err = fmt.Errorf("%w: the receiver has freed the communicator", err)
	}
	s.failed(o, o.failed(err))
	o.part(t.Worker())
}

// drainTicks is how many polls a peer that has failed is given for what it sent before: more than its ring holds.
const drainTicks = 1 << 10

// sweepFailed ends what waits for a peer that has died, each time again, because more may have been posted. Called by
// the poller, every so often.
func (s *Server) sweepFailed(w *fult.Worker) {
	for i := range s.peers {
		err := s.e.PeerFailed(i)
		if err == nil {
			continue
		}
		p := &s.peers[i]
		if !p.failed {
			p.failed = true
			s.sweepAt = s.ticks + drainTicks
			continue
		}
		if p.drained.Load() || s.ticks-s.sweepAt < 1<<31 {
			p.drained.Store(true)
			s.failPeer(i, err, w)
		}
	}
}

// sweepIdle is sweepFailed for a poller that finds nothing and is going to sleep. The peer's failure is looked at
// first: what it sent before can be seen then.
func (s *Server) sweepIdle() {
	for i := range s.peers {
		if err := s.e.PeerFailed(i); err != nil && !s.e.Conduit().Pending() {
			s.peers[i].failed = true
			s.peers[i].drained.Store(true)
			s.failPeer(i, err, nil)
		}
	}
}

// failPeer ends with err the receives that name the peer and the sends that wait for it. Receives from any source stay:
// another rank may serve them.
func (s *Server) failPeer(peer int, err error, w *fult.Worker) {
	s.e.PeerGone(peer)
	err = fmt.Errorf("%w: %w", ErrPeer, err)
	s.failWhere(func(p int32) bool { return int(p) == peer }, err, w)
	s.wakeProbers(w)
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
	s.failNumbered(which, err, w)
}

// failNumbered ends the sends and rendezvous that wait for an answer. Who takes a number out of ids has the op until it
// has called part or finish.
func (s *Server) failNumbered(which func(peer int32) bool, err error, w *fult.Worker) {
	var mine []uint64
	s.ids.each(func(id uint64, o *op) {
		if which(o.peer) {
			mine = append(mine, id)
		}
	})
	for _, id := range mine {
		o := s.ids.remove(id)
		if o == nil {
			continue
		}
		s.failed(o, o.failed(err))
		if o.role == roleSend && s.e.Withdraw(int(o.peer), o) {
			o.part(w)
		}
		if o.role == roleSend || o.direct {
			o.part(w)
		} else {
			o.finish(w)
		}
	}
}
