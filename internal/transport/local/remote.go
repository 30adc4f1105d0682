package local

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/conduit"
)

// exposed is the memory of one rank that peers reach. A key's number is a slot and, above it, its use.
type exposed struct {
	mu     sync.Mutex // guards the rest
	slots  []exposure
	free   []uint32 // slots that are not in use
	closed bool     // nothing is exposed any more
}

// exposure is memory that one peer reaches.
type exposure struct {
	mem   []byte
	peer  int
	use   uint32 // counts the keys of this slot, from 1
	open  bool   // exposed
	users int    // copies under way
}

const slotBits = 32

// addMemory exposes mem to peer.
func (x *exposed) addMemory(peer int, mem []byte) conduit.Key {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := uint32(len(x.slots))
	if n := len(x.free); n > 0 {
		i, x.free = x.free[n-1], x.free[:n-1]
	} else {
		x.slots = append(x.slots, exposure{})
	}
	s := &x.slots[i]
	s.use = max(s.use+1, 1)
	s.mem, s.peer, s.open = mem, peer, true
	return conduit.Key{ID: uint64(s.use)<<slotBits | uint64(i), Size: int64(len(mem))}
}

// findSlot gives the slot of a key that is exposed to peer, or nil. Under mu.
func (x *exposed) findSlot(peer int, id uint64) *exposure {
	i := uint32(id)
	if uint64(i) >= uint64(len(x.slots)) {
		return nil
	}
	if s := &x.slots[i]; s.open && s.use == uint32(id>>slotBits) && s.peer == peer {
		return s
	}
	return nil
}

// enterCopy gives n bytes at off of the memory of a key for a copy, which leave ends; nil if there are none.
func (x *exposed) enterCopy(peer int, id uint64, off int64, n int) []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.findSlot(peer, id)
	if s == nil || x.closed || !(conduit.Key{Size: int64(len(s.mem))}).Holds(off, n) {
		return nil
	}
	s.users++
	return s.mem[off : off+int64(n)]
}

func (x *exposed) leaveCopy(id uint64) {
	x.mu.Lock()
	x.slots[uint32(id)].users--
	x.mu.Unlock()
}

// removeKey takes memory away from a peer and waits for its copy; false if it is not exposed.
func (x *exposed) removeKey(peer int, id uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return true
	}
	if x.findSlot(peer, id) == nil {
		return false
	}
	x.shutSlot(uint32(id))
	return true
}

// shutSlot ends the use of slot i. Under mu, which it leaves while it waits.
func (x *exposed) shutSlot(i uint32) {
	x.slots[i].open = false
	for x.slots[i].users > 0 {
		x.mu.Unlock()
		runtime.Gosched()
		x.mu.Lock()
	}
	x.slots[i].mem = nil
	x.free = append(x.free, i)
}

// closeAll takes all away.
func (x *exposed) closeAll() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for i := range x.slots {
		if x.slots[i].open {
			x.shutSlot(uint32(i))
		}
	}
}

func (e *rankMemory) doesReach(peer int) bool {
	return uint(peer) < uint(len(e.all)) && peer != e.ring.Rank()
}

// Reach implements conduit.Remote. Messages of a rank to itself take the way of records.
func (e *rankMemory) Reach(peer int) conduit.Reach {
	ok := e.doesReach(peer)
	return conduit.Reach{Get: ok, Put: ok, Map: ok, Near: ok, Firm: ok}
}

// Allocate implements conduit.Remote. It is Go memory, so the race detector sees what peers do there.
func (e *rankMemory) Allocate(size int64) ([]byte, error) { return conduit.Allocate(size) }

func (e *rankMemory) Expose(peer int, mem []byte) (conduit.Key, conduit.Status) {
	if !e.doesReach(peer) || e.ring.Failed(peer) != nil {
		return conduit.Key{}, conduit.Dead
	}
	return e.exposed.addMemory(peer, mem), conduit.OK
}

func (e *rankMemory) Release(peer int, k conduit.Key) error {
	if !e.exposed.removeKey(peer, k.ID) {
		return keyError(peer, k)
	}
	return nil
}

func keyError(peer int, k conduit.Key) error {
	return &conduit.PeerError{Peer: peer, Err: conduit.ErrKey, Detail: fmt.Sprintf("key %#x of %d bytes", k.ID, k.Size)}
}

func (e *rankMemory) Map(peer int, k conduit.Key) ([]byte, *atomic.Bool, error) {
	if !e.doesReach(peer) {
		return nil, nil, &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: "mapped memory"}
	}
	x := &e.all[peer].exposed
	mem := x.enterCopy(e.ring.Rank(), k.ID, 0, int(k.Size))
	if mem == nil {
		return nil, nil, keyError(peer, k)
	}
	x.leaveCopy(k.ID)
	return mem[:len(mem):len(mem)], &e.lost[peer], nil
}

// Move implements ring.Memory.
func (e *rankMemory) Move(peer int, get bool, local []byte, k conduit.Key, off int64) error {
	x := &e.all[peer].exposed
	mem := x.enterCopy(e.ring.Rank(), k.ID, off, len(local))
	if mem == nil {
		return keyError(peer, k)
	}
	defer x.leaveCopy(k.ID)
	if get {
		copy(local, mem)
	} else {
		copy(mem, local)
	}
	return nil
}
