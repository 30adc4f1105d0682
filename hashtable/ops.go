package hashtable

import "github.com/golci/golci/internal/invariants"

// Insert is the relaxed mode of the original table, for callers that have at most one item a key and side at a time.
//
//   - If a node of the other side waits under key, Insert returns it and its entry, and n stays outside. The entry is
//     the caller's to Empty, at any later time; the key itself is free at once. (If InsertOrMatch had queued several
//     nodes there, the oldest is taken out, and the entry is nil, for it stays in use.)
//   - If nothing waits under key, Insert adds n and returns nil and its entry. A caller that knows that nobody else can
//     reach n any more may Empty it; the node then counts as taken out.
//   - If a node of the same side waits under key, n is refused: both results are nil and the table is as before. So is a
//     key of ^0 and a nil n.
//
// An entry emptied after an insertion keeps its node reachable for the collector until it is used again.
func (t *Table[V]) Insert(key uint64, n *Node[V], side Side) (match *Node[V], e *Entry[V]) {
	if invariants.Enabled {
		checkArgs(key, n, side)
	}
	word := wordOf(key)
	if word == 0 || n == nil {
		return nil, nil
	}
	head, mine := t.bucket(key), stateOf(side)
	found, spare, extra := t.findOrSpare(head, head.acquire(), word)
	switch {
	case !found.ok():
		e = spare.fill(word, n, mine)
	case found.state() != mine:
		match, e = found.claim()
	}
	if head.next != nil && !t.free.relaxed.Load() {
		t.free.relaxed.Store(true)
	}
	t.shut(head)
	t.free.put(extra)
	return match, e
}

// insertOrMatchSlow is InsertOrMatch for a bucket with more in it than the fast path looks at. The lock is held; c is
// the control word.
func (t *Table[V]) insertOrMatchSlow(head *bucket[V], c uint32, word uint64, n *Node[V], mine state) (match *Node[V]) {
	found, spare, extra := t.findOrSpare(head, c, word)
	switch {
	case !found.ok():
		spare.fill(word, n, mine)
	case found.state() == mine:
		found.add(n)
	default:
		match = found.take()
	}
	t.shut(head)
	t.free.put(extra)
	return match
}

// findOrSpare finds in the chain behind head, whose lock is held and whose control word is c, the entry of word or a
// free one, and returns with head open. If neither is there it links an overflow bucket, for which it leaves the lock
// for a time. extra, if not nil, was not needed after all and is to be put back on the free list.
func (t *Table[V]) findOrSpare(head *bucket[V], c uint32, word uint64) (found, spare place[V], extra *bucket[V]) {
	head.opened(c)
	found, spare = head.find(word)
	if found.ok() || spare.ok() {
		return found, spare, nil
	}
	head.shut()
	extra = t.overflow()
	head.open()
	found, spare = head.find(word)
	if found.ok() || spare.ok() {
		return found, spare, extra
	}
	return found, head.link(extra), nil
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
// is none. side is that of the nodes looked for.
func (t *Table[V]) Match(key uint64, side Side) *Node[V] {
	head := t.bucket(key)
	c := head.ctl.Swap(busy)
	switch c {
	case free:
		head.release(free)
		return nil
	case stateOf(side):
		if head.entries[0].word.Load() == wordOf(key) {
			return head.takeOnly(c)
		}
	case busy:
		c = head.acquire()
	}
	head.opened(c)
	var n *Node[V]
	if p, _ := head.find(wordOf(key)); p.ok() && p.state() == stateOf(side) {
		n = p.take()
	}
	t.shut(head)
	return n
}

// Peek returns the oldest node that waits under key on the given side without taking it out, or nil. Unless the caller
// keeps others from it, the node may leave the table before Peek returns.
func (t *Table[V]) Peek(key uint64, side Side) *Node[V] {
	head := t.bucket(key)
	head.open()
	var n *Node[V]
	if p, _ := head.find(wordOf(key)); p.ok() && p.state() == stateOf(side) {
		n = p.oldest()
	}
	head.shut()
	return n
}

// Remove takes n, which waits under key on either side, out of the table and tells whether it was there: false means
// that a match or another Remove has it. It takes time in the number of nodes under key before n.
func (t *Table[V]) Remove(key uint64, n *Node[V]) bool {
	if n == nil {
		return false
	}
	head := t.bucket(key)
	head.open()
	p, _ := head.find(wordOf(key))
	removed := p.ok() && p.remove(n)
	t.shut(head)
	return removed
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
			if s != posted && s != arrived {
				continue
			}
			key := wordOf(p.entry().word.Load())
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
