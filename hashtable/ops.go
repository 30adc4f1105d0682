package hashtable

// insertOrMatchSlow is InsertOrMatch for a bucket with more in it than the fast path looks at. The lock is held; c is
// the control word.
func (t *Table[V]) insertOrMatchSlow(head *bucket[V], c uint32, key uint64, n *Node[V], mine state) (match *Node[V], ok bool) {
	found, spare, extra, sealed := t.findOrSpare(head, c, key)
	switch {
	case sealed:
	case !found.ok():
		spare.fill(key, n, mine)
	case found.state() == mine:
		found.add(n)
	default:
		match = found.take()
	}
	t.shut(head)
	t.free.put(extra)
	return match, !sealed
}

// findOrSpare finds in the chain behind head, whose lock is held and whose control word is c, the entry of key or a
// free one, and returns with head open. If neither is there it links an overflow bucket, for which it leaves the lock
// for a time; what others do to the chain meanwhile it sees by a second look. extra, if not nil, was not needed after
// all and is to be put back on the free list. sealed tells that the group of key was sealed meanwhile.
func (t *Table[V]) findOrSpare(head *bucket[V], c uint32, key uint64) (found, spare place[V], extra *bucket[V], sealed bool) {
	head.opened(c)
	found, spare = head.find(key)
	if found.ok() || spare.ok() {
		return found, spare, nil, false
	}
	wasSealed := t.isSealed(key)
	head.shut()
	if t.lockLeft != nil {
		t.lockLeft()
	}
	extra = t.overflow()
	head.open()
	if !wasSealed && t.isSealed(key) {
		return found, spare, extra, true
	}
	found, spare = head.find(key)
	if found.ok() || spare.ok() {
		return found, spare, extra, false
	}
	return found, head.link(extra), nil, false
}

// shut gives back the vacant overflow buckets behind head, which is open, and unlocks it.
func (t *Table[V]) shut(head *bucket[V]) {
	if head.next == nil {
		head.release(head.states)
		return
	}
	vacant := head.trim()
	head.shut()
	t.free.put(vacant)
}

// Match takes the oldest node that waits under key on the given side out of the table and returns it, or nil if there
// is none. side is that of the nodes looked for. ok is false if the key's group is sealed.
func (t *Table[V]) Match(key uint64, side Side) (n *Node[V], ok bool) {
	head := t.bucket(key)
	c := head.ctl.Swap(busy)
	if t.isSealed(key) {
		head.leave(c)
		return nil, false
	}
	switch c {
	case free:
		head.release(free)
		return nil, true
	case stateOf(side):
		if head.entries[0].key == key {
			return head.takeOnly(c), true
		}
	case busy:
		return t.matchSlow(key, side)
	}
	head.opened(c)
	n = head.takeOldest(key, stateOf(side))
	t.shut(head)
	return n, true
}

// matchSlow is Match for a bucket that somebody is inside of.
func (t *Table[V]) matchSlow(key uint64, side Side) (n *Node[V], ok bool) {
	head := t.bucket(key)
	if !t.enter(head, key) {
		return nil, false
	}
	n = head.takeOldest(key, stateOf(side))
	t.shut(head)
	return n, true
}

// takeOldest takes the oldest node under key out of the chain behind head, which is open, if it is in state s.
func (head *bucket[V]) takeOldest(key uint64, s state) *Node[V] {
	if p, _ := head.find(key); p.ok() && p.state() == s {
		return p.take()
	}
	return nil
}

// enter opens head for an operation on key; false, with head unlocked, if the key's group is sealed.
func (t *Table[V]) enter(head *bucket[V], key uint64) bool {
	head.open()
	if t.isSealed(key) {
		head.shut()
		return false
	}
	return true
}

// View calls f with the value of the oldest node that waits under key on the given side, if there is one. f runs inside
// the bucket's lock, as that of Range does. ok is false if the key's group is sealed.
func (t *Table[V]) View(key uint64, side Side, f func(v *V)) (ok bool) {
	head := t.bucket(key)
	if !t.enter(head, key) {
		return false
	}
	if p, _ := head.find(key); p.ok() && p.state() == stateOf(side) {
		f(&p.oldest().Value)
	}
	head.shut()
	return true
}

// TakeFunc takes a node out of the table and returns it: the oldest that waits under key on the given side and for
// which f is true. It returns nil if there is none. f runs inside the bucket's lock, as that of Range does. ok is
// false if the key's group is sealed.
func (t *Table[V]) TakeFunc(key uint64, side Side, f func(v *V) bool) (n *Node[V], ok bool) {
	head := t.bucket(key)
	if !t.enter(head, key) {
		return nil, false
	}
	if p, _ := head.find(key); p.ok() && p.state() == stateOf(side) {
		for n = p.oldest(); n != nil && !f(&n.Value); n = n.next {
		}
		if n != nil {
			p.remove(n)
		}
	}
	t.shut(head)
	return n, true
}

// Remove takes n, which waits under key on either side, out of the table and tells whether it was there: false means
// that a match or another Remove has it. It takes time in the number of nodes under key before n. ok is false if the
// key's group is sealed.
func (t *Table[V]) Remove(key uint64, n *Node[V]) (removed, ok bool) {
	if n == nil {
		return false, true
	}
	head := t.bucket(key)
	if !t.enter(head, key) {
		return false, false
	}
	p, _ := head.find(key)
	removed = p.ok() && p.remove(n)
	t.shut(head)
	return removed, true
}

// Range calls f with every node, oldest first under each key, until f returns false. It locks one bucket at a time, so
// each bucket is seen at one instant and the table as a whole is not. f runs inside that lock: it may read Value, and
// must neither call the table nor block; callers that match in the same bucket spin meanwhile. For dumps.
func (t *Table[V]) Range(f func(key uint64, side Side, n *Node[V]) bool) {
	for i := range t.keep {
		if t.keep[i].ctl.Load() == 0 {
			continue // nothing in it at this instant
		}
		if !t.keep[i].each(f) {
			return
		}
	}
}

// each calls f with the nodes of the chain behind head.
func (head *bucket[V]) each(f func(uint64, Side, *Node[V]) bool) bool {
	head.open()
	defer head.shut() // also if f panics
	for b := head; b != nil; b = b.next {
		for i := range b.entries {
			p := place[V]{b, i}
			s := p.state()
			if s == free {
				continue
			}
			key := p.entry().key
			for n := p.oldest(); n != nil; n = n.next {
				if !f(key, sideOf(s), n) {
					return false
				}
			}
		}
	}
	return true
}

// Len counts the nodes, as Range sees them. It takes time in the size of the table.
func (t *Table[V]) Len() int {
	n := 0
	t.Range(func(uint64, Side, *Node[V]) bool { n++; return true })
	return n
}
