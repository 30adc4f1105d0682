package mixed

import (
	"sync/atomic"

	"github.com/golci/golci/conduit"
)

func (m *mixed) Reach(peer int) conduit.Reach { return m.livelyRoute(peer).Reach(peer) }

func (m *mixed) Expose(peer int, mem []byte) (conduit.Key, conduit.Status) {
	return m.livelyRoute(peer).Expose(peer, mem)
}

func (m *mixed) Release(peer int, k conduit.Key) error { return m.livelyRoute(peer).Release(peer, k) }

func (m *mixed) Get(peer int, dst []byte, k conduit.Key, off int64, c conduit.Completion) int {
	return m.livelyRoute(peer).Get(peer, dst, k, off, c)
}

func (m *mixed) Put(peer int, src []byte, k conduit.Key, off int64, c conduit.Completion) int {
	return m.livelyRoute(peer).Put(peer, src, k, off, c)
}

func (m *mixed) Map(peer int, k conduit.Key) ([]byte, *atomic.Bool, error) {
	return m.livelyRoute(peer).Map(peer, k)
}

// Allocate implements conduit.Remote: near, so that peers of the node can map the memory. A far conduit exposes any.
func (m *mixed) Allocate(size int64) ([]byte, error) {
	for _, c := range []conduit.Conduit{m.near, m.far} {
		if r, ok := c.(conduit.Remote); ok {
			return r.Allocate(size)
		}
	}
	return conduit.Allocate(size)
}

// noRemote is the conduit.Remote of a conduit that has none.
type noRemote struct{}

func (noRemote) Reach(int) conduit.Reach { return conduit.Reach{} }

func (noRemote) Allocate(size int64) ([]byte, error) { return conduit.Allocate(size) }

func (noRemote) Expose(int, []byte) (conduit.Key, conduit.Status) { return conduit.Key{}, conduit.Dead }

func (noRemote) Release(peer int, _ conduit.Key) error                       { return unreachableError(peer) }
func (noRemote) Get(int, []byte, conduit.Key, int64, conduit.Completion) int { return -1 }
func (noRemote) Put(int, []byte, conduit.Key, int64, conduit.Completion) int { return -1 }
func (noRemote) Map(peer int, _ conduit.Key) ([]byte, *atomic.Bool, error) {
	return nil, nil, unreachableError(peer)
}

func unreachableError(peer int) error {
	return &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: "memory of the peer"}
}
