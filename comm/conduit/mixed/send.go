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
	if uint(peer) < uint(len(m.roads)) {
		m.roads[peer].Commit(peer, first)
	}
}

// Cancel implements conduit.Conduit.
func (m *mixed) Cancel(peer int) {
	if uint(peer) < uint(len(m.roads)) {
		m.roads[peer].Cancel(peer)
	}
}

// BulkSend implements conduit.Conduit.
func (m *mixed) BulkSend(peer int, id uint64, off int64, data []byte) int {
	if uint(peer) >= uint(len(m.roads)) {
		return -1
	}
	r := &m.roads[peer]
	switch {
	case m.caps.BulkChunk == 0:
		data = nil // the conduit then only tells whether the peer is dead
	case r.chunk > 0:
		return r.pieces(peer, id, off, data)
	}
	return r.BulkSend(peer, id, off, data)
}

// pieces sends no more at once than Caps says that a chunk is long.
func (r *road) pieces(peer int, id uint64, off int64, data []byte) (sent int) {
	for {
		piece := data[sent:min(len(data), sent+r.chunk)]
		n := r.BulkSend(peer, id, off+int64(sent), piece)
		if n < 0 {
			return n // what was sent before is lost with the peer
		}
		if sent += n; n < len(piece) || sent == len(data) {
			return sent
		}
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
