package am

import (
	"sync"
	"time"
)

// While sends wait for credits or bulk room, a sleeper looks up that often: neither rings the conduit's bell.
const stalledNap = 200 * time.Microsecond

// sleeper carries the arguments of a Sleep in a pooled value, so that sleeping does not allocate.
type sleeper struct {
	e     *Endpoint
	ready func() bool
	fn    func() bool
}

var sleepers = sync.Pool{New: func() any {
	s := new(sleeper)
	s.fn = s.look
	return s
}}

func (s *sleeper) look() bool { return s.ready() || s.e.stalledNews() }

// Sleep implements progress.Source: it pays what is owed and then sleeps in the conduit.
func (s source) Sleep(d time.Duration, ready func() bool) bool {
	e := s.e
	e.pollMu.Lock() // whoever polls now may go away without paying
	e.recv.tellAll()
	for _, f := range e.idles {
		f()
	}
	e.pollMu.Unlock()
	if e.stalled.Load() > 0 || e.bulkBusy.Load() > 0 {
		d = min(d, stalledNap)
	}
	x := sleepers.Get().(*sleeper)
	x.e, x.ready = e, ready
	ok := e.c.Sleep(d, x.fn)
	x.e, x.ready = nil, nil
	sleepers.Put(x)
	if ok && e.pollMu.TryLock() {
		for _, f := range e.wakes {
			f()
		}
		e.pollMu.Unlock()
	}
	return ok
}

// Wake implements progress.Source.
func (s source) Wake() { s.e.c.Wake() }

// stalledNews reports whether a peer that sends are queued for has returned credits.
func (e *Endpoint) stalledNews() bool {
	if e.stalled.Load() == 0 {
		return false
	}
	for i := range e.lanes {
		ln := &e.lanes[i]
		ln.mu.Lock()
		before := ln.credit.InUse()
		if ln.listed {
			e.refresh(ln, i)
		}
		news := ln.listed && ln.credit.InUse() != before
		ln.mu.Unlock()
		if news {
			return true
		}
	}
	return false
}
