package comm

import (
	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/comm/internal/opstate"
)

// answeredOp finds the operation that an answer of a peer names, if in can happen to it and fits says yes. Where the
// peer has no hand in it after that its number is not valid any more, so nobody else ends it. The caller has it go on
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
