package mixed

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/conduit"
)

func (m *mixed) Pending() bool {
	if m.near.Pending() {
		return true
	}
	if m.farFilter.passFar() || !m.far.Pending() {
		return false
	}
	m.farFilter.noteFar() // Poll must find what Pending tells of
	return true
}

// Poll implements conduit.Conduit. The two take turns at being first. The first may spend half of the budget, the
// second the rest, and the first what then is left. Of a quiet network it may leave the far one out.
func (m *mixed) Poll(budget int, sink conduit.Sink) int {
	p := &m.poll
	n := 0
	p.nearSink.Sink, p.farSink.Sink = sink, sink
	if m.farFilter.passFar() {
		n = m.near.Poll(budget, &p.nearSink)
	} else {
		n = m.pollBoth(budget)
	}
	p.nearSink.Sink, p.farSink.Sink = nil, nil
	return n
}

// sinkFilter is the sink of one of the two, which tells only of peers that are reached that way.
type sinkFilter struct {
	conduit.Sink // of the Poll under way
	m            *mixed
	near         bool
}

func (s *sinkFilter) Gone(peer int, err error) {
	if s.m.routes[peer].near == s.near {
		s.Sink.Gone(peer, err)
	}
}

// pollBoth polls both. The caller is Poll.
func (m *mixed) pollBoth(budget int) int {
	p := &m.poll
	farFirst := p.farFirst
	p.farFirst = !farFirst
	first, second, one, two := m.near, m.far, &p.nearSink, &p.farSink
	if farFirst {
		first, second, one, two = second, first, two, one
	}
	half := (budget + 1) / 2
	a, b := first.Poll(half, one), 0
	if a < budget {
		b = second.Poll(budget-a, two)
	}
	if a >= half && a+b < budget {
		a += first.Poll(budget-a-b, one)
	}
	if (farFirst && a > 0) || (!farFirst && b > 0) {
		m.farFilter.noteFar()
	}
	return a + b
}

// sleepState is the state of Sleep. All but the atomics belongs to the one sleeper.
type sleepState struct {
	asleep atomic.Bool // somebody is in Sleep
	rung   atomic.Bool // the far bell has rung since the sleeper armed it
	m      *mixed
	ready  func() bool // the caller's
	look   func() bool // method look, made once, so that a sleep does not allocate
}

func (p *sleepState) initNap(m *mixed) {
	p.m = m
	p.look = p.doesLook
	m.bell.Bell(p.ringSleeper)
}

// ringSleeper is called by the far conduit. It sets the note for the sleeper first. A sleeper that has not armed the
// near conduit yet is not woken, but reads the note after arming.
func (p *sleepState) ringSleeper() {
	p.rung.Store(true)
	p.m.near.Wake()
}

// doesLook is what the near conduit calls when the sleeper is armed there. The caller's condition comes first, because
// it is to be asked in any case, and Pending may be true without cause.
func (p *sleepState) doesLook() bool {
	return (p.ready != nil && p.ready()) || p.rung.Load() || p.m.far.Pending()
}

// Sleep implements conduit.Conduit. It sleeps in the near conduit; the far one rings.
func (m *mixed) Sleep(d time.Duration, ready func() bool) bool {
	p := &m.sleep
	if m.closed.Load() || !p.asleep.CompareAndSwap(false, true) {
		return false
	}
	p.ready = ready
	p.rung.Store(false)
	m.bell.Arm()
	ok := m.near.Sleep(d, p.look)
	m.bell.Disarm()
	m.farFilter.noteFar() // what has rung is to be found at once
	p.ready = nil
	p.asleep.Store(false)
	return ok
}

func (m *mixed) Wake() { m.near.Wake() }
