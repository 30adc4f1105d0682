package comm

import (
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/comm/internal/opstate"
)

// What a peer tells an operation of this rank by its number, at either side. A number is a slot and a generation, so a
// late answer finds nothing. Answers have no order among messages.
//
// They are sent by PostUrgent, from handlers too: it never blocks, and where others wait for credits it passes them.
// What answers or recalls an envelope may overtake everything but that envelope. If the peer is dead, peerGone and
// askedLate end what waits for the answer.

// answeredOp finds the operation that an answer of a peer names, if in can happen to it and fits says yes. Where the
// peer has no hand in it after that its number is not valid any more, so nobody else ends it. The caller lets it go on
// with step or happens. nil if the operation was ended meanwhile, and after an answer that is a fault of the peer.
// Called by the poller.
func (s *Server) answeredOp(t *am.Token, number uint64, in opstate.Input, what string, fits func(*op) bool) *op {
	o := s.ids.Get(number)
	if o == nil {
		return nil
	}
	step, ok := o.word.Can(match.Protocol, in)
	if int(o.peer) != t.Source() || !ok || !fits(o) {
		s.reportFault(t, what)
		return nil
	}
	if step.Drop&opstate.Peer != 0 && s.ids.Remove(number) == nil {
		return nil
	}
	if o.send != nil && o.send.turns != nil {
		s.forgetTurn(o)
	}
	return o
}

func fitsAny(*op) bool { return true }

// onCopied notes that the peer has done its part.
func (s *Server) onCopied(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 2 {
		s.reportFault(t, "copied")
		return
	}
	o := s.answeredOp(t, args[0], match.Copied, "copied", fitsAny)
	if o == nil {
		return
	}
	if args[1] != 0 {
		s.keepError(o, o.failedWith(fmt.Errorf("%w: it could not reach the memory of rank %d", ErrPeer, s.rank)))
	}
	o.happenTo(match.Copied, t.Worker())
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
