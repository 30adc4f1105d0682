package comm

import (
	"slices"
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/comm/internal/opstate"
	"github.com/golci/golci/fult"
)

// A rendezvous that the receiver begins has no envelope. A large receive invites its message when it is posted: it
// tells the sender its number. A send that finds the RTR sends its bytes at once, in chunks under that number.
//
// This needs a context without wildcards whose receives know the lengths of their messages (firstNeeds). Then the n-th
// large send to a rank under a key and the n-th large receive there are for each other, and both ranks count them
// (match.Turns). A send whose turn is not invited sends its envelope. A receive whose envelope has come answers that,
// as ever. If both are on their way the RTR counts: it is the answer to the envelope, which the receiver drops.

// firstTags is how many tags of a context can have RTRs: those below it. Each rank keeps a count for each of
// them that has had a large message.
const firstTags = 1024

// isReceiverFirst tells whether a message of n bytes, from or to peer, goes in this way. Both ranks see it alike. Where
// a ring joins them the bytes are copied directly, by both, once each has told the other where they are (remote.go).
// That is quicker than chunks that need no answer.
func (s *Server) isReceiverFirst(ctx uint16, peer, tag int, n int64) bool {
	return ctx >= FirstAsserted && n > int64(s.eager) && tag < firstTags && s.assertedOf(ctx)&firstNeeds == firstNeeds &&
		!s.e.Ring(peer)
}

// rtr is a receive that waits for its message.
type rtr struct {
	number    uint64 // of the receive
	size      int64
	signature uint64
}

// sendTurns are the large sends to one rank under one key. The lock of the pair guards it.
type sendTurns struct {
	match.Turns
	invited map[uint64]rtr    // by turn; the send is still to come
	offered map[uint64]uint64 // numbers, by turn, of the sends whose envelope has left and is not answered
}

// recvTurns are the large receives, by key.
type recvTurns struct {
	mu   sync.Mutex // held while a receive or an envelope takes its turn and is matched
	keys map[uint64]*match.Turns
}

func (r *recvTurns) turnsOf(key uint64) *match.Turns {
	t := r.keys[key]
	if t == nil {
		if r.keys == nil {
			r.keys = make(map[uint64]*match.Turns)
		}
		t = new(match.Turns)
		r.keys[key] = t
	}
	return t
}

// sendsOf gives the turns of sends to the rank that key names as source. The pair is locked.
func (s *Server) sendsOf(key uint64) *sendTurns {
	if t, ok := s.sends.Load(key); ok {
		return t.(*sendTurns)
	}
	t := &sendTurns{invited: make(map[uint64]rtr), offered: make(map[uint64]uint64)}
	s.sends.Store(key, t)
	return t
}

// postOn is postReceive for a receive whose context may have promises.
func (s *Server) postOn(o *op) {
	if o.ctx >= FirstAsserted {
		o.exact = o.recv.alloc == nil && s.assertedOf(o.ctx)&ExactLength != 0
		o.receiverFirst = !o.wild && s.isReceiverFirst(o.ctx, int(o.peer), int(o.tag), o.bufferRoom())
	}
	o.needsFill = o.exact || o.recv.alloc != nil
	if o.receiverFirst {
		s.postReceiverFirst(o)
		return
	}
	s.postReceive(o)
}

// postReceiverFirst is postReceive for a receive that may invite its message.
func (s *Server) postReceiverFirst(o *op) {
	s.receives.mu.Lock()
	turns := s.receives.turnsOf(o.tableKey())
	m := s.matching.takeMessage(o.ctx, o.plainPattern())
	if m == nil || m.receiverFirst {
		o.turn = turns.Take()
	}
	s.receives.mu.Unlock()
	if m != nil {
		if s.deliverTo(o, m) {
			o.done.Finish()
		}
		return
	}
	o.size, o.recv.want, o.recv.received = o.bufferRoom(), o.bufferRoom(), 0
	o.word.Begin(match.RecvInvited, opstate.Caller|opstate.Peer)
	id, src, signature := s.ids.Add(o), int(o.peer), o.signature
	o.id = id
	key, turn, size := makeKey(o.ctx, s.rank, int(o.tag)), o.turn, uint64(o.size)
	s.sendControl(src, handlerRTR, key, turn, id, size, signature) // o may be finished from here on
	s.askedLate(id, src)
}

// arriveUninvited handles the envelope of a send that was not invited when it left.
func (s *Server) arriveUninvited(env envelope, w *fult.Worker) {
	if s.refuseUnmatched(env) {
		return
	}
	m := s.makeUnexpected(env, nil, w)
	s.receives.mu.Lock()
	turns := s.receives.turnsOf(env.key)
	if turns.Passed(env.turn) {
		s.receives.mu.Unlock()
		s.putOp(m)
		return
	}
	o := s.matching.keepMessage(m) // a small receive, if any, which then says so
	s.receives.mu.Unlock()
	s.afterKeep(o, m, env.key, w)
}

// removeUnexpected has take take a message out of the matching, for other than a receive.
func (s *Server) removeUnexpected(take func() *op) *op {
	s.receives.mu.Lock()
	defer s.receives.mu.Unlock()
	m := take()
	if m != nil && m.receiverFirst {
		s.receives.turnsOf(m.tableKey()).Void(m.turn)
	}
	return m
}

// skipTurnOf notes that m went to a receive that cannot have invited it: the number of m's turn must be skipped.
func (s *Server) skipTurnOf(m *op) { s.removeUnexpected(func() *op { return m }) }

