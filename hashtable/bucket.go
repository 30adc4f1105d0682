package hashtable

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/internal/arch"
	"github.com/golci/golci/internal/invariants"
)

const (
	bucketBytes = 64
	perBucket   = 3 // entries in one bucket, beside the control entry
)

// state says what an entry holds. An entry is free if its state is free or its key word is 0.
type state = uint32

const (
	free    state = 0
	posted  state = 1 // nodes of side Post
	arrived state = 2 // nodes of side Arrive
	// claimed marks an entry whose node Insert has handed out and which its finder will empty. It no longer counts as
	// an item of its key.
	claimed state = 3

	stateBits = 2
	stateMask = 1<<stateBits - 1
)

// The control word of a head bucket is its lock and, while that is free, the states of its entries: taking the lock
// with one exchange brings them along, and the release store that frees it puts them back.
const (
	chained uint32 = 1 << (perBucket * stateBits) // the head has overflow buckets
	busy    uint32 = 1 << 31                      // locked
)

// bucket is one cache line: the control entry, then the data entries. A bucket of the table's array is a head; the
// buckets behind next overflowed from it and are guarded by the head's lock.
type bucket[V any] struct {
	ctl atomic.Uint32 // of a head: lock or states; of an overflow bucket: unused
	// states has stateBits an entry. Of a head it is valid between open and shut only. Under the lock.
	states  uint32
	next    *bucket[V] // overflow, or the next free bucket while on the free list; under the lock of either
	entries [perBucket]Entry[V]
}

// Entry is a place in the table that holds one key. Only Insert hands it out.
type Entry[V any] struct {
	// word is the complement of the key. It turns non-zero only under the bucket's lock; it turns zero without it, by
	// the one caller that may Empty the entry. Meaningless while the state is free.
	word atomic.Uint64
	// head is the oldest node under the key; nil while the entry is claimed, meaningless while it is free. Under the
	// lock.
	head *Node[V]
}

// Empty frees the entry with one write and without the lock; it never waits. On nil it does nothing.
//
// Only the caller to whom Insert gave e may call it, once: after a match, or, after an insertion, if it knows that no
// other call can be matching or removing the node. e must not be used afterwards.
func (e *Entry[V]) Empty() {
	if e == nil {
		return
	}
	if invariants.Enabled && e.head != nil { // nil after a match
		e.head.mark.leave()
	}
	// Release: whoever reuses the entry comes after all that the caller did with it.
	arch.StoreRel64(&e.word, 0)
}

// acquire takes the lock of head and returns its control word as it was. It spins, and after a while lets other
// goroutines run, because the holder may have been preempted.
func (head *bucket[V]) acquire() uint32 {
	for {
		if c := head.ctl.Swap(busy); c != busy {
			return c
		}
		for n := 0; head.ctl.Load() == busy; n++ {
			if n < spinsBeforeYield {
				arch.Pause()
			} else {
				runtime.Gosched()
			}
		}
	}
}

const spinsBeforeYield = 200

// release frees the lock and leaves c as the control word. It publishes what the caller wrote under the lock, but does
// not order its later loads, which nothing here relies on.
func (head *bucket[V]) release(c uint32) { arch.StoreRel32(&head.ctl, c) }

// open takes the lock of head and makes its states valid.
func (head *bucket[V]) open() { head.opened(head.acquire()) }

func (head *bucket[V]) opened(c uint32) { head.states = c &^ chained }

// shut is the counterpart of open.
func (head *bucket[V]) shut() {
	c := head.states
	if head.next != nil {
		c |= chained
	}
	head.release(c)
}

func (b *bucket[V]) setState(i int, s state) {
	shift := uint(i) * stateBits
	b.states = b.states&^(stateMask<<shift) | s<<shift
}

// at returns bucket i of the array that starts at base; i must be inside.
func at[V any](base *bucket[V], i uint64) *bucket[V] {
	return (*bucket[V])(unsafe.Add(unsafe.Pointer(base), i*bucketBytes))
}
