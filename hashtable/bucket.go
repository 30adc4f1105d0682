package hashtable

import (
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/platform/spin"
)

const (
	bucketBytes = 64
	perBucket   = 3 // entries in one bucket, beside the control entry
)

// state is the kind of nodes in an entry.
type state = uint32

const (
	free    state = 0
	posted  state = 1 // nodes of side Post
	arrived state = 2 // nodes of side Arrive

	stateBits = 2
	stateMask = 1<<stateBits - 1
)

// The control word of a head bucket is its lock. While the lock is free, the word also holds the states of the entries.
// So the exchange that takes the lock returns the states. The store that frees it writes them back.
const (
	chained uint32 = 1 << (perBucket * stateBits) // the head has overflow buckets
	busy    uint32 = 1 << 31                      // locked
)

// bucket is one cache line: the control entry, then the data entries. The lock of a head guards its chain.
type bucket[V any] struct {
	ctl atomic.Uint32 // of a head: lock or states; of an overflow bucket: unused
	// states has stateBits for each entry. In a head it is valid only between open and shut. Under the lock.
	states  uint32
	next    *bucket[V] // overflow, or the next free bucket while on the free list; under the lock of either
	entries [perBucket]entry[V]
}

// entry holds the nodes of one key. Under the lock.
type entry[V any] struct {
	key  uint64   // meaningless while the state is free
	head *Node[V] // the oldest node under the key; nil while the state is free
}

// acquireLock takes the lock of head and returns the control word from before. It spins.
func (head *bucket[V]) acquireLock() uint32 {
	for {
		if c := head.ctl.Swap(busy); c != busy {
			return c
		}
		for n := 0; head.ctl.Load() == busy; n++ {
			spin.Pause(n)
		}
	}
}

// releaseLock frees the lock and stores the control word c. It publishes earlier stores, and does not order later
// loads.
func (head *bucket[V]) releaseLock(c uint32) { arch.StoreRel32(&head.ctl, c) }

// openStates takes the lock of head and makes its states valid.
func (head *bucket[V]) openStates() { head.isOpened(head.acquireLock()) }

func (head *bucket[V]) isOpened(c uint32) { head.states = c &^ chained }

// shutStates is the counterpart of open.
func (head *bucket[V]) shutStates() {
	c := head.states
	if head.next != nil {
		c |= chained
	}
	head.releaseLock(c)
}

func (b *bucket[V]) setState(i int, s state) {
	shift := uint(i) * stateBits
	b.states = b.states&^(stateMask<<shift) | s<<shift
}

// bucketAt returns bucket i of the array that starts at base; i must be inside.
func bucketAt[V any](base *bucket[V], i uint64) *bucket[V] {
	return (*bucket[V])(unsafe.Add(unsafe.Pointer(base), i*bucketBytes))
}
