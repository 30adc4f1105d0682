package mixed

import (
	"sync/atomic"

	"github.com/golci/golci/comm/conduit"
)

// DirectTo implements conduit.Direct: it leads to near peers at most.
func (m *mixed) DirectTo(peer int) bool {
	return m.direct != nil && m.isNear(peer) && m.direct.DirectTo(peer)
}

// Fetch implements conduit.Direct.
func (m *mixed) Fetch(peer int, dst []byte, addr uint64) error {
	if !m.DirectTo(peer) {
		return m.beyond(peer, "memory of the process")
	}
	return m.direct.Fetch(peer, dst, addr)
}

// Put implements conduit.Direct.
func (m *mixed) Put(peer int, addr uint64, src []byte) error {
	if !m.DirectTo(peer) {
		return m.beyond(peer, "memory of the process")
	}
	return m.direct.Put(peer, addr, src)
}

func (m *mixed) isNear(peer int) bool { return uint(peer) < uint(len(m.roads)) && m.roads[peer].near }

func (m *mixed) beyond(peer int, what string) error {
	return &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: what}
}

// sharing is a mixed conduit whose near peers share registered memory.
type sharing struct {
	*mixed
	memory conduit.Memory
}

// Register implements conduit.Memory.
func (s *sharing) Register(size int64) ([]byte, error) { return s.memory.Register(size) }

// shares tells whether peer's memory is to be had. A rank's own always is, whichever way its messages to itself go.
func (s *sharing) shares(peer int) bool { return s.isNear(peer) || peer == s.Rank() }

// Segment implements conduit.Memory.
func (s *sharing) Segment(peer int) ([]byte, error) {
	if !s.shares(peer) {
		return nil, s.beyond(peer, "registered memory")
	}
	return s.memory.Segment(peer)
}

// Lost implements conduit.Memory.
func (s *sharing) Lost(peer int) *atomic.Bool {
	if !s.shares(peer) {
		return nil
	}
	return s.memory.Lost(peer)
}
