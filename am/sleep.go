package am

import (
	"sync"
	"time"
)

const stalledNap = 200 * time.Microsecond // of sleepers while sends wait: neither credits nor bulk room ring the bell

// sleeper carries the arguments of a Sleep in a pooled value, so that sleeping does not allocate.
type sleeper struct {
	e     *Endpoint
	ready func() bool
	fn    func() bool
	long  bool    // nothing was to be sent when the time to sleep was chosen
	peers []int32 // scratch of stalledNews
}

var sleepers = sync.Pool{New: func() any {
	s := new(sleeper)
	s.fn = s.mayNotSleep
	return s
}}

// mayNotSleep tells, when the bell is armed, whether there is a reason not to sleep. What came before found nobody to
// wake.
func (s *sleeper) mayNotSleep() bool {
	e := s.e
	return s.ready() || s.long && e.toSend() ||
		e.chores.Load()&choreOwing != 0 || s.stalledNews()
}

// toSend tells whether something waits for credits or room, or is held back.
func (e *Endpoint) toSend() bool {
	return e.stalled.n.Load() > 0 || e.bulkBusy.n.Load() > 0 || e.held.Load() > 0
}

// Sleep implements progress.Source: it pays what is owed and then sleeps in the conduit.
func (s source) Sleep(d time.Duration, ready func() bool) bool {
	e := s.e
	e.pollMu.Lock() // whoever polls now may go away without paying
	e.recv.tellAll()
	e.pollMu.Unlock()
	x := sleepers.Get().(*sleeper)
	x.e, x.ready, x.long = e, ready, !e.toSend()
	if !x.long {
		d = min(d, stalledNap)
	}
	ok := e.c.Sleep(d, x.fn)
	x.e, x.ready = nil, nil
	sleepers.Put(x)
	return ok
}

// Wake implements progress.Source.
func (s source) Wake() { s.e.c.Wake() }

// stalledNews reports whether a peer that sends are queued for has returned credits.
func (s *sleeper) stalledNews() bool {
	e := s.e
	s.peers = e.stalled.snapshot(s.peers[:0])
	for _, p := range s.peers {
		ln := e.senderOf(int(p))
		ln.mu.Lock()
		before := ln.credit.Free()
		if ln.hasQueued {
			e.refreshCredits(ln, int(p))
		}
		news := ln.hasQueued && ln.credit.Free() != before
		ln.mu.Unlock()
		if news {
			return true
		}
	}
	return false
}
