package hashtable

import (
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/internal/arch"
	"github.com/golci/golci/internal/invariants"
	"github.com/golci/golci/internal/spin"
)

const (
	bucketBytes = 64
	perBucket   = 3 // entries in one bucket, beside the control entry
)

// state says what an entry with a non-zero key word holds: the side of its nodes, or claimed.
type state = uint32

const (
	// claimed marks an entry whose node Insert has handed out and which its finder will empty. It no longer counts
	// as an item of its key.
	claimed   state = 2
	stateBits       = 2
	stateMask       = 1<<stateBits - 1
)

// bucket is one cache line: the control entry, then the data entries. A bucket of the table's array is a head; the
// buckets behind next overflowed from it and are guarded by the head's lock, their own staying unused.
type bucket[V any] struct {
	lock    spin.Lock
	states  uint32     // two bits an entry; under the lock
	next    *bucket[V] // overflow, or the next free bucket while on the free list; under the lock of either
	entries [perBucket]Entry[V]
}

// Entry is a place in the table that holds one key. Only Insert hands it out.
type Entry[V any] struct {
	// word is the complement of the key, 0 while the entry is free. It turns non-zero only under the bucket's lock. It
	// turns zero under the lock, or, without it, by the one caller that may Empty the entry.
	word atomic.Uint64
	// head is the oldest node under the key, nil while the entry is claimed, meaningless while word is 0. Under the lock.
	head *Node[V]
}

// Empty frees the entry with one write and without the lock; it never waits. On nil it does nothing.
//
// Only the caller to whom Insert gave e may call it, once: after a match, or, after an insertion, if it knows that no
// other call can be matching or removing the node. e must not be used afterwards.
func (e *Entry[V]) Empty() {
	if e != nil {
		if invariants.Enabled && e.head != nil { // nil after a match
			e.head.mark.leave()
		}
		// Release: whoever reuses the entry comes after all that the caller did with it.
		arch.StoreRel64(&e.word, 0)
	}
}

func (b *bucket[V]) state(i int) state { return b.states >> (uint(i) * stateBits) & stateMask }

func (b *bucket[V]) setState(i int, s state) {
	shift := uint(i) * stateBits
	b.states = b.states&^(stateMask<<shift) | s<<shift
}

// fill puts n under word into the free entry i.
func (b *bucket[V]) fill(i int, word uint64, n *Node[V], s state) *Entry[V] {
	e := &b.entries[i]
	e.head = n
	b.setState(i, s)
	// Release costs no more than a plain store here, and Empty may have freed the entry without the lock.
	arch.StoreRel64(&e.word, word)
	return e
}

// take removes the oldest node of entry i and frees the entry if that was the last.
func (b *bucket[V]) take(i int) *Node[V] {
	e := &b.entries[i]
	n := e.head
	if n.next != nil {
		e.head = n.popFront()
		return n
	}
	e.head = nil
	arch.StoreRel64(&e.word, 0)
	return n
}

// vacant tells whether all entries are free. An entry that Empty frees at this moment may count as taken.
func (b *bucket[V]) vacant() bool {
	return b.entries[0].word.Load()|b.entries[1].word.Load()|b.entries[2].word.Load() == 0
}

// wordOf returns what an entry stores for key. It is 0, the mark of a free entry, for the reserved key ^0 alone.
func wordOf(key uint64) uint64 { return ^key }

// at returns bucket i of the array that starts at base; i must be inside.
func at[V any](base *bucket[V], i uint64) *bucket[V] {
	return (*bucket[V])(unsafe.Add(unsafe.Pointer(base), i*bucketBytes))
}
