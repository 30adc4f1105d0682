package comm

import (
	stdcontext "context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/progress"
)

// probes are the calls that wait for a message that they do not receive. Arrivals without a receive wake them.
type probes struct {
	n    atomic.Int32 // length of list: arrivals pass by without the lock
	mu   sync.Mutex   // guards list; no lock is taken under it
	list []*prober
}

// prober is a probe that waits. The one that takes it off the list may set err, and completes done.
type prober struct {
	done progress.Done
	op   pending.Op
	err  error // why it ends
}

// probeOp describes a probe for the function call.
func (s *Server) probeOp(call string, ctx uint16, src, tag int) *pending.Op {
	return &pending.Op{
		Kind: pending.Probe, Call: call, Context: ctx, Peer: src, Tag: tag, Thread: s.eng.Current(),
	}
}

// probeUntil waits until found says yes. It looks again after each message that finds no receive: it registers first
// and looks then, and an arrival waits before it looks for probes.
func (s *Server) probeUntil(until stdcontext.Context, p *pending.Op, found func() bool) error {
	if s.eng.Poll(); found() {
		return nil
	}
	if err := s.mayWait("probe", p.Peer, AnyTag); err != nil {
		return err
	}
	if until != nil {
		defer stdcontext.AfterFunc(until, func() { s.wakeProbers(nil) })()
	}
	x := &prober{op: *p}
	for {
		x.done.Reset()
		s.probes.addProbe(x)
		if found() {
			s.probes.dropProbe(x)
			return nil
		}
		if err := s.checkProbe(until, p); err != nil {
			s.probes.dropProbe(x)
			return err
		}
		if s.eng.Wait(&x.done); x.err != nil {
			return x.err
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
	if s.isRevoked(p.Context) {
		return ErrCancelled
	}
	if p.Peer < 0 {
		return s.doubtedError(p.Context)
	}
	if !s.e.Gone(p.Peer) {
		return nil
	}
	return s.e.PeerError(p.Peer)
}

func (x *probes) addProbe(p *prober) {
	x.mu.Lock()
	x.list = append(x.list, p)
	x.mu.Unlock()
	x.n.Add(1)
}

func (x *probes) dropProbe(p *prober) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := slices.Index(x.list, p); i >= 0 {
		x.list = slices.Delete(x.list, i, i+1)
		x.n.Add(-1)
	}
}

// wakeProbers makes all waiting probes look again.
func (s *Server) wakeProbers(w *fult.Worker) {
	x := &s.probes
	x.mu.Lock()
	woken := x.list
	x.list = nil
	x.n.Add(-int32(len(woken)))
	x.mu.Unlock()
	for _, p := range woken {
		p.done.Complete(w)
	}
}

// endProbes ends the probes for which why gives an error.
func (s *Server) endProbes(why func(*pending.Op) error, w *fult.Worker) {
	x := &s.probes
	var ended []*prober
	x.mu.Lock()
	left := x.list[:0]
	for _, p := range x.list {
		if p.err = why(&p.op); p.err != nil {
			ended = append(ended, p)
		} else {
			left = append(left, p)
		}
	}
	clear(x.list[len(left):])
	x.list = left
	x.n.Add(-int32(len(ended)))
	x.mu.Unlock()
	for _, p := range ended {
		p.done.Complete(w)
	}
}

// eachProbe shows the waiting probes.
func (s *Server) eachProbe(show func(*pending.Op)) {
	s.probes.mu.Lock()
	defer s.probes.mu.Unlock()
	for _, p := range s.probes.list {
		show(&p.op)
	}
}
