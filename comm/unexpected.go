package comm

import (
	"sync/atomic"

	"github.com/golci/golci/fult"
)

// storeUnexpected stores a message without a receive, unless one has been posted meanwhile.
func (s *Server) storeUnexpected(env envelope, payload []byte, w *fult.Worker) {
	if s.refuseUnmatched(env) {
		return
	}
	m := s.makeUnexpected(env, payload, w)
	s.afterKeep(s.matching.keepMessage(m), m, env.key, w)
}

// refuseUnmatched drops a message without a receive in a context that is retired; false if it is not. Called by the
// poller.
func (s *Server) refuseUnmatched(env envelope) bool {
	if len(s.retired) == 0 || !s.retired[keyContext(env.key)] {
		return false
	}
	if env.rts {
		s.sendControl(keySource(env.key), handlerRetracted, env.id, 1)
	}
	return true
}

// makeUnexpected makes the op of a message without a receive.
func (s *Server) makeUnexpected(env envelope, payload []byte, w *fult.Worker) *op {
	src := keySource(env.key)
	m := s.getMessage()
	m.startUse(roleEager, keyContext(env.key), int32(src), int32(keyTag(env.key)), nil)
	s.arrived++
	m.size, m.msg.stamp, m.signature = env.size, s.arrived, env.signature
	if env.rts {
		s.envelopes.Add(1)
		m.role, m.id, m.msg.from, m.receiverFirst, m.turn = roleRTS, env.id, env.from, env.receiverFirst, env.turn
		return m
	}
	if len(payload) <= smallBytes {
		m.data = m.msg.small[:copy(m.msg.small[:], payload)]
	} else {
		m.msg.packet = s.packets.getPacket(w, len(payload))
		m.data = m.msg.packet.mem[:copy(m.msg.packet.mem, payload)]
	}
	s.addUnmatched(src, m.unexpectedCost())
	return m
}

// afterKeep goes on with the message m of that key: a receive o was posted meanwhile, or, if that is nil, m waits.
func (s *Server) afterKeep(o, m *op, key uint64, w *fult.Worker) {
	if o != nil {
		if s.deliverTo(o, m) {
			o.finishOp(w)
		}
		return
	}
	if s.probes.n.Load() != 0 {
		s.wakeProbers(w)
	}
	if s.listeners.n.Load() != 0 {
		s.wakeSuspects(key, w)
	}
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

// discardMessage frees a message that nobody receives.
func (s *Server) discardMessage(m *op) {
	if m.role == roleEager {
		s.peers[m.peer].unexpected.Add(-m.unexpectedCost())
		if m.msg.packet != nil {
			s.packets.putPacket(-1, m.msg.packet)
			m.msg.packet = nil
		}
	}
	s.putOp(m)
}

// unexpectedCost is what an unexpected message counts against its sender's limit, in bytes.
func (o *op) unexpectedCost() int64 { return int64(len(o.data)) + opOverhead }

// opOverhead is the memory of an unexpected message beside its bytes, about.
const opOverhead = 320

// Unmatched eager messages take memory of the receiver. It bounds what it keeps of one sender, and what it keeps of
// all of them together: a sender beyond the first bound, and any sender while the sum is beyond the second, is
// throttled, so that it sends envelopes only. What the credits of a sender cover may still come.

// Bounds of unmatched eager bytes, where Config.Unexpected gives none.
const (
	UnexpectedBudget = 128 << 20 // of all senders together
	leastUnexpected  = 1 << 20   // of one sender
)

// weighParts: the sum is taken anew when this part of the budget has come since. So it is never further off, and
// costs no atomic operation a message, which a common count would.
const weighParts = 16

// unexpectedBudget is the receiver's book of unmatched eager bytes. The poller
// owns it; other goroutines may only decrease the count of a peer.
type unexpectedBudget struct {
	limit     int64   // of one sender
	budget    int64   // of all senders together
	fresh     int64   // bytes that have come since the sum was taken
	full      bool    // the sum is near the budget, and has not fallen to half of it since
	throttled []int32 // senders that are
}

// bounds sets the limits for a job of size ranks; limit is that of one sender, or 0.
func (u *unexpectedBudget) bounds(limit int64, size int) {
	if limit == 0 {
		limit = max(leastUnexpected, UnexpectedBudget/int64(max(1, size-1)))
	}
	u.limit, u.budget = limit, max(UnexpectedBudget, limit)
}

// weigh takes the sum.
func (u *unexpectedBudget) weigh(peers []peer) {
	u.fresh = 0
	sum := int64(0)
	for i := range peers {
		sum += peers[i].unexpected.Load()
	}
	switch {
	case sum > u.budget-u.budget/weighParts:
		u.full = true
	case sum <= u.budget/2:
		u.full = false
	}
}

// addUnmatched notes n bytes of src that found no receive, and throttles src if they are too many.
func (s *Server) addUnmatched(src int, n int64) {
	p, u := &s.peers[src], &s.unmatched
	kept := p.unexpected.Add(n)
	if u.fresh += n; u.fresh >= u.budget/weighParts {
		u.weigh(s.peers)
	}
	if (kept > u.limit || u.full) && !p.throttled {
		p.throttled = true
		u.throttled = append(u.throttled, int32(src))
		s.e.WantTick(true)
		s.e.Throttle(src, true)
	}
}

// weighEvery: while the budget is used up, one poll in so many takes the sum.
const weighEvery = 64

// UnexpectedBytes is how many bytes of messages without a receive are kept. It reads a number of each peer.
func (s *Server) UnexpectedBytes() (n int64) {
	for i := range s.peers {
		n += s.peers[i].unexpected.Load()
	}
	return n
}

// unthrottle lets senders go on whose unmatched bytes have fallen to half the limit, unless the budget is used up.
func (s *Server) unthrottle() {
	u := &s.unmatched
	if u.full && s.ticks%weighEvery == 0 {
		u.weigh(s.peers)
	}
	if u.full {
		return
	}
	rest := u.throttled[:0]
	for _, src := range u.throttled {
		p := &s.peers[src]
		if p.unexpected.Load() > u.limit/2 {
			rest = append(rest, src)
			continue
		}
		p.throttled = false
		s.e.Throttle(int(src), false)
	}
	u.throttled = rest
	s.e.WantTick(len(rest) > 0)
}

// peer is what the poller keeps of one sender, in 16 bytes, since there is one for each rank of the job.
type peer struct {
	expect     uint16 // sequence number of the next envelope
	throttled  bool
	holds      bool         // Server.held has envelopes of it
	offers     atomic.Int32 // sends to it under way whose bytes it may copy directly; anyone changes it
	unexpected atomic.Int64 // unmatched eager bytes; anyone may subtract
}
