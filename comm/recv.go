package comm

import (
	"errors"

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

// recvReported is Recv where somebody is told of waits.
func (s *Server) recvReported(ctx uint16, src, tag int, buf []byte) (Status, error) {
	if err := s.mayWait("receive", src, tag); err != nil {
		return Status{}, err
	}
	return s.recvAndWait(s.newRecv(ctx, src, tag, buf))
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

// checkRecv validates the arguments of a receive.
func (s *Server) checkRecv(ctx uint16, src, tag int, opt *Options) error {
	if err := s.checkArgs("receive", ctx, src, tag, true); err != nil || opt == nil {
		return err
	}
	if opt.Target != nil {
		if n := opt.Target.Len(); n < 0 {
			return s.badCursor("receive", src, tag, n)
		}
	}
	if opt.Alloc != nil {
		return s.checkAlloc(ctx, src, tag)
	}
	return nil
}

// beginRecv makes a receive, for its caller to post.
func (s *Server) beginRecv(ctx uint16, src, tag int, buf []byte, opt *Options) *op {
	o := s.newRecv(ctx, src, tag, buf)
	if opt != nil {
		o.setRecvOptions(opt)
	}
	return o
}

func (o *op) setRecvOptions(opt *Options) {
	o.recv.alloc, o.endable, o.alone, o.signature = opt.Alloc, opt.Endable, opt.Alone, opt.Signature
	if opt.Target != nil {
		o.cursor = opt.Target
	}
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
		if s.deliverKept(o, m) {
			o.done.Finish()
		}
	} else if s.e.AnyGone() || s.revoked.Load() != nil {
		s.postLate(o)
	}
}

// postLate looks once more at a receive o that has been posted and has found no message. It ends o with an error if the
// source of o is gone, or its communicator is revoked. failLost and retireContexts first set their flags, and then
// search the posted receives. So where a flag is set, one side or the other withdraws o, and only one can.
func (s *Server) postLate(o *op) {
	p := o.postedPattern()
	if err := s.endedError(o.ctx, int(p.Source)); err != nil && s.matching.withdrawReceive(o.ctx, p, o) {
		o.endWith(err)
		o.done.Finish()
	}
}

// endWith notes why the receive o ends, which nobody else has in hand.
func (o *op) endWith(err error) {
	o.cancelled = errors.Is(err, ErrCancelled)
	_, o.paused = err.(*refusal)
	o.err = o.failedWith(err)
}
