package hashtable

import "github.com/golci/golci/internal/platform/spin"

// slabBuckets is the number of overflow buckets in one allocation of 512 bytes. Larger objects with pointers get a
// header from the allocator. Without it all buckets start on a cache line.
const slabBuckets = 8

// freeList holds overflow buckets outside chains. Their field next links them.
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

// put adds a list of vacant buckets; nil is an empty list.
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

// overflow returns a vacant bucket from the free list, or a new one. The caller holds no lock.
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