// followRTR starts the send o by an RTR, if one waits; false if there is none. It is o's turn. The pair
// is locked.
func (o *op) followRTR() bool {
	t := o.send.turns
	turn := t.Next()
	inv, ok := t.invited[turn]
	if !ok || o.s.ids.Remove(o.id) == nil { // it is being ended
		return false
	}
	t.Take()
	delete(t.invited, turn)
	if o.send.unfit = !inv.fitsSend(o); o.send.unfit {
		o.stepState(match.SentWhole)
	} else {
		o.stepState(match.Cleared)
	}
	o.send.invited = inv.number
	return true
}

// afterFollow goes on when the send o, which follows an RTR, has left its queue.
func (o *op) afterFollow() {
	number := o.send.invited
	o.send.invited = 0
	if o.send.unfit {
		o.s.declineRTR(o, number)
		return
	}
	o.s.streamBytes(o, number, uint64(o.size))
}

// fitsSend tells whether the send o is the one that was invited.
func (i rtr) fitsSend(o *op) bool {
	return i.size == o.size && (i.signature == 0 || o.signature == 0 || i.signature == o.signature)
}

// declineRTR tells a receive that its message is not as invited.
func (s *Server) declineRTR(o *op, number uint64) {
	s.sendControl(int(o.peer), handlerRetracted, number, uint64(o.size), o.signature)
}

// endDeclined ends the receive o, whose message has other bytes or elements than it has asked for.
func (s *Server) endDeclined(o *op, size int64, signature uint64) {
	if s.endMismatched(o, signature) {
		return
	}
	s.keepError(o, s.misfitError(o, size))
}

// onRTR handles the RTR of a receive, in its turn.
func (s *Server) onRTR(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 5 || int64(args[3]) < 0 {
		s.reportFault(t, "RTR")
		return
	}
	env := envelope{key: args[0], turn: args[1], id: args[2], size: int64(args[3]), signature: args[4], invite: true}
	s.inTurn(t, env, nil)
}

// keepRTR keeps an RTR for a send to come, or takes it as the answer to the envelope of the send.
func (s *Server) keepRTR(env envelope, w *fult.Worker) {
	src := keySource(env.key)
	if s.retired[keyContext(env.key)] || s.e.Lock(src) == am.Failed {
		return
	}
	t := s.sendsOf(env.key)
	inv := rtr{number: env.id, size: env.size, signature: env.signature}
	passed := t.Passed(env.turn)
	id := t.offered[env.turn]
	if passed {
		delete(t.offered, env.turn)
	} else {
		t.invited[env.turn] = inv
	}
	s.e.Abandon(src)
	if passed {
		s.answerWithRTR(id, inv, w)
	}
}

// answerWithRTR takes an RTR as the answer to the envelope of the send with number id.
func (s *Server) answerWithRTR(id uint64, inv rtr, w *fult.Worker) {
	o := s.ids.Remove(id)
	if o == nil {
		return // the send has failed meanwhile
	}
	if inv.fitsSend(o) {
		o.stepState(match.Cleared)
		s.streamBytes(o, inv.number, uint64(o.size))
		return
	}
	s.declineRTR(o, inv.number)
	o.happenTo(match.NothingWanted, w)
}

// dropRTR drops an RTR that no send has followed, and tells the receiver. Called by the poller, in turn.
func (s *Server) dropRTR(env envelope) {
	src := keySource(env.key)
	if s.e.Lock(src) == am.Failed {
		return
	}
	t := s.sendsOf(env.key)
	_, waits := t.invited[env.turn]
	if waits {
		delete(t.invited, env.turn)
		t.Void(env.turn)
	}
	s.e.Abandon(src)
	if waits {
		s.sendControl(src, handlerRetracted, env.id)
	}
}

// forgetTurn forgets the turn of a send whose envelope is answered.
func (s *Server) forgetTurn(o *op) {
	if s.e.Lock(int(o.peer)) != am.Failed {
		delete(o.send.turns.offered, o.turn)
		s.e.Abandon(int(o.peer))
	}
}

// cancelRTR asks the sender to forget the RTR of the receive o; false if o has none.
func (s *Server) cancelRTR(o *op) bool {
	id, dst, key, turn := o.id, int(o.peer), makeKey(o.ctx, s.rank, int(o.tag)), o.turn
	if _, _, ok := o.word.Step(match.Protocol, match.Recall); !ok {
		return false
	}
	s.sendControl(dst, handlerRetract, id, key, turn)
	return true
}

// dropAsserts ends the promises of contexts that are retired, and what is counted for them. Called by the poller.
func (s *Server) dropAsserts(ctxs []uint16) {
	promised := false
	for _, ctx := range ctxs {
		if s.assertedOf(ctx) != 0 {
			promised = true
			s.Assert(ctx, 0)
		}
	}
	if promised {
		s.dropTurns(func(ctx uint16) bool { return slices.Contains(ctxs, ctx) })
	}
}

func (s *Server) dropTurns(in func(ctx uint16) bool) {
	s.receives.mu.Lock()
	for key := range s.receives.keys {
		if in(keyContext(key)) {
			delete(s.receives.keys, key)
		}
	}
	s.receives.mu.Unlock()
	s.sends.Range(func(key, _ any) bool {
		if in(keyContext(key.(uint64))) {
			s.sends.Delete(key) // sends that are under way go on with what they have of it
		}
		return true
	})
}
