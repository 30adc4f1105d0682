package comm

import (
	"fmt"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/hashtable"
)

// Handler indices of the communication server.
const (
	handlerEager = am.FirstInternal + iota
	handlerRTS
	handlerCTS
	handlerRetract
	handlerRetracted
	handlerGo
	handlerCopied
)

func (s *Server) register() error {
	for i, spec := range map[uint8]am.Spec{
		handlerEager:     {Name: "eager", Run: s.onEager, Ordered: true},
		handlerRTS:       {Name: "ready to send", Run: s.onRTS, Ordered: true},
		handlerCTS:       {Name: "clear to send", Run: s.onCTS},
		handlerRetract:   {Name: "retract", Run: s.onRetract},
		handlerRetracted: {Name: "retracted", Run: s.onRetracted},
		handlerGo:        {Name: "go", Run: s.onGo},
		handlerCopied:    {Name: "copied", Run: s.onCopied},
	} {
		spec.MaxReply = am.NoReply
		if err := s.e.Register(i, spec); err != nil {
			return err
		}
	}
	return nil
}

// envelope is what there is to match of a message.
type envelope struct {
	key  uint64
	size int64
	id   uint64 // of the sender's op; of a rendezvous only
	addr uint64 // of the sender's bytes, if they can be copied directly
	rts  bool
}

// heldEnvelope came before its turn.
type heldEnvelope struct {
	envelope
	payload []byte
}

// onEager handles a message with its bytes.
func (s *Server) onEager(t *am.Token, args []uint64, payload []byte) {
	if len(args) != 1 {
		s.fault(t, "eager message")
		return
	}
	// The common case, with as few steps as can be: in turn, no wildcards about, and a receive waits.
	src := t.Source()
	if p := &s.peers[src]; t.Seq() == p.expect && p.held == nil && s.nwild.Load() == 0 && keySource(args[0]) == src {
		p.expect++
		n := s.table.Match(args[0], hashtable.Post)
		if n == nil {
			if args[0] >= hashtable.Reserved {
				s.fault(t, "context")
				return
			}
			s.keep(envelope{key: args[0], size: int64(len(payload))}, payload, t.Worker())
			return
		}
		o := &n.Value
		if o.alloc == nil && len(payload) <= len(o.data) {
			o.size = int64(len(payload))
			copy(o.data, payload)
		} else {
			s.fill(o, payload)
		}
		s.batch.Complete(&o.done, t.Worker())
		return
	}
	s.inTurn(t, envelope{key: args[0], size: int64(len(payload))}, payload)
}

// onRTS handles the envelope of a rendezvous.
func (s *Server) onRTS(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 4 || int64(args[1]) < 0 {
		s.fault(t, "envelope")
		return
	}
	s.inTurn(t, envelope{key: args[0], size: int64(args[1]), id: args[2], addr: args[3], rts: true}, nil)
}

func (s *Server) fault(t *am.Token, what string) {
	s.e.Fault(fmt.Errorf("%w: rank %d: malformed %s from rank %d", ErrProtocol, s.rank, what, t.Source()))
}

// inTurn handles envelopes in the order in which they were sent; one that overtook another waits in a copy.
func (s *Server) inTurn(t *am.Token, env envelope, payload []byte) {
	src, w := t.Source(), t.Worker()
	if keySource(env.key) != src || env.key >= hashtable.Reserved {
		s.fault(t, "source or context")
		return
	}
	p := &s.peers[src]
	if t.Seq() != p.expect {
		if p.held == nil {
			p.held = make(map[uint16]heldEnvelope)
		}
		p.held[t.Seq()] = heldEnvelope{env, append([]byte(nil), payload...)}
		return
	}
	p.expect++
	s.arrive(env, payload, w)
	for p.held != nil {
		h, ok := p.held[p.expect]
		if !ok {
			return
		}
		delete(p.held, p.expect)
		if len(p.held) == 0 {
			p.held = nil
		}
		p.expect++
		s.arrive(h.envelope, h.payload, w)
	}
}

