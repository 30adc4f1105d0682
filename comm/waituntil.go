package comm

import (
	"bytes"
	stdcontext "context"
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/internal/progress"
)

// A send that its caller gives up before it is done goes on with memory of its own. It ends for the caller at once.
// The last one that holds it frees it.
//
// That needs operations whose bytes the peer cannot reach by their address: endable ones. The envelope of an endable
// send carries no address and its bytes are not lent to the conduit. The message of an endable receive is fetched by
// its receiver alone, or comes in pieces.

// firstPolls are made before a wait asks its context to tell when it ends, which allocates.
const firstPolls = 64

// WaitContext is Wait that ends r when one of ctxs ends: with ErrCancelled and the cause of that, and r is used up.
// If r cannot be ended now (see End), it is ErrPending instead, and r stays as it is, to be waited for again. An
// endable receive that cannot be ended now is waited for.
func (s *Server) WaitContext(r Req, ctxs ...stdcontext.Context) (Status, error) {
	if r.o == nil {
		return s.Wait(r)
	}
	if r.isStale() {
		return Status{}, staleError()
	}
	st, err := s.waitOrEnd(r, ctxs)
	for err != nil && err == errResumed {
		st, err = s.waitOrEnd(r, ctxs)
	}
	if why := cause(ctxs); st.Cancelled && why != nil {
		err = because(err, why)
	}
	return st, err
}

// waitOrEnd waits for r, ends it when one of ctxs ends, and uses it up.
func (s *Server) waitOrEnd(r Req, ctxs []stdcontext.Context) (Status, error) {
	if err := s.AwaitAllContext([]Req{r}, ctxs...); err != nil {
		return Status{}, err
	}
	if !r.o.done.Ready() && !s.endLate(r, ctxs) {
		if !r.o.endable {
			return Status{}, fmt.Errorf("%w: %w", ErrPending, cause(ctxs))
		}
		s.eng.Wait(&r.o.done) // a message on its way would be lost
	}
	return s.useResult(r)
}

// endLate is End of an operation that one of ctxs, which has ended, bounds.
func (s *Server) endLate(r Req, ctxs []stdcontext.Context) bool {
	if r.o.role == roleCall {
		return s.StopCall(r, fmt.Errorf("%w: %w", ErrCancelled, cause(ctxs))) && r.o.done.Ready()
	}
	return s.End(r)
}

// because adds to the error of an operation why it was ended.
func because(err, why error) error {
	if e, ok := err.(*OpError); ok { // nobody else has it
		e.Err = fmt.Errorf("%w: %w", e.Err, why)
		return e
	}
	return fmt.Errorf("%w: %w", err, why)
}

// cause tells why one of ctxs has ended, nil if none has.
func cause(ctxs []stdcontext.Context) error {
	for _, ctx := range ctxs {
		if ctx.Err() != nil {
			return stdcontext.Cause(ctx)
		}
	}
	return nil
}

// AwaitAllContext is AwaitAll that also returns when one of ctxs ends.
func (s *Server) AwaitAllContext(rs []Req, ctxs ...stdcontext.Context) error {
	for range firstPolls {
		if ready(rs, true) {
			return nil
		}
		s.eng.Poll()
	}
	return s.awaitOr(rs, ctxs, func(ds, ends []*progress.Done) {
		pair := append(ends, nil)
		for _, d := range ds {
			if d == nil || d.Ready() {
				continue
			}
			pair[len(ends)] = d
			if s.eng.WaitAny(pair); !d.Ready() {
				return
			}
		}
	})
}

// AwaitAnyContext is AwaitAny that also returns when one of ctxs ends.
func (s *Server) AwaitAnyContext(rs []Req, ctxs ...stdcontext.Context) error {
	if ready(rs, false) {
		return nil
	}
	return s.awaitOr(rs, ctxs, func(ds, ends []*progress.Done) { s.eng.WaitAny(append(ds, ends...)) })
}

// ready reports whether all of rs are done, or any.
func ready(rs []Req, all bool) bool {
	for _, r := range rs {
		if r.Ready() != all {
			return !all
		}
	}
	return all
}

