package hashtable

// entryRef is an entry of a chain whose head is open; its zero value is none.
type entryRef[V any] struct {
	b *bucket[V]
	i int
}

func (p entryRef[V]) ok() bool             { return p.b != nil }
func (p entryRef[V]) entryOf() *entry[V]   { return &p.b.entries[p.i] }
func (p entryRef[V]) oldestNode() *Node[V] { return p.entryOf().head }

func (p entryRef[V]) stateOf() state { return p.b.states >> (uint(p.i) * stateBits) & stateMask }

// findEntry returns the entry of key in the chain of head, which is open, and the free entry before it that is nearest.
func (head *bucket[V]) findEntry(key uint64) (found, spare entryRef[V]) {
	for b := head; b != nil; b = b.next {
		states := b.states
		for i := range b.entries {
			s := states & stateMask
			states >>= stateBits
			switch {
			case s == free:
				if !spare.ok() {
					spare = entryRef[V]{b, i}
				}
			case b.entries[i].key == key:
				return entryRef[V]{b, i}, spare
			}
		}
	}
	return found, spare
}

// fillEntry puts n under key into the free entry p.
func (p entryRef[V]) fillEntry(key uint64, n *Node[V], s state) {
	n.mark.enterMark()
	p.b.entries[p.i] = entry[V]{key, n}
	p.b.setState(p.i, s)
}

// addNode puts n behind the nodes of p.
func (p entryRef[V]) addNode(n *Node[V]) {
	n.mark.enterMark()
	p.oldestNode().appendNode(n)
}

// takeOldest removes the oldest node of p. If it was the only one, take frees the entry.
func (p entryRef[V]) takeOldest() *Node[V] {
	e := p.entryOf()
	n := e.head
	n.mark.leaveMark()
	if n.next != nil {
		e.head = n.popFront()
		return n
	}
	e.head = nil
	p.b.setState(p.i, free)
	return n
}

// removeNode removes n from the nodes of p, and tells whether it was there.
func (p entryRef[V]) removeNode(n *Node[V]) bool {
	if p.oldestNode() == n {
		p.takeOldest()
		return true
	}
	if !p.oldestNode().unlinkNode(n) {
		return false
	}
	n.mark.leaveMark()
	return true
}

// linkBucket puts the vacant bucket extra behind head, which is open, and returns its first entry.
func (head *bucket[V]) linkBucket(extra *bucket[V]) entryRef[V] {
	extra.next = head.next
	head.next = extra
	return entryRef[V]{extra, 0}
}

// isVacant tells whether all entries are free.
func (b *bucket[V]) isVacant() bool { return b.states == 0 }

// trimVacant removes the vacant overflow buckets from the chain of head, which is open, and returns them as a list.
func (head *bucket[V]) trimVacant() (vacant *bucket[V]) {
	for p := head; p.next != nil; {
		b := p.next
		if !b.isVacant() {
			p = b
			continue
		}
		p.next = b.next
		b.next = vacant
		vacant = b
	}
	return vacant
}
