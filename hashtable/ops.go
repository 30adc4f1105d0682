package hashtable

// insertOrMatchSlow is InsertOrMatch beyond the fast path. The caller holds the lock, and c is the control word.
func (t *Table[V]) insertOrMatchSlow(head *bucket[V], c uint32, key uint64, n *Node[V], mine state) (match *Node[V], ok bool) {
	found, spare, extra, sealed := t.findOrSpare(head, c, key)
	switch {
	case sealed:
	case !found.ok():
		spare.fillEntry(key, n, mine)
	case found.stateOf() == mine:
		found.addNode(n)
	default:
		match = found.takeOldest()
	}
	t.shutBucket(head)
	t.free.putBuckets(extra)
	return match, !sealed
}

// findOrSpare finds the entry of key in the chain of head, or else a free entry. The caller holds the lock of head,
// and c is the control word. findOrSpare returns with head open.
//
// If the chain has neither entry, findOrSpare releases the lock, gets an overflow bucket, takes the lock and looks
// again. If the bucket is not needed any more, extra is that bucket, and the caller puts it on the free list. sealed
// tells that the group of key was sealed meanwhile.
func (t *Table[V]) findOrSpare(
	head *bucket[V], c uint32, key uint64,
) (found, spare entryRef[V], extra *bucket[V], sealed bool) {
	head.isOpened(c)
	found, spare = head.findEntry(key)
	if found.ok() || spare.ok() {
		return found, spare, nil, false
	}
	wasSealed := t.isSealed(key)
	head.shutStates()
	if t.lockLeft != nil {
		t.lockLeft()
	}
	extra = t.overflowBucket()
	head.openStates()
	if !wasSealed && t.isSealed(key) {
		return found, spare, extra, true
	}
	found, spare = head.findEntry(key)
	if found.ok() || spare.ok() {
		return found, spare, extra, false
	}
	return found, head.linkBucket(extra), nil, false
}

// shutBucket unlocks head, which is open, and gives the vacant overflow buckets of its chain back.
func (t *Table[V]) shutBucket(head *bucket[V]) {
	if head.next == nil {
		head.releaseLock(head.states)
		return
	}
	vacant := head.trimVacant()
	head.shutStates()
	t.free.putBuckets(vacant)
}

// Match removes the oldest node of the given side under key and returns it, or nil if there is none. side is the side
// of the node to find. ok is false if the key's group is sealed. It does not block or switch threads.
func (t *Table[V]) Match(key uint64, side Side) (n *Node[V], ok bool) {
	head := t.bucketOf(key)
	c := head.ctl.Swap(busy)
	if t.isSealed(key) {
		head.leaveLock(c)
		return nil, false
	}
	switch c {
	case free:
		head.releaseLock(free)
		return nil, true
	case stateOf(side):
		if head.entries[0].key == key {
			return head.takeOnly(c), true
		}
	case busy:
		return t.matchSlow(key, side)
	}
	head.isOpened(c)
	n = head.takeOldest(key, stateOf(side))
	t.shutBucket(head)
	return n, true
}

// matchSlow is Match for a bucket that another goroutine has locked.
func (t *Table[V]) matchSlow(key uint64, side Side) (n *Node[V], ok bool) {
	head := t.bucketOf(key)
	if !t.enterBucket(head, key) {
		return nil, false
	}
	n = head.takeOldest(key, stateOf(side))
	t.shutBucket(head)
	return n, true
}

// takeOldest removes the oldest node under key from the chain of head, which is open, if its entry is in state s.
func (head *bucket[V]) takeOldest(key uint64, s state) *Node[V] {
	if p, _ := head.findEntry(key); p.ok() && p.stateOf() == s {
		return p.takeOldest()
	}
	return nil
}

// enterBucket opens head for an operation on key. If the key's group is sealed, it leaves head unlocked and returns
// false.
func (t *Table[V]) enterBucket(head *bucket[V], key uint64) bool {
	head.openStates()
	if t.isSealed(key) {
		head.shutStates()
		return false
	}
	return true
}

// View calls f with the value of the oldest node of the given side under key, if any. f runs under the bucket's lock,
// with the rules of Range. ok is false if the key's group is sealed. It does not block or switch threads.
func (t *Table[V]) View(key uint64, side Side, f func(v *V)) (ok bool) {
	head := t.bucketOf(key)
	if !t.enterBucket(head, key) {
		return false
	}
	if p, _ := head.findEntry(key); p.ok() && p.stateOf() == stateOf(side) {
		f(&p.oldestNode().Value)
	}
	head.shutStates()
	return true
}

// TakeFunc removes the oldest node of the given side under key for which f returns true. It returns the node, or nil if
// there is none. f runs under the bucket's lock, with the rules of Range. ok is false if the key's group is sealed. It
// takes time in proportion to the nodes under key. It does not block or switch threads.
func (t *Table[V]) TakeFunc(key uint64, side Side, f func(v *V) bool) (n *Node[V], ok bool) {
	head := t.bucketOf(key)
	if !t.enterBucket(head, key) {
		return nil, false
	}
	if p, _ := head.findEntry(key); p.ok() && p.stateOf() == stateOf(side) {
		for n = p.oldestNode(); n != nil && !f(&n.Value); n = n.next {
		}
		if n != nil {
			p.removeNode(n)
		}
	}
	t.shutBucket(head)
	return n, true
}

// Remove removes n from the nodes of either side under key. removed tells whether n was there. If not, a match or
// another Remove has taken it. It takes time in proportion to the nodes under key that are older than n. ok is false
// if the key's group is sealed. It does not block or switch threads.
func (t *Table[V]) Remove(key uint64, n *Node[V]) (removed, ok bool) {
	if n == nil {
		return false, true
	}
	head := t.bucketOf(key)
	if !t.enterBucket(head, key) {
		return false, false
	}
	p, _ := head.findEntry(key)
	removed = p.ok() && p.removeNode(n)
	t.shutBucket(head)
	return removed, true
}

// Range calls f with every node until f returns false. Under each key the oldest node comes first. Range locks one
// bucket at a time, so it sees each bucket at one instant, but not the whole table. f runs under that lock. It may read
// Value. It must not call the table, block or switch threads, since other callers spin. Range is for dumps.
func (t *Table[V]) Range(f func(key uint64, side Side, n *Node[V]) bool) {
	for i := range t.keep {
		if t.keep[i].ctl.Load() == 0 {
			continue // nothing in it at this instant
		}
		if !t.keep[i].eachNode(f) {
			return
		}
	}
}

// eachNode calls f with the nodes of the chain behind head.
func (head *bucket[V]) eachNode(f func(uint64, Side, *Node[V]) bool) bool {
	head.openStates()
	defer head.shutStates() // also if f panics
	for b := head; b != nil; b = b.next {
		for i := range b.entries {
			p := entryRef[V]{b, i}
			s := p.stateOf()
			if s == free {
				continue
			}
			key := p.entryOf().key
			for n := p.oldestNode(); n != nil; n = n.next {
				if !f(key, sideOf(s), n) {
					return false
				}
			}
		}
	}
	return true
}

// Len returns the number of nodes that Range finds. It takes time in proportion to the buckets.
func (t *Table[V]) Len() int {
	n := 0
	t.Range(func(uint64, Side, *Node[V]) bool { n++; return true })
	return n
}
