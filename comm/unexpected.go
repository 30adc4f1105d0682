package comm

import (
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/pool"
)

// storeUnexpected keeps a message without a receive, unless one has been posted meanwhile.
func (s *Server) storeUnexpected(env envelope, payload []byte, w *fult.Worker) {
	if s.refuseUnmatched(env) {
		return
	}
	m, o := s.makeUnexpected(env, payload, w), (*op)(nil)
	if env.receiverFirst {
		var crossed bool
		if o, crossed = s.keepInTurn(m); crossed {
			s.putOp(m)
			return
		}
	} else {
		o = s.matching.keepMessage(m)
	}
	if o != nil {
		if s.deliverKept(o, m) {
			o.done.Complete(w)
		}
		return
	}
	if s.probes.n.Load() != 0 {
		s.wakeProbers(w)
	}
	if s.listeners.n.Load() != 0 {
		s.wakeSuspects(env.key, w)
	}
}

// refuseUnmatched drops a message without a receive in a context that is retired; false if it is not. Called by the
// poller.
func (s *Server) refuseUnmatched(env envelope) bool {
	if len(s.retired) == 0 || !s.retired[keyContext(env.key)] {
		return false
	}
	if env.kind == kindRTS {
		s.e.PostUrgent(keySource(env.key), handlerRetracted, env.id, 1)
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
	if env.kind == kindRTS {
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

// keepInTurn is keepMessage for the envelope of a send that was not invited when it left. It has crossed an RTR if its
// turn has passed: that is the answer.
func (s *Server) keepInTurn(m *op) (o *op, crossed bool) {
	s.receives.mu.Lock()
	defer s.receives.mu.Unlock()
	if s.receives.turnsOf(m.tableKey()).Passed(m.turn) {
		return nil, true
	}
	return s.matching.keepMessage(m), false // o is a small receive, if any, which then says so
}

// deliverKept is deliver of the message m that was kept, and frees m.
func (s *Server) deliverKept(o, m *op) (done bool) {
	if m.receiverFirst && !o.receiverFirst { // o cannot have invited it, so an RTR will never have the turn of m
		s.receives.mu.Lock()
		s.receives.turnsOf(m.tableKey()).Void(m.turn)
		s.receives.mu.Unlock()
	}
	var ask *rts
	if m.role == roleRTS {
		ask = &rts{m.size, m.id, m.msg.from}
	}
	home := int(o.packetPool)
	done = s.deliver(o, m.tableKey(), m.signature, ask, m.data) // unless done o may be finished by others from here on
	s.freeMessage(m, home)
	return done
}

// freeMessage frees a message that has been received, or that nobody receives. home is the sub-pool for its packet.
func (s *Server) freeMessage(m *op, home int) {
	if m.role == roleEager {
		s.peers[m.peer].unexpected.Add(-m.unexpectedCost())
		if m.msg.packet != nil {
			s.packets.putPacket(home, m.msg.packet)
			m.msg.packet = nil
		}
	}
	s.putOp(m)
}

// removeUnexpected calls take, which takes a message out of the matching for other than a receive.
func (s *Server) removeUnexpected(take func() *op) *op {
	s.receives.mu.Lock()
	defer s.receives.mu.Unlock()
	m := take()
	if m != nil && m.receiverFirst {
		s.receives.turnsOf(m.tableKey()).Void(m.turn)
	}
	return m
}

// forgetEnvelope drops an envelope that has not been matched, and tells its sender. One that was matched is answered by
// its CTS.
func (s *Server) forgetEnvelope(env envelope) {
	m := s.removeUnexpected(func() *op { return s.matching.takeEnvelope(env.key, env.id) })
	if m == nil {
		return
	}
	s.putOp(m)
	s.e.PostUrgent(keySource(env.key), handlerRetracted, env.id)
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

// packet holds the bytes of an unexpected message that do not fit its op.
type packet struct {
	mem   []byte
	class uint8
	loose bool // not of a pool: the collector takes it
}

// packetClasses are the sizes of packets in bytes; the last is replaced by the eager limit.
var packetClasses = [...]int{512, 2048, DefaultEager}

// packetsPerWorker of each class are kept at most; a burst beyond it is served from the heap.
const packetsPerWorker = 1024

// packetPools are Fult's packet pools, one for each class, with a sub-pool for each worker.
type packetPools struct {
	sizes [len(packetClasses)]int
	pools [len(packetClasses)]*pool.Pool[packet]
}

func (p *packetPools) initPools(workers, eager int) (err error) {
	p.sizes = packetClasses
	p.sizes[len(p.sizes)-1] = eager
	for class, size := range p.sizes {
		p.pools[class], err = pool.New(pool.Options[packet]{
			Workers: workers,
			Limit:   workers * packetsPerWorker,
			New:     func() *packet { return &packet{mem: make([]byte, size), class: uint8(class)} },
			Poison:  func(x *packet) { poison(x.mem) },
			Check:   func(x *packet) bool { return poisoned(x.mem) },
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// getPacket gives a packet for n bytes to the poller that runs on w, or on no worker.
func (p *packetPools) getPacket(w *fult.Worker, n int) *packet {
	for class, size := range p.sizes {
		if n > size {
			continue
		}
		if x := p.pools[class].Get(packetPoolOf(w)); x != nil {
			return x
		}
		return &packet{mem: make([]byte, size), loose: true}
	}
	return &packet{mem: make([]byte, n), loose: true} // a peer with a larger eager limit
}

// putPacket gives a packet back to the sub-pool of the worker that has read it.
func (p *packetPools) putPacket(home int, x *packet) {
	if !x.loose {
		p.pools[x.class].Put(home, x)
	}
}

// packetPoolOf is the sub-pool of a worker, -1 for none.
func packetPoolOf(w *fult.Worker) int {
	if w == nil {
		return -1
	}
	return w.ID()
}

const poisonByte = 0xdb

func poison(b []byte) {
	for i := range b {
		b[i] = poisonByte
	}
}

func poisoned(b []byte) bool {
	for _, x := range b {
		if x != poisonByte {
			return false
		}
	}
	return true
}
