package realm

import (
	"math"
	"slices"
	"sort"
)

// allocator gives out parts of size bytes. It takes the first free part that is large enough, and joins what becomes
// free with its neighbours. Its owner locks it.
type allocator struct {
	size int64
	used int64
	free []extent // sorted; no two of them touch
}

type extent struct{ off, size int64 }

func newAllocator(size int64) *allocator {
	a := &allocator{size: size}
	if size > 0 {
		a.free = []extent{{0, size}}
	}
	return a
}

// allocate allocates size bytes at a multiple of align, a power of two. False if there is no such part.
func (a *allocator) allocate(size, align int64) (off int64, ok bool) {
	if size < 0 || size > a.size || align > math.MaxInt64/2 {
		return 0, false
	}
	size = max(size, 1) // so that two instances never have the same place
	for i, f := range a.free {
		off = (f.off + align - 1) &^ (align - 1)
		end := f.off + f.size
		if off > end-size {
			continue
		}
		var left []extent
		if off > f.off {
			left = append(left, extent{f.off, off - f.off})
		}
		if off+size < end {
			left = append(left, extent{off + size, end - off - size})
		}
		a.free = slices.Replace(a.free, i, i+1, left...)
		a.used += size
		return off, true
	}
	return 0, false
}

// giveBack frees what allocate has allocated.
func (a *allocator) giveBack(off, size int64) {
	size = max(size, 1)
	a.used -= size
	i := sort.Search(len(a.free), func(i int) bool { return a.free[i].off > off })
	a.free = slices.Insert(a.free, i, extent{off, size})
	if i+1 < len(a.free) && off+size == a.free[i+1].off {
		a.free[i].size += a.free[i+1].size
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.free[i-1].off+a.free[i-1].size == off {
		a.free[i-1].size += a.free[i].size
		a.free = slices.Delete(a.free, i, i+1)
	}
}

// largest is the size of the largest free part.
func (a *allocator) largest() (n int64) {
	for _, f := range a.free {
		n = max(n, f.size)
	}
	return n
}
