package hashtable

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/invariants"
)

// Side is the kind of a node. Nodes of different sides under the same key match.
type Side uint32

// The two sides.
const (
	Post   Side = 0 // an operation that waits for a message
	Arrive Side = 1 // a message that waits for an operation
)

// String returns the name of s.
func (s Side) String() string {
	switch s {
	case Post:
		return "post"
	case Arrive:
		return "arrive"
	}
	return fmt.Sprintf("side(%d)", uint32(s))
}

// Reserved is the smallest key that must not be used. The upper sixteen bits of reserved keys are all ones. Layers
// above refuse such keys where they make them.
const Reserved uint64 = 0xFFFF << 48

// ErrSize is wrapped by New for a number of entries out of range.
var ErrSize = errors.New("hashtable: bad number of entries")

const (
	// minBuckets makes the array an object of whole pages, so without a header, on a cache line.
	minBuckets = 512
	maxBuckets = 1 << 32
)

// Table pairs posted and arrived nodes by key. New makes one. Any number of goroutines may call all methods.
type Table[V any] struct {
	// Read only after New.
	base *bucket[V]
	mask uint64 // buckets - 1
	log2 uint8  // of the number of buckets
	keep []bucket[V]
	// sealed is the number of sealed groups. It changes rarely, so it shares the line that every call reads.
	sealed atomic.Int32
	// lockLeft, if not nil, is called when an insertion has left its lock to get an overflow bucket. For tests.
	lockLeft func()

	seals seals
	_     [bucketBytes]byte // keeps the free list's writes off the line above, which every call reads
	free  freeList[V]
}

// New returns a table for about entries nodes with distinct keys at a time. It has one bucket for each, rounded up to
// a power of two, and at least 512. So overflow is rare. The table works with more nodes, but is slower. A bucket
// takes 64 bytes. If entries is negative or above 2^32, the error wraps ErrSize.
func New[V any](entries int) (*Table[V], error) {
	if entries < 0 || entries > maxBuckets {
		return nil, fmt.Errorf("%w: %d, allowed 0 to %d", ErrSize, entries, maxBuckets)
	}
	n := max(minBuckets, entries)
	log2 := bits.Len(uint(n - 1))
	t := &Table[V]{
		keep: make([]bucket[V], 1<<log2),
		mask: 1<<log2 - 1,
		log2: uint8(log2),
	}
	t.base = &t.keep[0]
	return t, nil
}

// Buckets returns the number of buckets.
func (t *Table[V]) Buckets() int { return len(t.keep) }

func (t *Table[V]) bucketOf(key uint64) *bucket[V] {
	return bucketAt(t.base, slotOf(key, t.log2)&t.mask)
}

// InsertOrMatch is the main operation of the message path. If nodes of the other side wait under key, it removes the
// oldest of them from the table and returns it. n then stays outside. Otherwise it adds n as the youngest node of its
// side under key, and returns nil. n then belongs to the table until a call returns or removes it.
//
// key must be below Reserved. side is the side of n. If the key's group is sealed, ok is false and the table does not
// change. For a nil n it returns nil and true, and the table does not change. It may allocate overflow buckets. It
// does not block or switch threads.
func (t *Table[V]) InsertOrMatch(key uint64, n *Node[V], side Side) (match *Node[V], ok bool) {
	if invariants.Enabled {
		checkArgs(key, n, side)
	}
	if n == nil {
		return nil, true
	}
	b, mine := t.bucketOf(key), stateOf(side)
	c := b.ctl.Swap(busy)
	if t.isSealed(key) {
		b.leaveLock(c)
		return nil, false
	}
	e := &b.entries[0]
	// In a table of the right size nearly every bucket is empty, or has one key in it.
	if c == free {
		n.mark.enterMark()
		e.head = n
		e.key = key
		b.releaseLock(mine)
		return nil, true
	}
	if c == oppositeState(mine) && e.key == key {
		match = e.head
		match.mark.leaveMark()
		if match.next == nil {
			e.head = nil
			b.releaseLock(free)
			return match, true
		}
		e.head = match.popFront()
		b.releaseLock(c)
		return match, true
	}
	if c == mine && e.key == key {
		n.mark.enterMark()
		e.head.appendNode(n)
		b.releaseLock(c)
		return nil, true
	}
	if c == busy {
		c = b.acquireLock()
		if t.isSealed(key) {
			b.releaseLock(c)
			return nil, false
		}
	}
	return t.insertOrMatchSlow(b, c, key, n, mine)
}

// leaveLock frees the lock if the caller has got it. c is the control word that the caller's exchange returned.
func (head *bucket[V]) leaveLock(c uint32) {
	if c != busy {
		head.releaseLock(c)
	}
}

// takeOnly removes the oldest node of the first entry, the only one in use, and frees the lock; c was its word.
func (head *bucket[V]) takeOnly(c uint32) *Node[V] {
	e := &head.entries[0]
	n := e.head
	n.mark.leaveMark()
	if n.next != nil {
		e.head = n.popFront()
	} else {
		e.head, c = nil, free
	}
	head.releaseLock(c)
	return n
}

// stateOf returns the state of an entry with nodes of side s. An invalid s counts as one of the two sides.
func stateOf(s Side) state { return state(s&1) + posted }

func sideOf(s state) Side { return Side(s - posted) }

// oppositeState returns the state that matches s.
func oppositeState(s state) state { return posted + arrived - s }

// checkArgs is called in checking builds.
func checkArgs[V any](key uint64, n *Node[V], side Side) {
	invariants.Check(key < Reserved, "reserved key %#x", key)
	invariants.Check(n != nil, "nil node under key %#x", key)
	invariants.Check(side <= Arrive, "side %d under key %#x", side, key)
}
