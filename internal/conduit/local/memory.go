package local

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/conduit/ring"
)

// memory is what a rank has registered. It is Go memory, so the race detector sees what peers do there.
type memory struct {
	busy atomic.Bool // somebody has registered, or is about to
	mem  atomic.Pointer[[]byte]
	lost []atomic.Bool // by rank: set by whoever closes
}

// Register implements conduit.Memory.
func (e *end) Register(size int64) ([]byte, error) {
	if err := conduit.CheckGrant(size); err != nil {
		return nil, err
	}
	if e.memory.busy.Swap(true) {
		return nil, fmt.Errorf("%w: rank %d has registered its memory already", conduit.ErrConfig, e.Rank())
	}
	mem := ring.HeapMemory(int(size))
	e.memory.mem.Store(&mem) // publishes the slice to the peers
	return mem, nil
}

// Segment implements conduit.Memory.
func (e *end) Segment(peer int) ([]byte, error) {
	if uint(peer) >= uint(len(e.all)) {
		return nil, e.Failed(peer)
	}
	if p := e.all[peer].memory.mem.Load(); p != nil {
		return *p, nil
	}
	return nil, nil
}

// Lost implements conduit.Memory.
func (e *end) Lost(peer int) *atomic.Bool {
	if uint(peer) >= uint(len(e.memory.lost)) {
		return nil
	}
	return &e.memory.lost[peer]
}
