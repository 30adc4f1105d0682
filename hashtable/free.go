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

// getBucket returns a bucket from the list, or nil.
func (f *freeList[V]) getBucket() *bucket[V] {
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

// putBuckets adds a list of vacant buckets; nil is an empty list.
func (f *freeList[V]) putBuckets(list *bucket[V]) {
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

// overflowBucket returns a vacant bucket from the free list, or a new one. The caller holds no lock.
func (t *Table[V]) overflowBucket() *bucket[V] {
	if b := t.free.getBucket(); b != nil {
		return b
	}
	return t.free.growSlab()
}

// growSlab allocates a slab, puts all but one bucket on the list and returns that one.
func (f *freeList[V]) growSlab() *bucket[V] {
	slab := new([slabBuckets]bucket[V])
	for i := 1; i < slabBuckets-1; i++ {
		slab[i].next = &slab[i+1]
	}
	f.lock.Lock()
	f.made += slabBuckets
	f.lock.Unlock()
	f.putBuckets(&slab[1])
	return &slab[0]
}
