package hashtable

import "sync/atomic"

// The upper sixteen bits of a key name its group. Calls refuse a sealed group, so it can be moved elsewhere.
//
// Calls look at the seal under the bucket's lock. Once that was taken after Seal, the group does not change there.

const groupShift = 48 // of a key

// seals holds one bit for each group. Seal and Unseal write it, one caller at a time for a group.
type seals [1 << 16 / 64]atomic.Uint64

// isSealed tells whether the group of key is sealed. The caller holds the lock of key's bucket, or looks again later.
// While the count is 0, isSealed does not read the bits. Seal sets a bit before it counts it.
func (t *Table[V]) isSealed(key uint64) bool { return t.sealed.Load() != 0 && t.seals.hasKey(key) }

func (s *seals) hasKey(key uint64) bool {
	return s[key>>(groupShift+6)].Load()>>(key>>groupShift&63)&1 != 0
}

// Seal lets the table refuse the keys of a group from now on. The group must not be sealed already. Calls that are
// inside a bucket at this moment may still take effect. DrainBucket waits for them. It does not block.
func (t *Table[V]) Seal(group uint16) {
	t.seals[group>>6].Or(1 << (group & 63))
	t.sealed.Add(1)
}

// Unseal lets the table accept the keys of a sealed group again. It does not block or switch threads.
func (t *Table[V]) Unseal(group uint16) {
	t.seals[group>>6].And(^uint64(1 << (group & 63)))
	t.sealed.Add(-1)
}

// DrainBucket removes all nodes of a sealed group from bucket i, from 0 to Buckets()-1. It calls f with each node.
// Under each key the oldest node comes first. f runs under the bucket's lock, with the rules of Range.
func (t *Table[V]) DrainBucket(i int, group uint16, f func(key uint64, side Side, n *Node[V])) {
	head := &t.keep[i]
	if head.ctl.Load() == 0 {
		return // it is empty, and every later caller sees the seal
	}
	head.openStates()
	for b := head; b != nil; b = b.next {
		for k := range b.entries {
			p := entryRef[V]{b, k}
			key := p.entryOf().key
			for p.stateOf() != free && key>>groupShift == uint64(group) {
				side := sideOf(p.stateOf())
				f(key, side, p.takeOldest())
			}
		}
	}
	t.shutBucket(head)
}

// Restore adds n as the youngest node under key, whose group is sealed. No node of the other side may be there.
func (t *Table[V]) Restore(key uint64, n *Node[V], side Side) {
	head := t.bucketOf(key)
	t.insertOrMatchSlow(head, head.acquireLock(), key, n, stateOf(side))
}
