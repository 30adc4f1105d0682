package comm

import (
	stdcontext "context"
	"fmt"
	"sync"

	"github.com/golci/golci/internal/progress"
)

// Wait blocks until r is done, and uses it up.
func (s *Server) Wait(r Req) (Status, error) {
	if r.o == nil {
		return Status{Source: AnySource, Tag: AnyTag}, nil
	}
	if r.isStale() {
		return Status{}, staleError()
	}
	for {
		if !r.o.done.Ready() {
			if s.e.Watched() {
				if err := s.mayWaitFor(r.o); err != nil {
					return Status{}, err
				}
			}
			s.awaitOp(r.o)
		}
		if st, err := s.useResult(r); err == nil || err != errResumed {
			return st, err
		}
	}
}

// awaitOp waits until o is done.
func (s *Server) awaitOp(o *op) {
	if s.waits != nil && !o.done.Ready() {
		s.awaitReported(o)
		return
	}
	s.eng.Wait(&o.done)
}

func (s *Server) awaitReported(o *op) {
	what, peer, tag := "operation", AnySource, AnyTag
	switch o.role {
	case roleRecv:
		what = "receive"
	case roleSend:
		what = "send"
	}
	if !o.wild { // what a wildcard stands for changes when it is matched
		peer, tag = int(o.peer), int(o.tag)
	}
	since := s.waits.Begin()
	s.eng.Wait(&o.done)
	s.waits.End(what, since, peer, tag)
}

// Linger polls for a while for r, bounded, and reports whether it is done; it neither parks nor uses r up. It ends
// early at alarm, if there is one.
func (s *Server) Linger(r Req, alarm *progress.Done) bool {
	return r.Ready() || s.eng.LingerFor(&r.o.done, alarm)
}

// AwaitOr blocks until r is done, or alarm, if there is one, goes off. It uses up neither.
func (s *Server) AwaitOr(r Req, alarm *progress.Done) error {
	if r.Ready() {
		return nil
	}
	if err := s.mayWaitFor(r.o); err != nil {
		return err
	}
	buf := dones.Get().(*[]*progress.Done)
	ds := append((*buf)[:0], &r.o.done)
	if alarm != nil {
		ds = append(ds, alarm)
	}
	s.eng.WaitAny(ds)
	clear(ds)
	*buf = ds[:0]
	dones.Put(buf)
	return nil
}

// LingerUntil polls for a while, and reports whether over has become true, which is looked at often. It ends early at
// alarm, which is not nil.
func (s *Server) LingerUntil(over func() bool, alarm *progress.Done) bool {
	return s.eng.LingerUntil(over, alarm)
}

// AwaitAll blocks until all of rs are done, with one wake-up, or one of ctxs ends. It uses up none of rs.
func (s *Server) AwaitAll(rs []Req, ctxs ...stdcontext.Context) error {
	if len(ctxs) == 0 {
		return s.awaitMany(rs, true, nil)
	}
	for range firstPolls {
		if ready(rs, true) {
			return nil
		}
		s.eng.Poll()
	}
	return s.awaitMany(rs, true, ctxs)
}

// AwaitAny blocks until one of rs is done, or one of ctxs ends. It uses up none of rs. Null requests alone do not end
// it while there are contexts.
func (s *Server) AwaitAny(rs []Req, ctxs ...stdcontext.Context) error {
	if ready(rs, false) {
		return nil
	}
	return s.awaitMany(rs, false, ctxs)
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

// awaitMany blocks until all of rs are done, or any, or one of ctxs ends.
func (s *Server) awaitMany(rs []Req, all bool, ctxs []stdcontext.Context) error {
	if err := s.mayWait("wait for operations", AnySource, AnyTag); err != nil {
		return err
	}
	buf := dones.Get().(*[]*progress.Done)
	ds, err := s.collectPending(rs, (*buf)[:0])
	if err == nil {
		since := uint64(0)
		if s.waits != nil {
			since = s.waits.Begin()
		}
		switch {
		case len(ctxs) > 0:
			ds = s.awaitOrEnded(ds, all, ctxs)
		case all:
			s.eng.WaitAll(ds)
		default:
			s.eng.WaitAny(ds)
		}
		if s.waits != nil {
			s.waits.End("requests", since, AnySource, AnyTag)
		}
	}
	clear(ds)
	*buf = ds[:0]
	dones.Put(buf)
	return err
}

// awaitOrEnded blocks until all of ds are ready, or any, or one of ctxs ends. It gives ds, which may have grown.
func (s *Server) awaitOrEnded(ds []*progress.Done, all bool, ctxs []stdcontext.Context) []*progress.Done {
	ends, release := endsOf(ctxs)
	defer release()
	if !all {
		ds = append(ds, ends...)
		s.eng.WaitAny(ds)
		return ds
	}
	pair := append(ends, nil)
	for _, d := range ds {
		if d == nil || d.Ready() {
			continue
		}
		pair[len(ends)] = d
		if s.eng.WaitAny(pair); !d.Ready() {
			break
		}
	}
	return ds
}

// dones is scratch for waits on several requests.
var dones = sync.Pool{New: func() any { return new([]*progress.Done) }}

// collectPending collects what is to be waited for; the entries of null requests are nil.
func (s *Server) collectPending(rs []Req, ds []*progress.Done) ([]*progress.Done, error) {
	for i, r := range rs {
		if r.o == nil {
			ds = append(ds, nil)
			continue
		}
		if r.isStale() {
			return ds, fmt.Errorf("%w (request %d of %d)", staleError(), i, len(rs))
		}
		ds = append(ds, &r.o.done)
	}
	return ds, nil
}

// Waits is told of blocking calls that have waited. Its methods may be called from anywhere, at once.
type Waits interface {
	// Begin gives the time at which a wait begins.
	Begin() uint64
	// End tells of a wait that is over: what for, since when, and for which peer and tag; -1 stands for any, and for
	// none.
	End(what string, since uint64, peer, tag int)
}

// quickRanks is how many ranks the shortest way of a receive may name. Without waits to be told of these are all.
// Else there are none: all receives go the way on which arguments are checked, which has time to look at s.waits.
func (s *Server) quickRanks(w Waits) int {
	if w != nil {
		return 0
	}
	return s.size
}

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
	if err := s.AwaitAll([]Req{r}, ctxs...); err != nil {
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
