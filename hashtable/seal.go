package hashtable

import "sync/atomic"

// The keys of a table form 2^16 groups by their upper sixteen bits. A group that is sealed is refused by every call that
// takes a key, so that its nodes can be taken elsewhere while other goroutines go on.
//
// The seal is looked at under the bucket's lock. So once Seal has returned, and a bucket has been locked and left after
// that, no call adds or takes a node of the group there any more.

const groupShift = 48 // of a key

// seals holds one bit a group. Written by Seal and Unseal, which one caller at a time calls for a group; read under the
// lock of any bucket.
type seals [1 << 16 / 64]atomic.Uint64

// isSealed tells whether the group of key is sealed. The caller holds the lock of key's bucket, or will look again. The
// count spares tables without sealed groups the look at the bits: a bit is set before it is counted.
func (t *Table[V]) isSealed(key uint64) bool { return t.sealed.Load() != 0 && t.seals.has(key) }

func (s *seals) has(key uint64) bool {
	return s[key>>(groupShift+6)].Load()>>(key>>groupShift&63)&1 != 0
}

// Seal has the table refuse the keys of a group, which is not sealed, from now on. Calls that are inside a bucket at
// this moment may still take effect; DrainBucket waits for them.
func (t *Table[V]) Seal(group uint16) {
	t.seals[group>>6].Or(1 << (group & 63))
	t.sealed.Add(1)
}

// Unseal has the table take the keys of a sealed group again.
func (t *Table[V]) Unseal(group uint16) {
	t.seals[group>>6].And(^uint64(1 << (group & 63)))
	t.sealed.Add(-1)
}

// DrainBucket takes all nodes of a sealed group out of bucket i, of 0 to Buckets()-1, and calls f with each, oldest first
// under each key. f runs inside the bucket's lock, as that of Range does.
func (t *Table[V]) DrainBucket(i int, group uint16, f func(key uint64, side Side, n *Node[V])) {
	head := &t.keep[i]
	if head.ctl.Load() == 0 {
		return // nothing in it, and nobody inside who has not seen the seal
	}
	head.open()
	for b := head; b != nil; b = b.next {
		for k := range b.entries {
			p := place[V]{b, k}
			key := p.entry().key
			for p.state() != free && key>>groupShift == uint64(group) {
				side := sideOf(p.state())
				f(key, side, p.take())
			}
		}
	}
	t.shut(head)
}

// Restore puts n behind the nodes of its side under key, whose group is sealed. The caller sees to it that there are none
// of the other side.
func (t *Table[V]) Restore(key uint64, n *Node[V], side Side) {
	head := t.bucket(key)
	t.insertOrMatchSlow(head, head.acquire(), key, n, stateOf(side))
}
