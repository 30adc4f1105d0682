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
	side &= 1
	head := t.bucket(key)
	var extra *bucket[V]
	head.lock.Lock()
	found, spare := head.find(word)
	for !found.ok() && !spare.ok() {
		if extra != nil {
			spare, extra = head.link(extra), nil
			break
		}
		head.lock.Unlock()
		t.free.relaxed.Store(true)
		extra = t.overflow()
		head.lock.Lock()
		found, spare = head.find(word)
	}
	switch {
	case !found.ok():
		n.mark.enter()
		e = spare.b.fill(spare.i, word, n, uint32(side))
	case found.state() != uint32(side):
		match, e = found.claim()
	}
	t.unlockTrimmed(head)
	t.free.put(extra)
	return match, e
}

// claim hands out the oldest node of p, and with the last one the entry.
func (p place[V]) claim() (*Node[V], *Entry[V]) {
	e := &p.b.entries[p.i]
	n := e.head
	n.mark.leave()
	if n.next != nil {
		e.head = n.popFront()
		return n, nil
	}
	e.head = nil
	p.b.setState(p.i, claimed)
	return n, e
}

// unlockTrimmed unlocks head and gives back the vacant buckets behind it.
func (t *Table[V]) unlockTrimmed(head *bucket[V]) {
	if head.next == nil {
		head.lock.Unlock()
		return
	}
	vacant := head.trim()
	head.lock.Unlock()
	t.free.put(vacant)
}

// Match takes the oldest node that waits under key on the given side out of the table and returns it, or nil if there
// is none. side is that of the nodes looked for.
func (t *Table[V]) Match(key uint64, side Side) *Node[V] {
	word := wordOf(key)
	if word == 0 {
		return nil
	}
	head := t.bucket(key)
	head.lock.Lock()
	var n *Node[V]
	if p, _ := head.find(word); p.ok() && p.state() == uint32(side) {
		n = p.b.take(p.i)
		n.mark.leave()
	}
	t.unlockTrimmed(head)
	return n
}

// Peek returns the oldest node that waits under key on the given side without taking it out, or nil. Unless the caller
// keeps others from it, the node may leave the table before Peek returns.
func (t *Table[V]) Peek(key uint64, side Side) *Node[V] {
	word := wordOf(key)
	if word == 0 {
		return nil
	}
	head := t.bucket(key)
	head.lock.Lock()
	defer head.lock.Unlock()
	if p, _ := head.find(word); p.ok() && p.state() == uint32(side) {
		return p.oldest()
	}
	return nil
}

// Remove takes n, which waits under key on either side, out of the table and tells whether it was there: false means
// that a match or another Remove has it. It takes time in the number of nodes under key before n.
func (t *Table[V]) Remove(key uint64, n *Node[V]) bool {
	word := wordOf(key)
	if word == 0 || n == nil {
		return false
	}
	head := t.bucket(key)
	head.lock.Lock()
	p, _ := head.find(word)
	removed := p.ok() && p.remove(n)
	if removed {
		n.mark.leave()
	}
	t.unlockTrimmed(head)
	return removed
}

func (p place[V]) remove(n *Node[V]) bool {
	if p.oldest() != n {
		return p.oldest().unlink(n)
	}
	p.b.take(p.i)
	return true
}

// Range calls f with every node, oldest first under each key, until f returns false. It locks one bucket at a time, so
// each bucket is seen at one instant and the table as a whole is not. f runs inside that lock: it may read Value, and
// must neither call the table nor block; callers that match in the same bucket spin meanwhile. For dumps.
func (t *Table[V]) Range(f func(key uint64, side Side, n *Node[V]) bool) {
	for i := range t.keep {
		if !t.keep[i].each(f) {
			return
		}
	}
}

// each calls f with the nodes of the chain behind head.
func (head *bucket[V]) each(f func(uint64, Side, *Node[V]) bool) bool {
	head.lock.Lock()
	defer head.lock.Unlock()
	for b := head; b != nil; b = b.next {
		for i := range b.entries {
			word := b.entries[i].word.Load()
			if word == 0 || b.state(i) == claimed {
				continue
			}
			for n := b.entries[i].head; n != nil; n = n.next {
				if !f(^word, Side(b.state(i)), n) {
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
