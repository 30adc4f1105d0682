package comm

import stdcontext "context"

// Message is a message taken out of the matching by Mprobe, to be received by Mrecv (MPI 3.8.2).
type Message struct{ m *op }

// Iprobe polls once and looks, without receiving it, for the oldest message that a receive with these arguments would
// get. It does not block (MPI 3.8.1).
func (s *Server) Iprobe(ctx uint16, src, tag int) (Status, bool, error) {
	if err := s.checkArgs("probe", ctx, src, tag, true); err != nil {
		return Status{}, false, err
	}
	s.eng.Poll()
	st, ok := s.matching.lookFor(ctx, patternOf(src, tag))
	return st, ok, nil
}

// never is the context of a wait that no context ends.
var never stdcontext.Context

// Probe is Iprobe that blocks until there is such a message.
func (s *Server) Probe(ctx uint16, src, tag int) (st Status, err error) {
	return s.ProbeContext(never, "Probe", ctx, src, tag)
}

// ProbeContext is Probe that ends with ErrCancelled when until does; nil never does. call is what a report shows.
func (s *Server) ProbeContext(
	until stdcontext.Context, call string, ctx uint16, src, tag int,
) (st Status, err error) {
	if err := s.checkArgs("probe", ctx, src, tag, true); err != nil {
		return Status{}, err
	}
	err = s.probeUntil(until, s.probeOp(call, ctx, src, tag), func() (ok bool) {
		st, ok = s.matching.lookFor(ctx, patternOf(src, tag))
		return ok
	})
	return st, err
}

// Improbe polls once and takes the oldest message that a receive with these arguments would get; nil if there is none.
func (s *Server) Improbe(ctx uint16, src, tag int) (*Message, Status, error) {
	if err := s.checkArgs("probe", ctx, src, tag, true); err != nil {
		return nil, Status{}, err
	}
	s.eng.Poll()
	m, st := s.extractOldest(ctx, src, tag)
	return m, st, nil
}

// extractOldest takes the oldest message out of the matching.
func (s *Server) extractOldest(ctx uint16, src, tag int) (*Message, Status) {
	take := func() *op { return s.matching.takeMessage(ctx, patternOf(src, tag)) }
	var m *op
	if s.assertedOf(ctx)&firstNeeds == firstNeeds {
		m = s.removeUnexpected(take)
	} else {
		m = take()
	}
	if m == nil {
		return nil, Status{}
	}
	return &Message{m}, Status{Source: int(m.peer), Tag: int(m.tag), Bytes: m.size}
}

// Mprobe is Improbe that blocks until there is such a message.
func (s *Server) Mprobe(ctx uint16, src, tag int) (msg *Message, st Status, err error) {
	return s.MprobeContext(never, "Mprobe", ctx, src, tag)
}

// MprobeContext is Mprobe as ProbeContext is Probe.
func (s *Server) MprobeContext(
	until stdcontext.Context, call string, ctx uint16, src, tag int,
) (msg *Message, st Status, err error) {
	if err := s.checkArgs("probe", ctx, src, tag, true); err != nil {
		return nil, Status{}, err
	}
	err = s.probeUntil(until, s.probeOp(call, ctx, src, tag), func() bool {
		msg, st = s.extractOldest(ctx, src, tag)
		return msg != nil
	})
	return msg, st, err
}

// Mrecv receives a message that Mprobe took, once; it may block for the bytes of a large one.
func (s *Server) Mrecv(msg *Message, buf []byte) (Status, error) {
	r, err := s.Imrecv(msg, buf, nil)
	if err != nil {
		return Status{}, err
	}
	return s.Wait(r)
}

// Imrecv starts to receive a message that Mprobe took. opt may be nil; it has no Done.
func (s *Server) Imrecv(msg *Message, buf []byte, opt *Options) (Req, error) {
	if opt != nil && opt.Target != nil && opt.Target.Len() < 0 {
		return Req{}, s.badCursor("receive", AnySource, AnyTag, opt.Target.Len())
	}
	if msg == nil || msg.m == nil {
		return Req{}, staleError()
	}
	m := msg.m
	if s.closed.Load() {
		return Req{}, s.checkArgs("receive", m.ctx, int(m.peer), int(m.tag), false)
	}
	msg.m = nil
	o := s.beginRecv(m.ctx, int(m.peer), int(m.tag), buf, opt)
	if o.form = Nonblocking; opt != nil {
		o.form = opt.Form
	}
	r := Req{o, o.gen}
	o.exact = o.recv.alloc == nil && s.assertedOf(o.ctx)&ExactLength != 0
	if s.deliverTo(o, m) {
		o.done.Finish()
	}
	return r, nil
}
