package comm

import (
	stdcontext "context"
	"fmt"

	"github.com/golci/golci/internal/observe/pending"
)

// Message is a message taken out of the matching by Mprobe, to be received by Mrecv (MPI 3.8.2).
type Message struct{ m *op }

// Iprobe polls once and looks, without receiving it, for the oldest message that a receive with these arguments would
// get. It does not block (MPI 3.8.1).
func (s *Server) Iprobe(ctx uint16, src, tag int) (Status, bool, error) {
	_, st, ok, err := s.probeOnce(ctx, src, tag, false)
	return st, ok, err
}

// Improbe polls once and takes the oldest message that a receive with these arguments would get; nil if there is none.
func (s *Server) Improbe(ctx uint16, src, tag int) (*Message, Status, error) {
	m, st, _, err := s.probeOnce(ctx, src, tag, true)
	return m, st, err
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
	_, st, err = s.probeUntil(until, call, ctx, src, tag, false)
	return st, err
}

// Mprobe is Improbe that blocks until there is such a message.
func (s *Server) Mprobe(ctx uint16, src, tag int) (msg *Message, st Status, err error) {
	return s.MprobeContext(never, "Mprobe", ctx, src, tag)
}

// MprobeContext is Mprobe as ProbeContext is Probe.
func (s *Server) MprobeContext(
	until stdcontext.Context, call string, ctx uint16, src, tag int,
) (msg *Message, st Status, err error) {
	return s.probeUntil(until, call, ctx, src, tag, true)
}

// probeOnce polls once and looks for a message, and takes it if take says so.
func (s *Server) probeOnce(ctx uint16, src, tag int, take bool) (msg *Message, st Status, ok bool, err error) {
	if err := s.checkArgs("probe", ctx, src, tag, true); err != nil {
		return nil, Status{}, false, err
	}
	s.eng.Poll()
	msg, st, ok = s.findOldest(ctx, src, tag, take)
	return msg, st, ok, nil
}

// findOldest looks for the oldest message, and takes it out of the matching if take says so.
func (s *Server) findOldest(ctx uint16, src, tag int, take bool) (msg *Message, st Status, ok bool) {
	p := patternOf(src, tag)
	if !take {
		st, ok = s.matching.lookFor(ctx, p)
		return nil, st, ok
	}
	var m *op
	if s.assertedOf(ctx)&firstNeeds == firstNeeds {
		m = s.removeUnexpected(func() *op { return s.matching.takeMessage(ctx, p) })
	} else {
		m = s.matching.takeMessage(ctx, p)
	}
	if m == nil {
		return nil, Status{}, false
	}
	return &Message{m}, Status{Source: int(m.peer), Tag: int(m.tag), Bytes: m.size}, true
}

// probeUntil waits until there is a message, and takes it if take says so. It looks again after each message that finds
// no receive: it registers first and looks then, and an arrival waits before it looks for probes.
func (s *Server) probeUntil(
	until stdcontext.Context, call string, ctx uint16, src, tag int, take bool,
) (msg *Message, st Status, err error) {
	msg, st, ok, err := s.probeOnce(ctx, src, tag, take)
	if ok || err != nil {
		return msg, st, err
	}
	if err := s.mayWait("probe", src, AnyTag); err != nil {
		return nil, Status{}, err
	}
	if until != nil {
		defer stdcontext.AfterFunc(until, func() { s.wakeProbers(nil) })()
	}
	x := &prober{op: pending.Op{
		Kind: pending.Probe, Call: call, Context: ctx, Peer: src, Tag: tag, Thread: s.eng.Current(),
	}}
	for {
		x.done.Reset()
		s.probes.addProbe(x)
		if msg, st, ok = s.findOldest(ctx, src, tag, take); ok {
			s.probes.dropProbe(x)
			return msg, st, nil
		}
		if err := s.checkProbe(until, &x.op); err != nil {
			s.probes.dropProbe(x)
			return nil, Status{}, err
		}
		if s.eng.Wait(&x.done); x.err != nil {
			return nil, Status{}, x.err
		}
	}
}

// checkProbe tells why a probe has nothing to wait for. What ends a probe is stored before waiting probes are ended,
// and this is called by one that is listed: it sees the reason, or is ended.
func (s *Server) checkProbe(until stdcontext.Context, p *pending.Op) error {
	if until != nil && until.Err() != nil {
		return fmt.Errorf("%w: %w", ErrCancelled, stdcontext.Cause(until))
	}
	if s.closed.Load() {
		return s.checkArgs("probe", 0, 0, 0, false)
	}
	return s.endedError(p.Context, p.Peer)
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
	return s.startOp(o, opt, func(o *op) {
		o.exact = o.recv.alloc == nil && s.assertedOf(o.ctx)&ExactLength != 0
		if s.deliverKept(o, m) {
			o.done.Finish()
		}
	}), nil
}
