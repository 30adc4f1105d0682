package rma

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/conduit"
)

// Region numbers memory of a rank beside its segment. Every call that takes an offset of the segment takes At of a
// region as well. Region 0 is the segment itself. Long payloads (PutNotify) and counters are of the segment alone.
type Region uint16

const (
	regionShift = 48
	offsetMask  = 1<<regionShift - 1
	maxRegions  = 1 << (63 - regionShift)
)

// At names byte off of the region, in place of an offset of the segment. An off that is negative, or 2^48 or more,
// gives an offset that all calls refuse.
func (r Region) At(off int64) int64 {
	if off < 0 || off > offsetMask {
		return -1
	}
	return int64(r)<<regionShift | off
}

// splitOffset is the opposite of At.
func splitOffset(off int64) (Region, int64) { return Region(off >> regionShift), off & offsetMask }

// region is one of this rank's. It does not change, but for keys.
type region struct {
	mem    []byte
	find   func(off int64, n int) []byte // of a region of pieces; nil if mem is all
	shared bool                          // mem was given by Allocate

	keys map[int]conduit.Key // under which peers reach mem, by rank; owned by the poller
}

// pieceAt gives n bytes at off; nil if they do not exist.
func (r *region) pieceAt(off int64, n int) []byte {
	if r.find != nil {
		return r.find(off, n)
	}
	if off < 0 || n < 0 || off > int64(len(r.mem)) || int64(n) > int64(len(r.mem))-off {
		return nil
	}
	return r.mem[off:][:n:n]
}

// regions are those of this rank. The list is changed under mu and read by anybody; place 0 is not used.
type regions struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*region]
}

// regionOf gives the region of that number, nil if there is none.
func (x *regions) regionOf(r Region) *region {
	if l := x.list.Load(); l != nil && int(r) < len(*l) {
		return (*l)[r]
	}
	return nil
}

// setRegion changes a place of the list, which readers may have.
func (x *regions) setRegion(i int, r *region) {
	var l []*region
	if old := x.list.Load(); old != nil {
		l = slices.Clone(*old)
	}
	if i >= len(l) {
		l = append(l, make([]*region, i+1-len(l))...)
	}
	l[i] = r
	x.list.Store(&l)
}

// AddRegion lets peers reach mem, which may be of length 0, under a number. The lowest free one is taken. Peers must be
// told of it, and must not use it before. allocated says that mem is, or lies in, what Allocate has given. Then peers
// of the node may map it. It does not block. Error: ErrRegions.
func (m *Memory) AddRegion(mem []byte, allocated bool) (Region, error) {
	r, err := m.addRegion(&region{mem: mem, shared: allocated})
	if err == nil && m.peers[m.rank].Load() != nil { // nil with Config.ActiveMessages
		m.ReachRegion(m.rank, r, mem)
	}
	return r, err
}

// AddPieces is AddRegion for memory that find gives: n bytes at an offset, nil if they do not exist. find is called by
// the poller at any time until RemoveRegion returns, and must not block.
func (m *Memory) AddPieces(find func(off int64, n int) []byte) (Region, error) {
	return m.addRegion(&region{find: find})
}

// addRegion enters r under the lowest free number, which it returns. Error: ErrRegions, if all numbers are taken.
func (m *Memory) addRegion(r *region) (Region, error) {
	r.keys = map[int]conduit.Key{}
	m.regions.mu.Lock()
	defer m.regions.mu.Unlock()
	n := 1
	if l := m.regions.list.Load(); l != nil {
		for n < len(*l) && (*l)[n] != nil {
			n++
		}
	}
	if n == maxRegions {
		return 0, fmt.Errorf("%w: rank %d has %d", ErrRegions, m.rank, n-1)
	}
	m.regions.setRegion(n, r)
	return Region(n), nil
}

// RemoveRegion takes a region of this rank away. Peers must have ended their accesses, and have called ForgetRegion. It
// waits for a poll that is under way.
func (m *Memory) RemoveRegion(r Region) {
	m.ForgetRegion(m.rank, r) // before somebody else gets the number
	m.e.AsPoller(func() {
		m.regions.mu.Lock()
		defer m.regions.mu.Unlock()
		old := m.regions.regionOf(r)
		if old == nil {
			return
		}
		m.regions.setRegion(int(r), nil)
		for peer, k := range old.keys {
			if k.ID != 0 {
				_ = m.remote.Release(peer, k)
			}
		}
	})
}

