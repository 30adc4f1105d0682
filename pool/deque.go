package pool

import (
	"sync/atomic"

	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/platform/spin"
)

// word is the control word of a deque. While the lock is free, its lower half is the number of items. Its upper half
// is the place above the youngest item. Places are counted without end, modulo 2^32.
type word uint64

const (
	busy word = 1 << 31 // locked; more than any number of items, because rings are smaller

	onePlace word = 1 << 32
	oneItem  word = 1
)

func (w word) packetCount() uint32 { return uint32(w) }
func (w word) top() uint32         { return uint32(w >> 32) }

// deque is a sub-pool: a ring of items and a control word. The control word is the lock, and holds the place and the
// number of the items. The exchange that takes the lock returns both, so no other word has to be read. The release
// store that frees the lock writes both back. A thief sees an empty deque without its lock.
type deque[T any] struct {
	ctl  atomic.Uint64
	ring []*T // its length is a power of two; the slice is read only, its elements under the lock
	held word // the control word while putLocked has the lock

	_ [128 - 40]byte // fills two lines, because the hardware fetches lines in pairs
}

// seize tries to take the lock. It has failed if it returns busy. Otherwise it returns the control word from before.
func (d *deque[T]) seize() word { return word(d.ctl.Swap(uint64(busy))) }

// acquireLock takes the lock and returns the control word from before. w is the result of seize. It spins.
func (d *deque[T]) acquireLock(w word) word {
	for w == busy {
		for n := 0; d.ctl.Load() == uint64(busy); n++ {
			spin.Pause(n)
		}
		w = d.seize()
	}
	return w
}

// releaseLock frees the lock and stores the control word w. It publishes earlier stores, and does not order later
// loads.
func (d *deque[T]) releaseLock(w word) { arch.StoreRel64(&d.ctl, uint64(w)) }

// place returns place i of a ring, modulo its length.
//
// The place of an item that was taken keeps its pointer until the next use. The item is in use anyway.
func place[T any](ring []*T, i uint32) **T { return &ring[i&uint32(len(ring)-1)] }

// popTop takes the youngest item, or returns nil. w is the result of seize.
func (d *deque[T]) popTop(w word) *T {
	w = d.acquireLock(w)
	if w.packetCount() == 0 {
		d.releaseLock(w)
		return nil
	}
	item := *place(d.ring, w.top()-1)
	d.releaseLock(w - onePlace - oneItem)
	return item
}

// pushTop adds item as the youngest and tells whether there was room. w is the result of seize.
func (d *deque[T]) pushTop(w word, item *T) bool {
	w = d.acquireLock(w)
	if w.packetCount() == uint32(len(d.ring)) {
		d.releaseLock(w)
		return false
	}
	*place(d.ring, w.top()) = item
	d.releaseLock(w + onePlace + oneItem)
	return true
}

// popBottom takes the oldest item, or returns nil.
func (d *deque[T]) popBottom() *T {
	if word(d.ctl.Load()).packetCount() == 0 {
		return nil
	}
	w := d.acquireLock(d.seize())
	if w.packetCount() == 0 {
		d.releaseLock(w)
		return nil
	}
	item := *place(d.ring, w.top()-w.packetCount())
	d.releaseLock(w - oneItem)
	return item
}
