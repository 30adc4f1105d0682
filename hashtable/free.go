package hashtable

import (
	"sync/atomic"

	"github.com/golci/golci/internal/spin"
)

// slabBuckets overflow buckets are allocated together: 512 bytes, the largest object with pointers that the allocator
// keeps free of a header, so that all of them start on a cache line.
const slabBuckets = 8

// freeList holds the overflow buckets that no chain uses, linked by next.
type freeList[V any] struct {
	lock spin.Lock
	// Under lock.
	first *bucket[V]
	count int // on the list
	made  int // ever
	sweep int // value of made from which on sweeping the table is worth its time

	// relaxed is set for good by the first Insert into a chain: from then on a chain may hold buckets that were emptied
	// without the lock and that nobody has walked past since.
	relaxed atomic.Bool
}

// get returns a bucket from the list, or nil.
func (f *freeList[V]) get() *bucket[V] {
	f.lock.Lock()
	b := f.first
	if b != nil {
		f.first = b.next
		b.next = nil
		f.count--
	}
	f.lock.Unlock()
	return b
}

// put takes back a list of vacant buckets, nil for none.
func (f *freeList[V]) put(list *bucket[V]) {
	if list == nil {
		return
	}
	last, n := list, 1
	for last.forget(); last.next != nil; n++ {
		last = last.next
		last.forget()
	}
	f.lock.Lock()
	last.next = f.first
	f.first = list
	f.count += n
	f.lock.Unlock()
}

// forget brings the vacant bucket b to its first state: Empty leaves states and pointers behind.
func (b *bucket[V]) forget() {
	b.states = 0
	for i := range b.entries {
		b.entries[i].head = nil
	}
}

// overflow returns a vacant bucket: a free one, else one that a sweep finds, else a new one. The caller holds no lock.
func (t *Table[V]) overflow() *bucket[V] {
	if b := t.free.get(); b != nil {
		return b
	}
	if t.free.relaxed.Load() && t.free.sweepDue() {
		t.sweep()
		if b := t.free.get(); b != nil {
			return b
		}
	}
	return t.free.grow()
}

// grow allocates a slab, puts all but one bucket on the list and returns that one.
func (f *freeList[V]) grow() *bucket[V] {
	slab := new([slabBuckets]bucket[V])
	for i := 1; i < slabBuckets-1; i++ {
		slab[i].next = &slab[i+1]
	}
	f.lock.Lock()
	f.made += slabBuckets
	f.lock.Unlock()
	f.put(&slab[1])
	return &slab[0]
}

// sweepDue tells whether a sweep is likely to find more than it costs.
func (f *freeList[V]) sweepDue() bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.made >= f.sweep
}

// sweep gives back the vacant buckets of all chains. Another is due when the list is empty and at least twice as many
// buckets exist as this one found in use, and one for each eight of the table. So the buckets in existence stay within a
// constant factor of those in use, and at least one is handed out for each eight heads swept.
func (t *Table[V]) sweep() {
	for i := range t.keep {
		head := &t.keep[i]
		head.open()
		vacant := head.trim()
		head.shut()
		t.free.put(vacant)
	}
	f := &t.free
	f.lock.Lock()
	f.sweep = 2*(f.made-f.count) + len(t.keep)/8
	f.lock.Unlock()
}
