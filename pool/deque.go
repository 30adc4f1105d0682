package pool

import (
	"runtime"
	"sync/atomic"

	"github.com/golci/golci/internal/arch"
)

// word is the control word of a deque. While the lock is free it holds, in the upper half, the place above the youngest
// item, counted on without end, and in the lower half the number of items.
type word uint64

const (
	busy word = 1 << 31 // locked; no number of items, for rings are smaller

	onePlace word = 1 << 32
	oneItem  word = 1
)

func (w word) count() uint32 { return uint32(w) }
func (w word) top() uint32   { return uint32(w >> 32) }

// deque is a sub-pool: items in a ring, and a control word that is both the lock and all that changes besides. Taking
// the lock with one exchange brings place and number along, so that nothing else has to be read; the release store that
// frees it puts the new ones back; and a thief sees an empty deque without taking the lock.
type deque[T any] struct {
	ctl  atomic.Uint64
	ring []*T // a power of two of places; the slice is read only, its elements under the lock
	held word // the control word while putLocked has the lock

	_ [128 - 40]byte // two lines: the hardware fetches lines in pairs
}

// seize tries to take the lock; it has it unless it returns busy.
func (d *deque[T]) seize() word { return word(d.ctl.Swap(uint64(busy))) }

// acquire takes the lock, where w is what seize has returned. It spins, and after a while lets other goroutines run,
// because the holder may have been preempted.
func (d *deque[T]) acquire(w word) word {
	for w == busy {
		for n := 0; d.ctl.Load() == uint64(busy); n++ {
			pause(n)
		}
		w = d.seize()
	}
	return w
}

// pause is the nth step of a wait.
func pause(n int) {
	const spinsBeforeYield = 200
	if n < spinsBeforeYield {
		arch.Pause()
	} else {
		runtime.Gosched()
	}
}

// release frees the lock. It publishes what was written under it, but does not order the caller's later loads, which
// nothing here relies on.
func (d *deque[T]) release(w word) { arch.StoreRel64(&d.ctl, uint64(w)) }

// place returns place i of a ring, counted on without end.
//
// An item that is taken stays in its place until that is used again: an item in use has somebody else who points at it
// anyway, and one that its user loses is lost for the pool.
func place[T any](ring []*T, i uint32) **T { return &ring[i&uint32(len(ring)-1)] }

// popTop takes the youngest item, or returns nil. w is what seize has returned.
func (d *deque[T]) popTop(w word) *T {
	w = d.acquire(w)
	if w.count() == 0 {
		d.release(w)
		return nil
	}
	item := *place(d.ring, w.top()-1)
	d.release(w - onePlace - oneItem)
	return item
}

// pushTop adds item as the youngest and tells whether there was room. w is what seize has returned.
func (d *deque[T]) pushTop(w word, item *T) bool {
	w = d.acquire(w)
	if w.count() == uint32(len(d.ring)) {
		d.release(w)
		return false
	}
	*place(d.ring, w.top()) = item
	d.release(w + onePlace + oneItem)
	return true
}

// popBottom takes the oldest item, or returns nil.
func (d *deque[T]) popBottom() *T {
	if word(d.ctl.Load()).count() == 0 {
		return nil
	}
	w := d.acquire(d.seize())
	if w.count() == 0 {
		d.release(w)
		return nil
	}
	item := *place(d.ring, w.top()-w.count())
	d.release(w - oneItem)
	return item
}
