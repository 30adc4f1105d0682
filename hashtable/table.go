package hashtable

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/golci/golci/internal/invariants"
)

// Side says which of the two kinds of item a node is. Nodes of different sides under the same key match.
type Side uint32

// The two sides.
const (
	Post   Side = 0 // an operation that waits for a message
	Arrive Side = 1 // a message that waits for an operation
)

// Other returns the side that s matches.
func (s Side) Other() Side { return s ^ 1 }

// String names the side.
func (s Side) String() string {
	switch s {
	case Post:
		return "post"
	case Arrive:
		return "arrive"
	}
	return fmt.Sprintf("side(%d)", uint32(s))
}

// Reserved is the first of the keys that must not be used: those whose upper 16 bits are all ones. Layers above
// refuse them where a key is made.
const Reserved uint64 = 0xFFFF << 48

// ErrSize is returned by New for a size it cannot make.
var ErrSize = errors.New("hashtable: bad number of entries")

const (
	// minBuckets makes the array an object of its own pages, for only such an object starts on a cache line: smaller
	// ones with pointers may carry an eight-byte header of the collector's.
	minBuckets = 512
	maxBuckets = 1 << 32
)

// Table pairs posted and arrived nodes by key. Make it with New. All methods may be called by any number of
// goroutines.
type Table[V any] struct {
	// Read only after New.
	base *bucket[V]
	mask uint64 // buckets - 1
	log2 uint8  // of the number of buckets
	keep []bucket[V]
	// sealed is how many groups are sealed. It changes rarely, so it lies with what every call reads.
	sealed atomic.Int32
	// lockLeft, if not nil, is called while an insertion has left its bucket's lock to get an overflow bucket. For tests.
	lockLeft func()

	seals seals
	_     [bucketBytes]byte // keeps the free list's writes off the line above, which every call reads
	free  freeList[V]
}

// New returns a table for about the given number of nodes with distinct keys at a time: one bucket a node, rounded up
// to a power of two, so that overflow is rare. More nodes are correct, and slower. A bucket takes 64 bytes; the least
// table has 512. It returns ErrSize if entries is negative or above 2^32.
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

func (t *Table[V]) bucket(key uint64) *bucket[V] { return at(t.base, slot(key, t.log2)&t.mask) }

// InsertOrMatch is the one operation of the message path. If nodes of the other side wait under key, it takes the
// oldest of them out of the table and returns it, and n stays outside. Otherwise it adds n behind the nodes of the
// same side under key and returns nil; n then belongs to the table until a call returns it or Remove takes it out.
//
// key must be below Reserved; side is that of n. ok is false, and the table is as before, if the key's group is sealed. A
// nil n is refused: nil and true are returned and the table is as before.
func (t *Table[V]) InsertOrMatch(key uint64, n *Node[V], side Side) (match *Node[V], ok bool) {
	if invariants.Enabled {
		checkArgs(key, n, side)
	}
	if n == nil {
		return nil, true
	}
	b, mine := t.bucket(key), stateOf(side)
	c := b.ctl.Swap(busy)
	if t.isSealed(key) {
		b.leave(c)
		return nil, false
	}
	e := &b.entries[0]
	// In a table of the right size nearly every bucket is empty, or has one key in it.
	if c == free {
		n.mark.enter()
		e.head = n
		e.key = key
		b.release(mine)
		return nil, true
	}
	if c == opposite(mine) && e.key == key {
		match = e.head
		match.mark.leave()
		if match.next == nil {
			e.head = nil
			b.release(free)
			return match, true
		}
		e.head = match.popFront()
		b.release(c)
		return match, true
	}
	if c == mine && e.key == key {
		n.mark.enter()
		e.head.append(n)
		b.release(c)
		return nil, true
	}
	if c == busy {
		c = b.acquire()
		if t.isSealed(key) {
			b.release(c)
			return nil, false
		}
	}
	return t.insertOrMatchSlow(b, c, key, n, mine)
}

// leave frees the lock that the caller has tried to take and found c, if it has got it.
func (head *bucket[V]) leave(c uint32) {
	if c != busy {
		head.release(c)
	}
}

// takeOnly removes the oldest node of the bucket's only entry in use, its first, and frees the lock, which the caller
// took as c.
func (head *bucket[V]) takeOnly(c uint32) *Node[V] {
	e := &head.entries[0]
	n := e.head
	n.mark.leave()
	if n.next != nil {
		e.head = n.popFront()
	} else {
		e.head, c = nil, free
	}
	head.release(c)
	return n
}

// stateOf returns the state of an entry that holds nodes of side s. Values that are no side act as one of the two.
func stateOf(s Side) state { return state(s&1) + posted }

func sideOf(s state) Side { return Side(s - posted) }

// opposite returns the state that an entry in state s matches.
func opposite(s state) state { return posted + arrived - s }

// checkArgs is called in checking builds.
func checkArgs[V any](key uint64, n *Node[V], side Side) {
	invariants.Check(key < Reserved, "reserved key %#x", key)
	invariants.Check(n != nil, "nil node under key %#x", key)
	invariants.Check(side <= Arrive, "side %d under key %#x", side, key)
}