// awaitOr has wait block for rs or for the end of a context.
func (s *Server) awaitOr(rs []Req, ctxs []stdcontext.Context, wait func(ds, ends []*progress.Done)) error {
	if err := s.mayWait("wait for operations", AnySource, AnyTag); err != nil {
		return err
	}
	ends, release := endsOf(ctxs)
	defer release()
	ds, err := s.collectPending(rs, nil)
	if err == nil {
		since := s.manyBegin()
		wait(ds, ends)
		s.manyEnd(since)
	}
	return err
}

// endsOf gives what is completed when the contexts end, and what lets go of them.
func endsOf(ctxs []stdcontext.Context) (ends []*progress.Done, release func()) {
	stops := make([]func() bool, len(ctxs))
	ends = make([]*progress.Done, len(ctxs), len(ctxs)+1)
	for i, ctx := range ctxs {
		d := new(progress.Done)
		ends[i] = d
		stops[i] = stdcontext.AfterFunc(ctx, func() { d.Complete(nil) })
	}
	return ends, func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// End ends r now if that can be done without waiting for the peer, and reports whether r is done. Its bytes are then
// the caller's again. What is not matched ends with ErrCancelled; so does a send whose envelope the peer has, if it
// is endable: its bytes are copied, and the peer gets all of them or is told to forget the envelope. A large message
// that this rank alone copies is received. A receive whose message comes in pieces does not end.
func (s *Server) End(r Req) bool {
	switch o := r.o; {
	case o == nil || r.isStale() || o.done.Ready():
		return true
	case o.role == roleCall:
		return s.StopCall(r, ErrCancelled) && o.done.Ready()
	case o.role == roleRecv:
		return s.endRecv(o)
	default:
		return s.endSend(o)
	}
}

func (s *Server) endRecv(o *op) bool {
	if s.cancelRecv(o) {
		return true
	}
	underway := false
	s.e.AsPoller(func() { underway = !o.done.Ready() }) // the poller has no message for it in hand any more
	if !underway {
		return true
	}
	if !o.endable || o.word.State() != match.RecvGetting {
		return false
	}
	s.settleOp(o)
	return true
}

// settleOp polls until o, which depends on no peer any more, is done. It is no wait, because o may have a waiter.
func (s *Server) settleOp(o *op) {
	for !o.done.Ready() {
		s.eng.Poll()
		s.eng.Yield()
	}
}

func (s *Server) endSend(o *op) bool {
	switch {
	case s.withdrawSend(o):
	case !o.endable:
		return o.done.Ready()
	default:
		s.leaveWithCopy(o)
	}
	s.settleOp(o) // a poller that has it in hand, from its queue, its number or its bytes, is about to end it
	return true
}

// leaveWithCopy lets the send o, which has left its queue, go on with a copy of its bytes, unless it is being ended.
// Its caller need not wait any more. No answer comes in between, and nothing is sent of bytes that change.
func (s *Server) leaveWithCopy(o *op) {
	left := false
	s.e.AsPoller(func() {
		if o.word.State() == match.SendStreaming {
			left = s.e.SwapBulk(int(o.peer), (*bulkSend)(o), func(b *am.Bulk) {
				o.detach()
				b.Data, b.From = o.data[b.Off:b.Off+int64(b.Left())], nil
			}) && o.word.Leave()
			return
		}
		if left = s.ids.Get(o.id) == o && o.word.Leave(); left {
			o.detach()
			if _, _, ok := o.word.Step(match.Protocol, match.Recall); ok {
				s.sendControl(int(o.peer), handlerRetract, o.id, o.wireKey())
			}
		}
	})
	if left {
		o.cancelled = true
		s.keepError(o, o.failedWith(fmt.Errorf("%w, though the message may still be received", ErrCancelled)))
		o.done.Complete(nil)
	}
}

// detach lets the send o go on with a copy of its bytes.
func (o *op) detach() {
	src := o.packSource()
	if src == nil {
		o.data = bytes.Clone(o.data)
		return
	}
	o.data, o.cursor = make([]byte, o.size), nil
	src.Pack(o.data, 0)
}
