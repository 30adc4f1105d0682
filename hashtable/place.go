package hashtable

// place is an entry of a chain whose head is open; its zero value is none.
type place[V any] struct {
	b *bucket[V]
	i int
}

func (p place[V]) ok() bool         { return p.b != nil }
func (p place[V]) entry() *entry[V] { return &p.b.entries[p.i] }
func (p place[V]) oldest() *Node[V] { return p.entry().head }

func (p place[V]) state() state { return p.b.states >> (uint(p.i) * stateBits) & stateMask }

// find returns the entry of key in the chain of head, which is open, and the free entry before it that is nearest.
func (head *bucket[V]) find(key uint64) (found, spare place[V]) {
	for b := head; b != nil; b = b.next {
		states := b.states
		for i := range b.entries {
			s := states & stateMask
			states >>= stateBits
			switch {
			case s == free:
				if !spare.ok() {
					spare = place[V]{b, i}
				}
			case b.entries[i].key == key:
				return place[V]{b, i}, spare
			}
		}
	}
	return found, spare
}

// fill puts n under key into the free entry p.
func (p place[V]) fill(key uint64, n *Node[V], s state) {
	n.mark.enter()
	p.b.entries[p.i] = entry[V]{key, n}
	p.b.setState(p.i, s)
}

// add puts n behind the nodes of p.
func (p place[V]) add(n *Node[V]) {
	n.mark.enter()
	p.oldest().append(n)
}

// take removes the oldest node of p. If it was the only one, take frees the entry.
func (p place[V]) take() *Node[V] {
	e := p.entry()
	n := e.head
	n.mark.leave()
	if n.next != nil {
		e.head = n.popFront()
		return n
	}
	e.head = nil
	p.b.setState(p.i, free)
	return n
}

// remove removes n from the nodes of p, and tells whether it was there.
func (p place[V]) remove(n *Node[V]) bool {
	if p.oldest() == n {
		p.take()
		return true
	}
	if !p.oldest().unlink(n) {
		return false
	}
	n.mark.leave()
	return true
}

// link puts the vacant bucket extra behind head, which is open, and returns its first entry.
func (head *bucket[V]) link(extra *bucket[V]) place[V] {
	extra.next = head.next
	head.next = extra
	return place[V]{extra, 0}
}

// vacant tells whether all entries are free.
func (b *bucket[V]) vacant() bool { return b.states == 0 }

// trim removes the vacant overflow buckets from the chain of head, which is open, and returns them as a list.
func (head *bucket[V]) trim() (vacant *bucket[V]) {
	for p := head; p.next != nil; {
		b := p.next
		if !b.vacant() {
			p = b
			continue
		}
		p.next = b.next
		b.next = vacant
		vacant = b
	}
	return vacant
}
