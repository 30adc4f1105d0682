package mixed

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/comm/conduit"
)

// Pending implements conduit.Conduit.
func (m *mixed) Pending() bool {
	if m.near.Pending() {
		return true
	}
	if m.quiet.pass() || !m.far.Pending() {
		return false
	}
	m.quiet.over() // Poll must find what Pending tells of
	return true
}

// Poll implements conduit.Conduit. The two take turns at being first. The first may spend half of the budget, the second the
// rest, and the first what then is left. Of a quiet network it may leave the far one out.
func (m *mixed) Poll(budget int, sink conduit.Sink) int {
	p := &m.poll
	// A lock for both, because a sink that polls again must find neither free.
	if !p.lock.TryLock() {
		return -1
	}
	n := 0
	if m.quiet.pass() {
		n = max(0, m.near.Poll(budget, sink))
	} else {
		n = m.pollBoth(budget, sink)
	}
	p.lock.Unlock()
	return n
}

// pollBoth is called with the poll lock held.
func (m *mixed) pollBoth(budget int, sink conduit.Sink) int {
	farFirst := m.poll.farFirst
	m.poll.farFirst = !farFirst
	first, second := m.near, m.far
	if farFirst {
		first, second = second, first
	}
	half := (budget + 1) / 2
	a, b := max(0, first.Poll(half, sink)), 0
	if a < budget {
		b = max(0, second.Poll(budget-a, sink))
	}
	if a >= half && a+b < budget {
		a += max(0, first.Poll(budget-a-b, sink))
	}
	if (farFirst && a > 0) || (!farFirst && b > 0) {
		m.quiet.over()
	}
	return a + b
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
	m.quiet.over() // what has rung is to be found at once
	p.ready = nil
	p.asleep.Store(false)
	return ok
}

// Wake implements conduit.Conduit.
func (m *mixed) Wake() { m.near.Wake() }
