package mixed

import (
	"sync/atomic"

	"github.com/golci/golci/comm/conduit"
)

// Reserve implements conduit.Conduit.
func (m *mixed) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	if uint(peer) >= uint(len(m.roads)) || n > m.caps.MaxRecord {
		return nil, conduit.Dead
	}
	return m.roads[peer].Reserve(peer, class, n)
}

// Commit implements conduit.Conduit.
func (m *mixed) Commit(peer int, first uint64) {
	if uint(peer) >= uint(len(m.roads)) {
		return
	}
	r := &m.roads[peer]
	r.Commit(peer, first)
	if !r.near {
		m.quiet.over() // there may be an answer
	}
}

// BulkSend implements conduit.Conduit.
func (m *mixed) BulkSend(peer int, id uint64, off int64, data []byte, keep conduit.Completion) (n int, kept bool) {
	if uint(peer) >= uint(len(m.roads)) {
		return -1, false
	}
	if m.caps.BulkChunk == 0 {
		data = nil // the conduit then only tells whether the peer is dead
	}
	r := &m.roads[peer]
	if !r.near {
		m.quiet.over() // room for more comes with an answer
	}
	return r.BulkSend(peer, id, off, data, keep)
}

// BulkReserve implements conduit.Conduit.
func (m *mixed) BulkReserve(peer, n int) ([]byte, conduit.Status) {
	if uint(peer) >= uint(len(m.roads)) {
		return nil, conduit.Dead
	}
	if m.caps.BulkChunk == 0 {
		n = 0 // as in BulkSend
	}
	r := &m.roads[peer]
	if !r.near {
		m.quiet.over()
	}
	return r.BulkReserve(peer, n)
}

// BulkCommit implements conduit.Conduit.
func (m *mixed) BulkCommit(peer int, id uint64, off int64, n int) {
	if uint(peer) < uint(len(m.roads)) {
		m.roads[peer].BulkCommit(peer, id, off, n)
	}
}

// Mine implements conduit.Conduit: there is a word if the conduit to that peer has one.
func (m *mixed) Mine(peer int) *atomic.Uint64 {
	if uint(peer) >= uint(len(m.roads)) {
		return nil
	}
	return m.roads[peer].Mine(peer)
}

// Theirs implements conduit.Conduit.
func (m *mixed) Theirs(peer int) *atomic.Uint64 {
	if uint(peer) >= uint(len(m.roads)) {
		return nil
	}
	return m.roads[peer].Theirs(peer)
}
