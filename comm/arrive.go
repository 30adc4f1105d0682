package comm

import (
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/hashtable"
	"github.com/golci/golci/internal/request"
)

// Where messages arrive. A handler reads a record, and inTurn brings it into the order of its pair. arriveMessage finds
// out what it is for. That is a receive that waits (receiver.go), the unexpected messages (unexpected.go), or a send of
// this rank (sender.go). Answers to an operation of this rank need no order; they are read where they lead to.

// Handler indices of the communication server.
const (
	handlerEager = am.FirstInternal + iota
	handlerRTS
	handlerCTS
	handlerRetract
	handlerRetracted
	handlerGo
	handlerCopied
	handlerNotice
	handlerRTR
)

// bulkChannel is this layer's at the endpoint: a number of an operation fits its ids.
const (
	bulkChannel        = 0
	_           uint64 = am.MaxBulkID - request.MaxNumber
)

// attachTo registers the server on its endpoint.
func (s *Server) attachTo() error {
	handlers := []am.Spec{
		{Name: "eager", Run: s.onEager, Ordered: true},
		handlerRTS - handlerEager:       {Name: "ready to send", Run: s.onRTS, Ordered: true},
		handlerCTS - handlerEager:       {Name: "clear to send", Run: s.onCTS},
		handlerRetract - handlerEager:   {Name: "retract", Run: s.onRetract, Ordered: true},
		handlerRetracted - handlerEager: {Name: "retracted", Run: s.onRetracted},
		handlerGo - handlerEager:        {Name: "go", Run: s.onGo},
		handlerCopied - handlerEager:    {Name: "copied", Run: s.onCopied},
		handlerNotice - handlerEager:    {Name: "notice", Run: s.onNotice, Ordered: true},
		handlerRTR - handlerEager:       {Name: "invite", Run: s.onRTR, Ordered: true},
	}
	for i := range handlers {
		handlers[i].MaxReply = am.NoReply
	}
	return s.e.Attach(am.Layer{
		Name: "comm", First: handlerEager, Handlers: handlers, Quick: (*fastReceiver)(s), Channel: bulkChannel,
		Bulk: s.bulkArrived, Tick: s.onTick, PeerGone: s.peerGone,
	})
}

// kind is what an envelope tells.
type kind uint8

const (
	kindEager      kind = iota // a message with its bytes
	kindRTS                    // a rendezvous
	kindRTR                    // the RTR of a receive
	kindRetract                // forget the envelope of that key and id
	kindRetractRTR             // forget the RTR of that key and turn
	kindNotice                 // what matches nothing
)

// rts is a message as its sender tells of it. Of other envelopes it has the size and the id that they name.
type rts struct {
	size int64
	id   uint64 // of the sender's op; not of an eager message
	from offer  // of a rendezvous: what the sender offers of its bytes
}

// envelope is what there is to match of a message, or what has its turn among messages.
type envelope struct {
	key uint64
	rts
	turn      uint64 // of the send or receive, where the receiver may be first; see match.Turns
	signature uint64 // of the elements, 0 if the sender has not told
	notice    *[noticeArgs]uint64

	kind          kind
	receiverFirst bool // a rendezvous that might have been invited
}

// earlyEnvelopes are the envelopes of one source that came before their turn, by sequence number.
type earlyEnvelopes map[uint16]heldEnvelope

// heldEnvelope came before its turn.
type heldEnvelope struct {
	envelope
	payload []byte
	handled bool // it had not to wait
}

// onEager handles a message with its bytes.
func (s *Server) onEager(t *am.Token, args []uint64, payload []byte) {
	if len(args) != 1 {
		s.onEagerTyped(t, args, payload)
		return
	}
	if !(*fastReceiver)(s).RecvQuickly(t.Source(), t.Seq(), args[0], payload, t.Worker()) {
		s.inTurn(t, envelope{key: args[0], rts: rts{size: int64(len(payload))}}, payload)
	}
}

// fastReceiver is a Server as am.FastReceiver.
type fastReceiver Server

// RecvQuickly is onEager of a message that is in turn. It has few steps where no wildcard is asked for, and a receive
// waits.
func (q *fastReceiver) RecvQuickly(src int, seq uint16, key uint64, payload []byte, w *fult.Worker) bool {
	s := (*Server)(q)
	p := &s.peers[src]
	if seq != p.expect || p.holds || keySource(key) != src {
		return false
	}
	p.expect++
	if len(payload) > s.sure {
		s.hearScheme(src, withEnvelope, int64(len(payload)))
	}
	n, ok := s.matching.table.Match(key, hashtable.Post)
	if n == nil {
		s.takeSlowly(src, key, payload, w, ok)
		return true
	}
	o := &n.Value
	if !o.needsFill && len(payload) <= len(o.data) {
		o.size = int64(len(payload))
		copyShort(o.data, payload)
	} else {
		s.fillEager(o, payload)
	}
	s.batch.Complete(&o.done, w)
	return true
}

// copyShort is copy, without a call for 8 bytes. dst is as long as src at least.
func copyShort(dst, src []byte) {
	if len(src) == 8 {
		*(*[8]byte)(dst) = *(*[8]byte)(src)
	} else {
		copy(dst, src)
	}
}

