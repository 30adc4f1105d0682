package comm

import (
	"github.com/golci/golci/fult"
	"github.com/golci/golci/hashtable"
)

// Recv receives into buf a message of context ctx from rank src (or AnySource) with tag (or AnyTag). opt may be nil. It
// blocks until a message has been matched and copied; a fult thread lets others run. A message longer than the buffer
// or the Target gives ErrTruncate, and that holds its beginning. Errors: ErrClosed, ErrRank, ErrTag, ErrContext,
// ErrAssert; ErrBuffer for a Target of negative length.
func (s *Server) Recv(ctx uint16, src, tag int, buf []byte, opt *Options) (Status, error) {
	if s.closed.Load() || uint(src) >= uint(s.quick) || uint(tag) > MaxTag || ctx >= FirstAsserted || opt != nil {
		if err := s.checkRecv(ctx, src, tag, opt); err != nil {
			return Status{}, err
		}
		if opt != nil || s.isSized(ctx, len(buf)) {
			return s.recvWith(ctx, src, tag, buf, opt)
		}
		if s.waits != nil {
			return s.recvReported(ctx, src, tag, buf)
		}
	}
	if err := s.mayWait("receive", src, tag); err != nil {
		return Status{}, err
	}
	t := s.eng.Current()
	if t != nil {
		o := s.threadOp(t)
		o.prepareRecv(ctx, src, tag, buf)
		o.done.Expect(t)
		s.postReceive(o)
		if !o.done.Ready() && !s.eng.Linger(t, &o.done) {
			for !o.done.Ready() {
				t.Pause()
			}
		}
		st, err := o.statusOf(), o.err
		o.data = nil
		return st, err
	}
	o := s.newRecv(ctx, src, tag, buf)
	s.postReceive(o)
	s.eng.Wait(&o.done)
	st, err := o.statusOf(), o.err
	s.putOp(o)
	return st, err
}

// recvWith is Recv with options, of arguments that have been checked.
func (s *Server) recvWith(ctx uint16, src, tag int, buf []byte, opt *Options) (Status, error) {
	if err := s.mayWait("receive", src, tag); err != nil {
		return Status{}, err
	}
	return s.recvAndWait(s.beginRecv(ctx, src, tag, buf, opt))
}

// recvAndWait posts the receive o and waits for it.
func (s *Server) recvAndWait(o *op) (Status, error) {
	if t := s.eng.Current(); t != nil {
		o.done.Expect(t)
	}
	s.postOn(o)
	for {
		s.awaitOp(o)
		if st, err := s.useResult(Req{o, o.gen}); err == nil || err != errResumed {
			return st, err
		}
	}
}

// Irecv starts a receive and returns a request to wait for; the buffer or the Target must not be touched until then.
// opt may be nil. It never blocks. Errors as for Recv; truncation shows at the wait.
func (s *Server) Irecv(ctx uint16, src, tag int, buf []byte, opt *Options) (Req, error) {
	if s.closed.Load() || uint(src) >= uint(s.size) || uint(tag) > MaxTag || ctx >= FirstAsserted || opt != nil {
		if err := s.checkRecv(ctx, src, tag, opt); err != nil {
			return Req{}, err
		}
		if opt != nil || s.isSized(ctx, len(buf)) {
			return s.startOp(s.beginRecv(ctx, src, tag, buf, opt), opt, s.postOn), nil
		}
	}
	if src|tag < 0 {
		return s.startOp(s.newRecv(ctx, src, tag, buf), nil, s.postReceive), nil
	}
	// The common case, with as few steps as can be: newRecv and postReceive without a wildcard.
	o := s.free.receives.Get()
	if o == nil {
		o = newReceive(s)
	}
	o.beginUse(traits{role: roleRecv, form: Nonblocking}, ctx, int32(src), int32(tag), buf)
	r := Req{o, o.gen}
	n, ok := s.matching.table.InsertOrMatch(makeKey(ctx, src, tag), o.tableNode(), hashtable.Post)
	if n != nil || !ok || s.e.AnyGone() || s.revoked.Load() != nil {
		s.afterPost(o, opOf(n), ok)
	}
	return r, nil
}

func (s *Server) newRecv(ctx uint16, src, tag int, buf []byte) *op {
	o := s.free.receives.Get()
	if o == nil {
		o = newReceive(s)
	}
	o.prepareRecv(ctx, src, tag, buf)
	return o
}

func (o *op) prepareRecv(ctx uint16, src, tag int, buf []byte) {
	o.startUse(roleRecv, ctx, int32(src), int32(tag), buf)
	if src|tag < 0 { // AnySource or AnyTag
		o.wild, o.recv.posted = true, o.plainPattern()
	}
}

// postReceive matches the receive o with a message that has come, or leaves it where messages look. Called by the owner
// of o, before it waits.
func (s *Server) postReceive(o *op) { s.afterPost(o, s.matching.postReceive(o), true) }

// afterPost goes on after the receive o has met the message m, or waits, if that is nil. Unless ok the table has
// refused o.
func (s *Server) afterPost(o, m *op, ok bool) {
	if !ok {
		m = s.matching.postReceive(o)
	}
	if m != nil {
		if s.deliverTo(o, m) {
			o.done.Finish()
		}
	} else if s.e.AnyGone() || s.revoked.Load() != nil {
		s.postLate(o)
	}
}

// deliverTo copies m into o, or starts the rendezvous, and frees m. It reports whether o is finished. It is called once
// for o and m, by whoever has matched them.
func (s *Server) deliverTo(o, m *op) bool {
	if o.wild { // as in handTo
		o.peer, o.tag = m.peer, m.tag
	}
	if m.receiverFirst && !o.receiverFirst {
		s.skipTurnOf(m)
	}
	if s.endMismatched(o, m.signature) {
		if m.role == roleRTS {
			s.sendControl(int(m.peer), handlerCTS, m.id, 0, 0)
		}
		s.discardMessage(m)
		return true
	}
	if m.role == roleRTS {
		fin := s.beginRendezvous(o, m.size, m.id, m.msg.from)
		s.putOp(m)
		return fin
	}
	s.fillEager(o, m.data)
	s.peers[m.peer].unexpected.Add(-m.unexpectedCost())
	if m.msg.packet != nil {
		s.packets.putPacket(int(o.packetPool), m.msg.packet)
		m.msg.packet = nil
	}
	s.putOp(m)
	return true
}

// fillEager copies the bytes of an eager message into o.
func (s *Server) fillEager(o *op, payload []byte) {
	o.size = int64(len(payload))
	if o.recv.alloc != nil {
		o.data = o.recv.alloc(len(payload))
	}
	o.placeBytes(payload, 0)
	o.err = s.misfitError(o, o.size)
}

// unexpectedCost is what an unexpected message counts against its sender's limit, in bytes.
func (o *op) unexpectedCost() int64 { return int64(len(o.data)) + opOverhead }

// opOverhead is the memory of an unexpected message beside its bytes, about.
const opOverhead = 320

// finishOp completes o on behalf of its owner.
func (o *op) finishOp(w *fult.Worker) { o.done.Complete(w) }
