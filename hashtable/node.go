package hashtable

import "unsafe"

// Node carries a value through the table. The caller allocates it, and may reuse it once the table has returned it. It
// may be in one table under one key at a time. Meanwhile the caller must not copy it, and may touch only Value.
type Node[V any] struct {
	// Under the lock of the bucket the node is in; both nil while it is in no table.
	next *Node[V] // the next younger node under the same key
	tail *Node[V] // of an oldest node with a next: the youngest
	mark mark     // tells whether the node is in a table; takes no space in normal builds

	Value V // belongs to the caller; the table never reads it
}

// appendNode adds n behind the queue whose oldest node is h.
func (h *Node[V]) appendNode(n *Node[V]) {
	last := h
	if h.tail != nil {
		last = h.tail
	}
	last.next = n
	h.tail = n
}

// popFront removes h, the oldest node of a queue of at least two, and returns the new oldest node.
func (h *Node[V]) popFront() *Node[V] {
	next := h.next
	if h.tail != next {
		next.tail = h.tail
	}
	h.next, h.tail = nil, nil
	return next
}

// unlinkNode removes n from the queue whose oldest node is h, and tells whether it was there. n is not h.
func (h *Node[V]) unlinkNode(n *Node[V]) bool {
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

// NodeOf returns the node that contains v. v must point to the Value of a node.
func NodeOf[V any](v *V) *Node[V] {
	var n Node[V]
	return (*Node[V])(unsafe.Add(unsafe.Pointer(v), -int(unsafe.Offsetof(n.Value))))
}