// arrive matches a message with a receive, or keeps it. Called by the poller, in the order of the pair.
func (s *Server) arrive(env envelope, payload []byte, w *fult.Worker) {
	if s.nwild.Load() != 0 && s.arriveAmongWild(env, payload, w) {
		return
	}
	if n := s.table.Match(env.key, hashtable.Post); n != nil {
		s.hand(&n.Value, env, payload, w)
		return
	}
	s.keep(env, payload, w)
}

// hand gives a message that has just come to the receive o, which the caller has claimed.
func (s *Server) hand(o *op, env envelope, payload []byte, w *fult.Worker) {
	if o.wild { // else they are the same, and may be read meanwhile by who waits
		o.peer, o.tag = int32(keySource(env.key)), int32(keyTag(env.key))
	}
	if env.rts {
		if !s.beginRendezvous(o, env.size, env.id, env.addr) {
			return
		}
	} else {
		s.fill(o, payload)
	}
	o.finish(w)
}

// keep stores a message without a receive. It goes into its arrival list first and then into the table, so that a
// wildcard that is posted meanwhile either finds it in the list and can claim it in the table, or is seen here after.
func (s *Server) keep(env envelope, payload []byte, w *fult.Worker) {
	m := s.unexpected(env, payload, w)
	stamp := m.stamp // once m is in the table it may be claimed, freed and used again
	s.link(m)
	if n := s.table.InsertOrMatch(env.key, m.node(), hashtable.Arrive); n != nil {
		s.unlink(m)
		if o := &n.Value; s.deliver(o, m) {
			o.finish(w)
		}
		return
	}
	if s.nwild.Load() != 0 {
		s.rematch(env.key, stamp, w)
	}
	if s.probers.Load() != 0 {
		s.wakeProbers(w)
	}
}

// unexpected makes the op of a message without a receive.
func (s *Server) unexpected(env envelope, payload []byte, w *fult.Worker) *op {
	m := s.getOp()
	m.start(roleEager)
	src := keySource(env.key)
	m.ctx, m.peer, m.tag, m.size = keyContext(env.key), int32(src), int32(keyTag(env.key)), env.size
	m.stamp = s.stamp.Add(1)
	if env.rts {
		m.role, m.id, m.addr = roleRTS, env.id, env.addr
		return m
	}
	if len(payload) <= smallBytes {
		m.data = m.small[:copy(m.small[:], payload)]
	} else {
		m.packet = s.packets.get(w, len(payload))
		m.data = m.packet.mem[:copy(m.packet.mem, payload)]
	}
	p := &s.peers[src]
	if p.unexpected.Add(m.cost()) > s.limit && !p.throttled {
		p.throttled = true
		s.nthrottle++
		s.e.WantTick(true)
		s.e.Throttle(src, true)
	}
	return m
}

// link puts m at the end of its source's arrival list.
func (s *Server) link(m *op) {
	l := &s.lists[m.peer]
	l.mu.Lock()
	m.linked = true
	m.prevArrival, m.nextArrival = l.tail, nil
	if l.tail == nil {
		l.head = m
	} else {
		l.tail.nextArrival = m
	}
	l.tail = m
	l.mu.Unlock()
}

// unlink takes m, which the caller has claimed, out of its list.
func (s *Server) unlink(m *op) {
	l := &s.lists[m.peer]
	l.mu.Lock()
	if m.linked {
		m.linked = false
		if m.prevArrival == nil {
			l.head = m.nextArrival
		} else {
			m.prevArrival.nextArrival = m.nextArrival
		}
		if m.nextArrival == nil {
			l.tail = m.prevArrival
		} else {
			m.nextArrival.prevArrival = m.prevArrival
		}
		m.prevArrival, m.nextArrival = nil, nil
	}
	l.mu.Unlock()
}
