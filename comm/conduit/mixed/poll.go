package mixed

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/comm/conduit"
)

// Pending implements conduit.Conduit.
func (m *mixed) Pending() bool { return m.near.Pending() || m.far.Pending() }

// Poll implements conduit.Conduit. The two take turns at being first. The first may spend half of the budget, the second the
// rest, and the first what then is left.
func (m *mixed) Poll(budget int, sink conduit.Sink) int {
	p := &m.poll
	// A lock for both, because a sink that polls again must find neither free.
	if !p.lock.TryLock() {
		return -1
	}
	first, second := m.near, m.far
	if p.farFirst {
		first, second = second, first
	}
	p.farFirst = !p.farFirst
	half := (budget + 1) / 2
	n := max(0, first.Poll(half, sink))
	full := n >= half
	if n < budget {
		n += max(0, second.Poll(budget-n, sink))
	}
	if full && n < budget {
		n += max(0, first.Poll(budget-n, sink))
	}
	p.lock.Unlock()
	return n
}

// nap is the state of Sleep. All but the atomics belongs to the one sleeper.
type nap struct {
	asleep atomic.Bool // somebody is in Sleep
	rung   atomic.Bool // the far bell has rung since the sleeper armed it
	m      *mixed
	ready  func() bool // the caller's
	look   func() bool // method look, made once, so that a sleep does not allocate
}

func (p *nap) init(m *mixed) {
	p.m = m
	p.look = p.looks
	m.bell.Bell(p.ring)
}

// ring is called by the far conduit. The note for the sleeper comes first: one who is not armed in the near conduit yet
// is not woken, but looks at the note when it is.
func (p *nap) ring() {
	p.rung.Store(true)
	p.m.near.Wake()
}

// looks is what the near conduit calls when the sleeper is armed there. The caller's condition comes first, because it is to
// be asked in any case, and Pending may be true without cause.
func (p *nap) looks() bool {
	return (p.ready != nil && p.ready()) || p.rung.Load() || p.m.far.Pending()
}

// Sleep implements conduit.Conduit. It sleeps in the near conduit; the far one rings.
func (m *mixed) Sleep(d time.Duration, ready func() bool) bool {
	p := &m.nap
	if m.closed.Load() || !p.asleep.CompareAndSwap(false, true) {
		return false
	}
	p.ready = ready
	p.rung.Store(false)
	m.bell.Arm()
	ok := m.near.Sleep(d, p.look)
	m.bell.Disarm()
	p.ready = nil
	p.asleep.Store(false)
	return ok
}

// Wake implements conduit.Conduit.
func (m *mixed) Wake() { m.near.Wake() }
