package hashtable

import "github.com/golci/golci/internal/spin"

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
	for ; last.next != nil; n++ {
		last = last.next
	}
	f.lock.Lock()
	last.next = f.first
	f.first = list
	f.count += n
	f.lock.Unlock()
}

// overflow returns a vacant bucket: a free one, else a new one. The caller holds no lock.
func (t *Table[V]) overflow() *bucket[V] {
	if b := t.free.get(); b != nil {
		return b
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
