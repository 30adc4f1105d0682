package comm

import (
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
)

func (s *Server) cancelledError(o *op) error { return o.failedWith(ErrCancelled) }

// cancelRecv ends a receive that is not matched yet. One that has invited its message ends when the sender says so.
func (s *Server) cancelRecv(o *op) bool {
	if o.receiverFirst && s.cancelRTR(o) || !s.matching.withdrawReceive(o.ctx, o.postedPattern(), o) {
		return false
	}
	o.cancelled, o.err = true, s.cancelledError(o)
	o.finishOp(nil)
	return true
}

// cancelSend takes a send back that is still in its pair's queue, or asks the receiver to forget its envelope.
func (s *Server) cancelSend(o *op) bool {
	if s.withdrawSend(o) {
		return true
	}
	dst, id, key := int(o.peer), o.id, o.wireKey()
	if _, _, ok := o.word.Step(match.Protocol, match.Recall); ok {
		s.sendControl(dst, handlerRetract, id, key)
	}
	return false
}

// withdrawSend cancels a send that is in its pair's queue; false if it is not. Where another has removed its number,
// that one is about to end the send, too, and the send is complete after both.
func (s *Server) withdrawSend(o *op) bool {
	if !s.e.Withdraw(int(o.peer), o) {
		return false
	}
	o.cancelled = true
	s.keepError(o, s.cancelledError(o))
	in := match.Withdrawn
	if s.ids.Remove(o.id) == nil {
		in = match.Unqueued
	}
	o.happenTo(in, nil)
	return true
}

// onRetract handles the call to forget an envelope, after that envelope, whatever the order of the conduit.
func (s *Server) onRetract(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 2 && len(args) != 3 {
		s.reportFault(t, "retraction")
		return
	}
	env := envelope{key: args[1], id: args[0], retract: true}
	if len(args) == 3 {
		env.receiverFirst, env.turn = true, args[2]
	}
	s.inTurn(t, env, nil)
}

// forgetEnvelope drops an envelope that has not been matched, and tells its sender. One that was matched is answered by
// its CTS.
func (s *Server) forgetEnvelope(env envelope) {
	m := s.removeUnexpected(func() *op { return s.matching.takeEnvelope(env.key, env.id) })
	if m == nil {
		return
	}
	s.putOp(m)
	s.sendControl(keySource(env.key), handlerRetracted, env.id)
}

// onRetracted ends a send whose envelope was forgotten: because that was asked for, or, with a second argument,
// because the receiver has retired the context. Or it ends a receive whose RTR was forgotten, or, with three
// arguments, whose message is not as invited.
func (s *Server) onRetracted(t *am.Token, args []uint64, _ []byte) {
	if len(args) < 1 || len(args) > 3 {
		s.reportFault(t, "retraction")
		return
	}
	o := s.answeredOp(t, args[0], match.Forgotten, "retraction", fitsAny)
	if o == nil {
		return
	}
	switch {
	case len(args) == 3:
		s.endDeclined(o, int64(args[1]), args[2])
	case !o.word.Left():
		err := ErrCancelled
		if len(args) == 2 {
			err = fmt.Errorf("%w: the receiver has freed the communicator", err)
		}
		o.cancelled = true
		s.keepError(o, o.failedWith(err))
	}
	o.happenTo(match.Forgotten, t.Worker())
}
