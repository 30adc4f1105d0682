package hashtable

// place is an entry of a chain; its zero value is none.
type place[V any] struct {
	b *bucket[V]
	i int
}

func (p place[V]) ok() bool         { return p.b != nil }
func (p place[V]) state() state     { return p.b.state(p.i) }
func (p place[V]) oldest() *Node[V] { return p.b.entries[p.i].head }

// find looks through the chain behind head, whose lock is held, for the entry of word that is not claimed, and for a
// free one, the nearest to the head.
func (head *bucket[V]) find(word uint64) (found, spare place[V]) {
	for b := head; b != nil; b = b.next {
		for i := range b.entries {
			switch b.entries[i].word.Load() {
			case word:
				if b.state(i) != claimed {
					return place[V]{b, i}, spare
				}
			case 0:
				if !spare.ok() {
					spare = place[V]{b, i}
				}
			}
		}
	}
	return found, spare
}

// link puts the vacant bucket extra behind head, whose lock is held, and returns its first entry.
func (head *bucket[V]) link(extra *bucket[V]) place[V] {
	extra.next = head.next
	head.next = extra
	return place[V]{extra, 0}
}

// trim takes the vacant overflow buckets out of the chain behind head, whose lock is held. It returns them as a list.
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

// insertOrMatchChain is InsertOrMatch for a bucket that overflows or is about to. Overflow buckets are got and given
// back outside the lock.
func (t *Table[V]) insertOrMatchChain(key uint64, n *Node[V], side Side) (match *Node[V]) {
	word, head := wordOf(key), t.bucket(key)
	var extra *bucket[V]
	for {
		head.lock.Lock()
		found, spare := head.find(word)
		if !found.ok() && !spare.ok() {
			if extra == nil {
				head.lock.Unlock()
				extra = t.overflow()
				continue
			}
			spare, extra = head.link(extra), nil
		}
		switch {
		case !found.ok():
			n.mark.enter()
			spare.b.fill(spare.i, word, n, uint32(side))
		case found.state() == uint32(side):
			n.mark.enter()
			found.oldest().append(n)
		default:
			match = found.b.take(found.i)
			match.mark.leave()
		}
		t.unlockTrimmed(head)
		t.free.put(extra)
		return match
	}
}
