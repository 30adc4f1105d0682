// Package mixed joins two conduits of one rank into one. Some peers are reached through the near conduit, which is
// fast and in which the rank sleeps. The others are reached through the far conduit, which must have a bell
// (conduit.Belled) to wake that sleeper.
package mixed

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/conduit"
)

// mixed is one rank's conduit.
type mixed struct {
	near, far conduit.Conduit
	bell      conduit.Belled   // far
	streamer  conduit.Streamer // near, or nil
	injector  conduit.Injector // near, or nil
	caps      conduit.Caps
	routes    []route // by peer; fixed
	astray    route   // near, for what is no peer
	closed    atomic.Bool

	poll      poller
	sleep     sleepState
	farFilter farPollFilter
}

// poller is the state of Poll. It belongs to the one who polls.
type poller struct {
	farFirst bool // whose turn it is

	nearSink, farSink sinkFilter
}

// New returns a conduit that reaches the peers for which isNear returns true through near, and the others through
// far. Both must be conduits of the same rank in the same job. Both ends of a pair must choose the same side. Whether
// the rank itself is near is up to isNear, too. From now on both belong to the result: nobody else polls, sleeps in
// or closes them. The result has conduit.Remote, towards peers whose conduit has it. New calls isNear once for each
// rank. It neither blocks nor starts anything. The error matches conduit.ErrConfig: the two are not of one rank, or far
// has no bell.
func New(near, far conduit.Conduit, isNear func(peer int) bool) (conduit.Conduit, error) {
	if near.Rank() != far.Rank() || near.Size() != far.Size() {
		return nil, fmt.Errorf("%w: mixed: near is rank %d of %d, far is rank %d of %d", conduit.ErrConfig,
			near.Rank(), near.Size(), far.Rank(), far.Size())
	}
	bell, ok := far.(conduit.Belled)
	if !ok {
		return nil, fmt.Errorf("%w: mixed: rank %d: %s has no bell", conduit.ErrConfig, far.Rank(), far.Caps().Name)
	}
	m := &mixed{
		near: near, far: far, bell: bell, caps: joinCaps(near.Caps(), far.Caps()), routes: make([]route, near.Size()),
		astray: route{near, noRemote{}, true},
	}
	m.streamer, _ = near.(conduit.Streamer)
	m.injector, _ = near.(conduit.Injector)
	for peer := range m.routes {
		if isNear(peer) {
			m.routes[peer] = newRoute(near, true)
		} else {
			m.routes[peer] = newRoute(far, false)
		}
	}
	m.farFilter.initRoads(m.routes)
	m.sleep.initNap(m)
	m.poll.nearSink, m.poll.farSink = sinkFilter{m: m, near: true}, sinkFilter{m: m}
	return m, nil
}

// Far is the conduit towards peers that the near one does not reach. The caller only looks at it.
func (m *mixed) Far() conduit.Conduit { return m.far }

// joinCaps gives the properties on which a caller may count whatever the peer.
func joinCaps(a, b conduit.Caps) conduit.Caps {
	c := conduit.Caps{
		Name:      fmt.Sprintf("mixed(%s+%s)", a.Name, b.Name),
		MaxRecord: min(a.MaxRecord, b.MaxRecord),
		Loan:      min(a.Loan, b.Loan),
		Ordered:   a.Ordered && b.Ordered,
	}
	if a.BulkChunk > 0 && b.BulkChunk > 0 {
		c.BulkChunk, c.BulkSlots = max(a.BulkChunk, b.BulkChunk), min(a.BulkSlots, b.BulkSlots)
	}
	return c
}

func (m *mixed) Rank() int { return m.near.Rank() }
func (m *mixed) Size() int { return len(m.routes) }

// Caps implements conduit.Conduit. They hold towards every peer: the smallest record, loan and number of chunks under
// way, the longest chunk that may come; Ordered if both conduits are. There is a bulk channel if both have one.
func (m *mixed) Caps() conduit.Caps { return m.caps }

// Failed implements conduit.Conduit. Who knows that a far peer has failed finds that pending until it is told.
func (m *mixed) Failed(peer int) error {
	r := m.routeTo(peer)
	err := r.Failed(peer)
	if err != nil && !r.near {
		m.farFilter.noteFar()
	}
	return err
}

// Suspect implements conduit.Suspecter. The far conduit is told of near peers, too: it tells the ranks of other nodes.
func (m *mixed) Suspect(peer int) {
	if s, ok := m.far.(conduit.Suspecter); ok {
		s.Suspect(peer)
	}
}

// Foretell implements conduit.Foreteller.
func (m *mixed) Foretell(tell func(peer int, reason error)) {
	for _, c := range []conduit.Conduit{m.near, m.far} {
		if f, ok := c.(conduit.Foreteller); ok {
			f.Foretell(tell)
		}
	}
}

// Close implements conduit.Conduit: it closes both.
func (m *mixed) Close() error {
	m.closed.Store(true)
	// Near first: that is where the sleeper is, who then disarms the other.
	return errors.Join(m.near.Close(), m.far.Close())
}
