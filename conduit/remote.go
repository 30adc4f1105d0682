package conduit

import (
	"errors"
	"sync/atomic"
)

// Remote is a conduit through which a rank reaches the memory of another one without a record. It is optional, and may
// lead to some peers only. A wrapper that does not have it hides it.
//
// Memory is reached under a Key, which its owner makes and sends to the peer. Get and Put start an operation, whose end
// is told later. A conduit may bound what is under way. Map gives the memory itself.
type Remote interface {
	// Reach tells what can be done with the memory of peer. It is fixed; the zero Reach for a peer that is not reached.
	Reach(peer int) Reach
	// Allocate makes zeroed memory of size bytes, aligned to a cache line. Peers can map it once it has been exposed to
	// them, if Reach says so. It may call the system, and does not wait for the peers. The memory must not be used after
	// the conduit itself has become garbage; after Close it is private, and may be zero. A size that the system refuses
	// gives a *GrantError, a size that is not positive ErrConfig.
	Allocate(size int64) ([]byte, error)
	// Expose lets peer reach mem under the key that it returns. The caller keeps mem alive until Release, and peers
	// write there meanwhile. Retry means that no more memory can be exposed now, Dead that peer cannot reach any.
	Expose(peer int, mem []byte) (Key, Status)
	// Release ends what Expose began. It waits for a peer that is copying at this moment at most. After it no
	// operation of the peer touches the memory if Reach.Firm says so; those under way end with ErrKey. A key that is
	// not exposed to peer gives ErrKey. Close releases all keys, and Release after it does nothing.
	Release(peer int, k Key) error

	// Get copies bytes from offset off of the peer's memory under k to dst. It takes as many leading bytes of dst as
	// it can and returns their number: 0 if it has no room for another operation now, -1 if peer is dead or not
	// reached. dst must be left alone until c is told.
	Get(peer int, dst []byte, k Key, off int64, c Completion) int
	// Put copies bytes of src to offset off of the peer's memory under k, otherwise like Get. src must not change
	// until c is told; the bytes are then in the peer's memory.
	Put(peer int, src []byte, k Key, off int64, c Completion) int
	// Map gives the peer's memory under k, which lies in memory that the peer has allocated. It is nil without an error
	// while the news of the memory is on its way. What a rank stores there is seen by whoever receives a record that was
	// committed after the stores. lost is set when the memory should not be used any more, because the peer has died or
	// closed its conduit, or this rank has; by then Failed says so. Release does not take the memory away, so peers
	// must have ceased to use it. The error is a *PeerError: the memory is never going to be reached.
	Map(peer int, k Key) (mem []byte, lost *atomic.Bool, err error)
}

// Key names memory of a rank for one peer. The zero Key names none. Its fields may travel in any message.
type Key struct {
	ID   uint64 // the conduit's number for the memory; never 0
	Base uint64 // what the conduit adds offsets to
	Size int64  // in bytes
}

// Holds reports whether the n bytes at offset off lie within the memory.
func (k Key) Holds(off int64, n int) bool {
	return off >= 0 && n >= 0 && off <= k.Size && int64(n) <= k.Size-off
}

// Reach is what a rank can do with the memory of a peer.
type Reach struct {
	Get, Put, Map bool // what there is; Map is for memory that the peer has allocated
	Near          bool // this rank's processor copies while it polls; it is quicker if both ranks copy a half
	Firm          bool // released memory is out of the peer's reach, also for operations under way
	Unseen        bool // memory of Map is not of the Go heap: the race detector does not see what is done there
}

// ErrKey means that a key names no memory, that it has been released, or that an access goes beyond its end.
var ErrKey = errors.New("no such memory under that key")
