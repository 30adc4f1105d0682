package mixed

import (
	"sync/atomic"

	"github.com/golci/golci/comm/conduit"
)

// remote is the way to the memory of peer, nil if there is none.
func (m *mixed) remote(peer int) conduit.Remote {
	if uint(peer) >= uint(len(m.roads)) {
		return nil
	}
	if !m.roads[peer].near {
		m.quiet.over()
		return m.remotes[1]
	}
	return m.remotes[0]
}

// Reach implements conduit.Remote: what the peer's conduit does.
func (m *mixed) Reach(peer int) conduit.Reach {
	if r := m.remote(peer); r != nil {
		return r.Reach(peer)
	}
	return conduit.Reach{}
}

// Expose implements conduit.Remote.
func (m *mixed) Expose(peer int, mem []byte) (conduit.Key, conduit.Status) {
	if r := m.remote(peer); r != nil {
		return r.Expose(peer, mem)
	}
	return conduit.Key{}, conduit.Dead
}

// Release implements conduit.Remote.
func (m *mixed) Release(peer int, k conduit.Key) error {
	if r := m.remote(peer); r != nil {
		return r.Release(peer, k)
	}
	return m.beyond(peer, "memory under a key")
}

// Get implements conduit.Remote.
func (m *mixed) Get(peer int, dst []byte, k conduit.Key, off int64, c conduit.Completion) int {
	if r := m.remote(peer); r != nil {
		return r.Get(peer, dst, k, off, c)
	}
	return -1
}

// Put implements conduit.Remote.
func (m *mixed) Put(peer int, src []byte, k conduit.Key, off int64, c conduit.Completion) int {
	if r := m.remote(peer); r != nil {
		return r.Put(peer, src, k, off, c)
	}
	return -1
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
