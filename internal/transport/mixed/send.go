package mixed

import (
	"sync/atomic"

	"github.com/golci/golci/conduit"
)

// route is the way to a peer.
type route struct {
	conduit.Conduit // near or far
	conduit.Remote  // of the same
	near            bool
}

func newRoute(c conduit.Conduit, near bool) route {
	if r, ok := c.(conduit.Remote); ok {
		return route{c, r, near}
	}
	return route{c, noRemote{}, near}
}

// routeTo is the way to peer. A number that is no rank's leads near, which refuses it.
func (m *mixed) routeTo(peer int) *route {
	if uint(peer) >= uint(len(m.routes)) {
		return &m.astray
	}
	return &m.routes[peer]
}

// livelyRoute is routeTo for what an answer may follow.
func (m *mixed) livelyRoute(peer int) *route {
	r := m.routeTo(peer)
	if !r.near {
		m.farFilter.noteFar()
	}
	return r
}

func (m *mixed) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	if n > m.caps.MaxRecord {
		return nil, conduit.Dead
	}
	return m.routeTo(peer).Reserve(peer, class, n)
}

func (m *mixed) Commit(peer int, first uint64) {
	r := m.routeTo(peer)
	r.Commit(peer, first)
	if !r.near { // not before the record has left
		m.farFilter.noteFar()
	}
}

// Streams implements conduit.Streamer.
func (m *mixed) Streams(peer, n int) bool {
	return m.streamer != nil && m.routeTo(peer).near && m.streamer.Streams(peer, n)
}

// Inject implements conduit.Injector.
func (m *mixed) Inject(peer int, first, second, third uint64, data []byte) bool {
	return m.injector != nil && m.routeTo(peer).near && m.injector.Inject(peer, first, second, third, data)
}

func (m *mixed) BulkSend(peer int, id uint64, off int64, data []byte, keep conduit.Completion) (n int, kept bool) {
	if m.caps.BulkChunk == 0 {
		data = nil // the conduit then only tells whether the peer is dead
	}
	return m.livelyRoute(peer).BulkSend(peer, id, off, data, keep)
}

func (m *mixed) BulkReserve(peer, n int) ([]byte, conduit.Status) {
	if m.caps.BulkChunk == 0 {
		n = 0 // as in BulkSend
	}
	return m.livelyRoute(peer).BulkReserve(peer, n)
}

func (m *mixed) BulkCommit(peer int, id uint64, off int64, n int) {
	m.routeTo(peer).BulkCommit(peer, id, off, n)
}

func (m *mixed) Mine(peer int) *atomic.Uint64   { return m.routeTo(peer).Mine(peer) }
func (m *mixed) Theirs(peer int) *atomic.Uint64 { return m.routeTo(peer).Theirs(peer) }