// ForgetRegion drops what this rank knows of a region of peer, whose number may then stand for another one.
func (m *Memory) ForgetRegion(peer int, r Region) { m.setKnown(peer, r, nil) }

// ReachRegion says that this rank reaches region r of peer in mem, by loads and stores. Peer is not asked. mem must
// not be used any more after ForgetRegion.
func (m *Memory) ReachRegion(peer int, r Region, mem []byte) {
	t := &target{rank: peer, region: r, size: int64(len(mem)), mem: slices.Clip(mem), lost: new(atomic.Bool)}
	if mem == nil {
		t.mem = []byte{}
	}
	m.setKnown(peer, r, t)
}

// OwnRegion is the memory of a region of this rank; false if there is no such region. That of AddPieces has none.
func (m *Memory) OwnRegion(r Region) (mem []byte, ok bool) {
	if x := m.regions.regionOf(r); x != nil {
		return x.mem, true
	}
	return nil, false
}

// Allocate makes zeroed memory for regions. Peers of the node can map it, where the conduit allows that. It is never
// given back to the system while the job lasts. It may call the system. Errors: conduit.ErrGrant, ErrConfig.
func (m *Memory) Allocate(size int64) ([]byte, error) {
	if m.remote != nil {
		return m.remote.Allocate(size)
	}
	return conduit.Allocate(size)
}

// MappedRegion is Mapped for a region of peer.
func (m *Memory) MappedRegion(peer int, r Region) ([]byte, error) {
	t, err := m.askTarget(peer, r)
	if err != nil {
		return nil, err
	}
	return t.mem, nil
}

// setKnown sets what this rank knows of a region of a peer.
func (m *Memory) setKnown(peer int, r Region, t *target) {
	if uint(peer) >= uint(len(m.peers)) || r == 0 {
		return
	}
	m.knowing.Lock()
	defer m.knowing.Unlock()
	if t == nil && m.knownRegion(peer, r) == nil {
		return
	}
	if m.more.Load() == nil {
		all := make([]atomic.Pointer[[]*target], len(m.peers))
		m.more.Store(&all)
	}
	p := m.regionsOf(peer)
	var l []*target
	if old := p.Load(); old != nil {
		l = slices.Clone(*old)
	}
	if int(r) >= len(l) {
		l = append(l, make([]*target, int(r)+1-len(l))...)
	}
	l[r] = t
	p.Store(&l)
}

// knownRegion is what this rank knows of a region of a peer, or of its segment; nil if it has not asked.
func (m *Memory) knownRegion(peer int, r Region) *target {
	if r == 0 {
		return m.peers[peer].Load()
	}
	p := m.regionsOf(peer)
	if p == nil {
		return nil
	}
	if l := p.Load(); l != nil && int(r) < len(*l) {
		return (*l)[r]
	}
	return nil
}

// regionsOf is the list of what this rank knows of a peer's regions; nil if it knows of no region of any peer.
func (m *Memory) regionsOf(peer int) *atomic.Pointer[[]*target] {
	if all := m.more.Load(); all != nil {
		return &(*all)[peer]
	}
	return nil
}

// forgetRegions has accesses to a peer's regions take the slow way.
func (m *Memory) forgetRegions(peer int) {
	if p := m.regionsOf(peer); p != nil {
		p.Store(nil)
	}
}

// keyOf exposes a region to a peer, as keyFor does the segment.
func (m *Memory) keyOf(r *region, peer int) conduit.Key {
	k, ok := r.keys[peer]
	if !ok && m.remote != nil && len(r.mem) > 0 {
		k, _ = m.remote.Expose(peer, r.mem)
		r.keys[peer] = k
	}
	return k
}

// releaseKeys takes all memory away from a peer that has failed.
func (m *Memory) releaseKeys(peer int) {
	if k := m.keys[peer]; k.ID != 0 {
		_ = m.remote.Release(peer, k) // nobody is left who could break the rules
		delete(m.keys, peer)
	}
	l := m.regions.list.Load()
	if l == nil {
		return
	}
	for _, r := range *l {
		if r == nil {
			continue
		}
		if k := r.keys[peer]; k.ID != 0 {
			_ = m.remote.Release(peer, k)
			delete(r.keys, peer)
		}
	}
}
