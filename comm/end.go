package comm

import (
	"bytes"
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
)

// How the caller ends an operation before its time: Cancel asks for it, End does it now.
//
// A send that its caller gives up before it is done goes on with memory of its own. It ends for the caller at once.
// The last one that holds it frees it.
//
// That needs operations whose bytes the peer cannot reach by their address: endable ones. The envelope of an endable
// send carries no address and its bytes are not lent to the conduit. The message of an endable receive is fetched by
// its receiver alone, or comes in pieces.

// Cancel tries to end r before it is matched; it is then done, with Status.Cancelled and ErrCancelled. It reports
// whether that succeeded at once; a send's envelope that has left is called back, and the send ends one way or the
// other later. A request must still be waited for.
func (s *Server) Cancel(r Req) bool {
	if r.o == nil || r.isStale() || r.o.done.Ready() {
		return false
	}
	switch r.o.role {
	case roleCall:
		return false
	case roleRecv:
		return s.cancelRecv(r.o)
	}
	return s.cancelSend(r.o)
}

// cancelRecv ends a receive that is not matched yet. One that has invited its message ends when the sender says so.
func (s *Server) cancelRecv(o *op) bool {
	if o.receiverFirst && s.cancelRTR(o) || !s.matching.withdrawReceive(o.ctx, o.postedPattern(), o) {
		return false
	}
	o.cancelled, o.err = true, o.failedWith(ErrCancelled)
	o.done.Complete(nil)
	return true
}

// cancelRTR asks the sender to forget the RTR of the receive o; false if o has none.
func (s *Server) cancelRTR(o *op) bool {
	id, dst, key, turn := o.id, int(o.peer), makeKey(o.ctx, s.rank, int(o.tag)), o.turn
	if _, _, ok := o.word.Step(match.Protocol, match.Recall); !ok {
		return false
	}
	s.e.PostUrgent(dst, handlerRetract, id, key, turn)
	return true
}

// cancelSend takes a send back that is still in its pair's queue, or asks the receiver to forget its envelope.
func (s *Server) cancelSend(o *op) bool {
	if s.withdrawSend(o) {
		return true
	}
	dst, id, key := int(o.peer), o.id, o.wireKey()
	if _, _, ok := o.word.Step(match.Protocol, match.Recall); ok {
		s.e.PostUrgent(dst, handlerRetract, id, key)
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
	s.keepError(o, o.failedWith(ErrCancelled))
	in := match.Withdrawn
	if s.ids.Remove(o.id) == nil {
		in = match.Unqueued
	}
	o.happenTo(in, nil)
	return true
}

// End ends r now if that can be done without waiting for the peer, and reports whether r is done. Its bytes are then
// the caller's again. What is not matched ends with ErrCancelled; so does a send whose envelope the peer has, if it
// is endable: its bytes are copied, and the peer gets all of them or is told to forget the envelope. A large message
// that this rank alone copies is received. A receive whose message comes in pieces does not end.
func (s *Server) End(r Req) bool {
	switch o := r.o; {
	case o == nil || r.isStale() || o.done.Ready():
		return true
	case o.role == roleCall:
		return s.StopCall(r, ErrCancelled) && o.done.Ready()
	case o.role == roleRecv:
		return s.endRecv(o)
	default:
		return s.endSend(o)
	}
}

func (s *Server) endRecv(o *op) bool {
	if s.cancelRecv(o) {
		return true
	}
	underway := false
	s.e.AsPoller(func() { underway = !o.done.Ready() }) // the poller has no message for it in hand any more
	if !underway {
		return true
	}
	if !o.endable || o.word.State() != match.RecvGetting {
		return false
	}
	s.settleOp(o)
	return true
}

// settleOp polls until o, which depends on no peer any more, is done. It is no wait, because o may have a waiter.
func (s *Server) settleOp(o *op) {
	for !o.done.Ready() {
		s.eng.Poll()
		s.eng.Yield()
	}
}

func (s *Server) endSend(o *op) bool {
	switch {
	case s.withdrawSend(o):
	case !o.endable:
		return o.done.Ready()
	default:
		s.leaveWithCopy(o)
	}
	s.settleOp(o) // a poller that has it in hand, from its queue, its number or its bytes, is about to end it
	return true
}

// leaveWithCopy lets the send o, which has left its queue, go on with a copy of its bytes, unless it is being ended.
// Its caller need not wait any more. No answer comes in between, and nothing is sent of bytes that change.
func (s *Server) leaveWithCopy(o *op) {
	left := false
	s.e.AsPoller(func() {
		if o.word.State() == match.SendStreaming {
			left = s.e.SwapBulk(int(o.peer), (*bulkSend)(o), func(b *am.Bulk) {
				o.detach()
				b.Data, b.From = o.data[b.Off:b.Off+int64(b.Left())], nil
			}) && o.word.Leave()
			return
		}
		if left = s.ids.Get(o.id) == o && o.word.Leave(); left {
			o.detach()
			if _, _, ok := o.word.Step(match.Protocol, match.Recall); ok {
				s.e.PostUrgent(int(o.peer), handlerRetract, o.id, o.wireKey())
			}
		}
	})
	if left {
		o.cancelled = true
		s.keepError(o, o.failedWith(fmt.Errorf("%w, though the message may still be received", ErrCancelled)))
		o.done.Complete(nil)
	}
}

// detach lets the send o go on with a copy of its bytes.
func (o *op) detach() {
	src := o.packSource()
	if src == nil {
		o.data = bytes.Clone(o.data)
		return
	}
	o.data, o.cursor = make([]byte, o.size), nil
	src.Pack(o.data, 0)
}
