package hashtable

import "github.com/golci/golci/internal/arch"

// place is an entry of a chain whose head is open; its zero value is none.
type place[V any] struct {
	b *bucket[V]
	i int
}

func (p place[V]) ok() bool         { return p.b != nil }
func (p place[V]) entry() *Entry[V] { return &p.b.entries[p.i] }
func (p place[V]) oldest() *Node[V] { return p.entry().head }

// state returns what the entry holds, free also after Empty.
func (p place[V]) state() state {
	s := p.b.states >> (uint(p.i) * stateBits) & stateMask
	if s != free && p.entry().word.Load() == 0 {
		return free
	}
	return s
}

// find looks through the chain behind head, which is open, for the entry of word that is not claimed, and for a free
// one, the nearest to the head. What it passes that Empty freed it marks free, for the fast path's sake.
func (head *bucket[V]) find(word uint64) (found, spare place[V]) {
	for b := head; b != nil; b = b.next {
		states := b.states
		for i := range b.entries {
			s := states & stateMask
			states >>= stateBits
			w := b.entries[i].word.Load()
			switch {
			case s == free || w == 0:
				b.setState(i, free)
				if !spare.ok() {
					spare = place[V]{b, i}
				}
			case w == word && s != claimed:
				return place[V]{b, i}, spare
			}
		}
	}
	return found, spare
}

// fill puts n under word into the free entry p.
func (p place[V]) fill(word uint64, n *Node[V], s state) *Entry[V] {
	n.mark.enter()
	e := p.entry()
	e.head = n
	p.b.setState(p.i, s)
	arch.StoreRel64(&e.word, word)
	return e
}

// add puts n behind the nodes of p.
func (p place[V]) add(n *Node[V]) {
	n.mark.enter()
	p.oldest().append(n)
}

// take removes the oldest node of p and frees the entry if that was the last.
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

// claim removes the oldest node of p, and hands out the entry too if that was the last.
func (p place[V]) claim() (*Node[V], *Entry[V]) {
	n := p.take()
	if p.oldest() != nil {
		return n, nil
	}
	p.b.setState(p.i, claimed)
	return n, p.entry()
}

// remove takes n out of the nodes of p, and tells whether it was there.
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

// vacant tells whether all entries are free. An entry that Empty frees at this moment may count as taken.
func (b *bucket[V]) vacant() bool {
	for i := range b.entries {
		if (place[V]{b, i}).state() != free {
			return false
		}
	}
	return true
}

// trim takes the vacant overflow buckets out of the chain behind head, which is open. It returns them as a list.
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
