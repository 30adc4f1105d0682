package comm

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/comm/internal/opstate"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/request"
)

// Req is a started operation. The zero Req is one that is done already, as a small send is. A Req may be copied; it is
// used up by the wait or test that finds it done, and is then an error to use again (through any copy).
type Req struct {
	o   *op
	gen uint32
}

// DoneReq is a Req that is done already, with a mark for the layer above.
func DoneReq(mark uint32) Req { return Req{gen: mark} }

// Mark is what DoneReq was given, 0 of any other Req that is Null.
func (r Req) Mark() uint32 { return r.gen }

// Null reports whether r stands for nothing that could be pending.
func (r Req) Null() bool { return r.o == nil }

// Pending is what completes with r, nil if r is done. It can be waited for together with operations of other layers of
// the rank, by the engine of its endpoint (am.Endpoint.Progress). r is then used up by Test.
func (r Req) Pending() *progress.Done {
	if r.Ready() {
		return nil
	}
	return &r.o.done
}

// Used reports whether r has been used up, through this copy or another.
func (r Req) Used() bool { return r.o != nil && r.isStale() }

// IsCall reports whether r is of NewCall. r has not been used up.
func (r Req) IsCall() bool { return r.o != nil && r.o.role == roleCall }

func (r Req) isStale() bool { return r.o.gen != r.gen }

func staleError() error {
	return fmt.Errorf("%w: the request has been waited for already", ErrRequest)
}

// Ready reports whether r is done, without using it up and without polling.
func (r Req) Ready() bool { return r.o == nil || r.isStale() || r.o.done.Ready() }

// State is the word in which that shows, and what it holds then, as long as r is not used up. It is nil if r was done
// when it was started.
func (r Req) State() (word *atomic.Uint32, done uint32) {
	if r.o == nil || r.isStale() {
		return nil, 0
	}
	return r.o.done.State()
}

// Test polls once and reports whether r is done; if so it is used up. It does not block.
func (s *Server) Test(r Req) (Status, bool, error) {
	if r.o == nil {
		return Status{Source: AnySource, Tag: AnyTag}, true, nil
	}
	if r.isStale() {
		return Status{}, false, staleError()
	}
	if !r.o.done.Ready() {
		if s.eng.Poll(); !r.o.done.Ready() {
			return Status{}, false, nil
		}
	}
	st, err := s.useResult(r)
	if err != nil && err == errResumed {
		return Status{}, false, nil
	}
	return st, true, err
}

// Drop uses r up if it is done without an error, and reports whether it was. It neither polls nor blocks.
func (s *Server) Drop(r Req) bool {
	o := r.o
	if o == nil || o.gen != r.gen || !o.done.Ready() || o.err != nil || o.isSummed() {
		return false
	}
	s.putOp(o)
	return true
}

// Dropper drops requests of a server one after another, on one goroutine.
type Dropper struct {
	s     *Server
	cache *request.Cache[op] // of the goroutine; nil if it has none
}

// Dropper gives one for the caller.
func (s *Server) Dropper() Dropper { return Dropper{s, s.free.receives.Mine()} }

// Of reports whether d drops requests of s.
func (d *Dropper) Of(s *Server) bool { return d.s == s }

// Drop is Server.Drop.
func (d *Dropper) Drop(r Req) bool {
	o := r.o
	if o == nil || o.recv == nil || d.cache == nil {
		return d.s.Drop(r)
	}
	if o.gen != r.gen || !o.done.Ready() || o.err != nil {
		return false
	}
	o.retireOp()
	if !d.cache.Put(o) {
		d.s.free.receives.Put(o)
	}
	return true
}

// useResult takes the result of a done request, and uses it up. A paused receive stays: see usePaused.
func (s *Server) useResult(r Req) (Status, error) {
	st, err := r.o.takeResult()
	if err == nil {
		if r.o.isSummed() && sumOf(r.o.data) != r.o.send.sum {
			err = s.changedError(r.o)
		}
	} else if r.o.paused {
		return s.usePaused(r.o)
	}
	s.releaseOp(r.o)
	return st, err
}

// Peek gives the result of r, which is done, and does not use r up.
func (s *Server) Peek(r Req) (Status, error) {
	switch {
	case r.o == nil:
		return Status{Source: AnySource, Tag: AnyTag}, nil
	case r.isStale():
		return Status{}, staleError()
	}
	return r.o.takeResult()
}

// releaseOp ends the use of o by its caller, who has its result. One that the caller has left is in use still.
func (s *Server) releaseOp(o *op) {
	if !o.word.Left() {
		s.putOp(o)
		return
	}
	o.gen++
	if o.word.Drop(opstate.Caller) == opstate.Freed {
		s.putOp(o)
	}
}

func (o *op) takeResult() (Status, error) {
	if o.role == roleRecv {
		return o.statusOf(), o.err
	}
	return Status{Source: AnySource, Tag: AnyTag, Cancelled: o.cancelled}, o.err
}
