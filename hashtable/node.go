package hashtable

import "unsafe"

// Node is a value on its way through the table. The caller allocates it, may reuse it as soon as the table has given
// it back, and must not copy it while it is in a table. It may be in one table, under one key, at a time. While it is in
// there, only Value may be touched.
type Node[V any] struct {
	// Under the lock of the bucket the node is in; both nil while it is in no table.
	next *Node[V] // the node that came after it under the same key
	tail *Node[V] // of an oldest node with a next: the youngest
	mark mark     // says whether it is in a table; takes no space in normal builds

	// Value is the caller's; the table never looks at it.
	Value V
}

// append adds n behind the queue whose oldest node is h.
func (h *Node[V]) append(n *Node[V]) {
	last := h
	if h.tail != nil {
		last = h.tail
	}
	last.next = n
	h.tail = n
}

// popFront detaches h, the oldest of a queue of at least two, and returns the new oldest.
func (h *Node[V]) popFront() *Node[V] {
	next := h.next
	if h.tail != next {
		next.tail = h.tail
	}
	h.next, h.tail = nil, nil
	return next
}

// unlink takes n out of the queue behind its oldest node h, and tells whether it was there.
func (h *Node[V]) unlink(n *Node[V]) bool {
	for p := h; p.next != nil; p = p.next {
		if p.next != n {
			continue
		}
		p.next = n.next
		if h.tail == n {
			h.tail = p
		}
		if h.next == nil {
			h.tail = nil
		}
		n.next = nil
		return true
	}
	return false
}

// NodeOf gives the node whose Value v points to; v must be one.
func NodeOf[V any](v *V) *Node[V] {
	var n Node[V]
	return (*Node[V])(unsafe.Add(unsafe.Pointer(v), -int(unsafe.Offsetof(n.Value))))
}