// takeSlowly handles a message in turn for which the table has no receive, or which the table does not match.
func (s *Server) takeSlowly(src int, key uint64, payload []byte, w *fult.Worker, byTable bool) {
	env := envelope{key: key, rts: rts{size: int64(len(payload))}}
	switch {
	case key >= hashtable.Reserved:
		s.faultOf(src, "context")
	case byTable:
		s.storeUnexpected(env, payload, w)
	default:
		s.arriveMessage(env, payload, w)
	}
}

// onEagerTyped handles a message with a signature.
func (s *Server) onEagerTyped(t *am.Token, args []uint64, payload []byte) {
	if len(args) != 2 {
		s.reportFault(t, "eager message")
		return
	}
	s.inTurn(t, envelope{key: args[0], rts: rts{size: int64(len(payload))}, signature: args[1]}, payload)
}

// onRTS handles the envelope of a rendezvous.
func (s *Server) onRTS(t *am.Token, args []uint64, _ []byte) {
	if len(args) < 5 || len(args) > 7 || int64(args[1]) < 0 {
		s.reportFault(t, "envelope")
		return
	}
	env := envelope{key: args[0], rts: rts{int64(args[1]), args[2], offer{args[3], args[4]}}, kind: kindRTS}
	s.hearScheme(t.Source(), asking, env.size)
	switch len(args) {
	case 6:
		env.signature = args[5]
	case 7:
		env.signature, env.turn, env.receiverFirst = args[5], args[6], true
	}
	s.inTurn(t, env, nil)
}

// onRTR handles the RTR of a receive, in its turn.
func (s *Server) onRTR(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 5 || int64(args[3]) < 0 {
		s.reportFault(t, "RTR")
		return
	}
	env := envelope{key: args[0], turn: args[1], signature: args[4], kind: kindRTR}
	env.id, env.size = args[2], int64(args[3])
	s.inTurn(t, env, nil)
}

// onRetract handles the call to forget an envelope, after that envelope, whatever the order of the conduit.
func (s *Server) onRetract(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 2 && len(args) != 3 {
		s.reportFault(t, "retraction")
		return
	}
	env := envelope{key: args[1], rts: rts{id: args[0]}, kind: kindRetract}
	if len(args) == 3 {
		env.kind, env.turn = kindRetractRTR, args[2]
	}
	s.inTurn(t, env, nil)
}

func (s *Server) reportFault(t *am.Token, what string) { s.faultOf(t.Source(), what) }

func (s *Server) faultOf(src int, what string) {
	s.e.Fault(fmt.Errorf("%w: rank %d: malformed %s from rank %d", ErrProtocol, s.rank, what, src))
}

// inTurn handles envelopes in the order in which they were sent; one that overtook another waits in a copy.
func (s *Server) inTurn(t *am.Token, env envelope, payload []byte) {
	src, w := t.Source(), t.Worker()
	if keySource(env.key) != src || env.key >= hashtable.Reserved {
		s.reportFault(t, "source or context")
		return
	}
	p := &s.peers[src]
	if t.Seq() != p.expect {
		if !p.holds {
			p.holds, s.held[int32(src)] = true, earlyEnvelopes{}
		}
		held := s.held[int32(src)]
		if s.mayOvertake(env) {
			held[t.Seq()] = heldEnvelope{handled: true}
			s.arriveMessage(env, payload, w)
			return
		}
		held[t.Seq()] = heldEnvelope{envelope: env, payload: append([]byte(nil), payload...)}
		return
	}
	p.expect++
	s.arriveMessage(env, payload, w)
	for p.holds {
		held := s.held[int32(src)]
		h, ok := held[p.expect]
		if !ok {
			return
		}
		if delete(held, p.expect); len(held) == 0 {
			p.holds = false
			delete(s.held, int32(src))
		}
		p.expect++
		if !h.handled {
			s.arriveMessage(h.envelope, h.payload, w)
		}
	}
}

// mayOvertake tells whether a message may be matched before those that were sent before it.
func (s *Server) mayOvertake(env envelope) bool {
	return env.kind == kindEager && s.assertedOf(keyContext(env.key))&AllowOvertaking != 0
}

// arriveMessage matches a message with a receive, or keeps it, and hands on what is none. Called by the poller, in the
// order of the pair.
func (s *Server) arriveMessage(env envelope, payload []byte, w *fult.Worker) {
	switch env.kind {
	case kindEager, kindRTS:
		if !env.receiverFirst { // else that is decided together with its turn
			if o := s.matching.claimReceive(env.key); o != nil {
				var ask *rts
				if env.kind == kindRTS {
					ask = &env.rts
				}
				if s.deliver(o, env.key, env.signature, ask, payload) {
					o.done.Complete(w)
				}
				return
			}
		}
		s.storeUnexpected(env, payload, w)
	case kindRetract:
		s.forgetEnvelope(env)
	case kindRTR:
		s.keepRTR(env, w)
	case kindRetractRTR:
		s.dropRTR(env)
	case kindNotice:
		s.notice(keySource(env.key), *env.notice, payload, w)
	}
}
