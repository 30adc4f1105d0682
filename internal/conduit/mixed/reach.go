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

func (m *mixed) beyond(peer int, what string) error {
	return &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: what}
}

// Allocate implements conduit.Remote: near, so that peers of the node can map the memory. A far conduit exposes any.
func (m *mixed) Allocate(size int64) ([]byte, error) {
	for _, r := range m.remotes {
		if r != nil {
			return r.Allocate(size)
		}
	}
	return conduit.Allocate(size)
}

// Map implements conduit.Remote.
func (m *mixed) Map(peer int, k conduit.Key) ([]byte, *atomic.Bool, error) {
	if r := m.remote(peer); r != nil {
		return r.Map(peer, k)
	}
	return nil, nil, m.beyond(peer, "mapped memory")
}
