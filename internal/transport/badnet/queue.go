package badnet

import "time"

// Queue holds what is under way until it is due. Times are on any clock, such as a count of polls. The zero value is
// ready for use. It is a binary heap, and not container/heap's, which allocates for each element.
type Queue[T any] struct {
	heap    []entry[T]
	entered uint64
}

type entry[T any] struct {
	due   time.Duration
	order uint64 // of entering: decides between those due at once
	value T
}

// Len is how many are held.
func (q *Queue[T]) Len() int { return len(q.heap) }

// Next tells when the next is due; false if none is held.
func (q *Queue[T]) Next() (due time.Duration, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].due, true
}

func (q *Queue[T]) isBefore(a, b int) bool {
	h := q.heap
	return h[a].due < h[b].due || h[a].due == h[b].due && h[a].order < h[b].order
}

// Push holds v until due.
func (q *Queue[T]) Push(due time.Duration, v T) {
	q.entered++
	q.heap = append(q.heap, entry[T]{due, q.entered, v})
	h := q.heap
	for at := len(h) - 1; at > 0; {
		up := (at - 1) / 2
		if !q.isBefore(at, up) {
			return
		}
		h[at], h[up] = h[up], h[at]
		at = up
	}
}

// Pop gives the next that is due at now or before, and when it was due; false if there is none.
func (q *Queue[T]) Pop(now time.Duration) (v T, due time.Duration, ok bool) {
	if next, some := q.Next(); !some || next > now {
		return v, 0, false
	}
	h := q.heap
	first, last := h[0], len(h)-1
	h[0], h[last] = h[last], entry[T]{}
	q.heap = h[:last]
	for at := 0; ; {
		down := 2*at + 1
		if down+1 < last && q.isBefore(down+1, down) {
			down++
		}
		if down >= last || !q.isBefore(down, at) {
			return first.value, first.due, true
		}
		h[at], h[down] = h[down], h[at]
		at = down
	}
}

// maxIdle is how many bytes of memory Buffers keep for copies to come.
const maxIdle = 8 << 20

// Buffers are the memory of packets under way, used again. The zero value is ready for use.
type Buffers struct {
	free [][]byte
	idle int // bytes in free
}

// Copy copies a packet, into memory that was freed if there is some.
func (b *Buffers) Copy(packet []byte) []byte {
	var c []byte
	if n := len(b.free); n > 0 {
		c, b.free = b.free[n-1], b.free[:n-1]
		b.idle -= cap(c)
	}
	return append(c[:0], packet...)
}

// Free gives back the memory of a copy.
func (b *Buffers) Free(packet []byte) {
	if b.idle+cap(packet) <= maxIdle {
		b.idle += cap(packet)
		b.free = append(b.free, packet)
	}
}
