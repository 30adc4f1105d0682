package pool

import (
	"runtime"
	"sync/atomic"

	"github.com/golci/golci/internal/arch"
)

// busy is the control word of a locked deque. It is no count: rings are smaller.
const busy uint32 = 1 << 31

// deque is a sub-pool. Its control word is the lock and, while that is free, the number of items: taking the lock with
// one exchange brings the count along, the release store that frees it puts the new count back, and a thief sees an
// empty deque without taking the lock.
type deque[T any] struct {
	ctl    atomic.Uint32
	bottom uint32 // place of the oldest item, counted on without end; under the lock
	ring   []*T   // a power of two of places; the slice is read only, its elements under the lock
	held   uint32 // the number of items while putLocked has the lock

	_ [128 - 40]byte // two lines: the hardware fetches lines in pairs
}

// acquire takes the lock and returns the number of items. It spins, and after a while lets other goroutines run, because
// the holder may have been preempted.
func (d *deque[T]) acquire() (count uint32) { return d.acquired(d.ctl.Swap(busy)) }

// acquired completes acquire after an exchange that returned c.
func (d *deque[T]) acquired(c uint32) (count uint32) {
	for c == busy {
		for n := 0; d.ctl.Load() == busy; n++ {
			pause(n)
		}
		c = d.ctl.Swap(busy)
	}
	return c
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
func (d *deque[T]) release(count uint32) { arch.StoreRel32(&d.ctl, count) }

// at returns the place n items above the bottom. The lock is held.
func (d *deque[T]) at(n uint32) **T {
	ring := d.ring
	return &ring[(d.bottom+n)&uint32(len(ring)-1)]
}

// get returns the item n above the bottom. The lock is held. The pointer stays in the ring until its place is used
// again: an item in use has somebody else who points at it anyway, and one that its user loses is lost for the pool.
func (d *deque[T]) get(n uint32) *T { return *d.at(n) }

// push fills the place n above the bottom, the first free one. The lock is held.
func (d *deque[T]) push(n uint32, item *T) { *d.at(n) = item }

// popTop takes the youngest item, or returns nil. c is what the exchange that tries to lock has returned.
func (d *deque[T]) popTop(c uint32) *T {
	n := d.acquired(c)
	if n == 0 {
		d.release(0)
		return nil
	}
	item := d.get(n - 1)
	d.release(n - 1)
	return item
}

// pushTop adds item as the youngest and tells whether there was room. c is as for popTop.
func (d *deque[T]) pushTop(c uint32, item *T) bool {
	n := d.acquired(c)
	if n == uint32(len(d.ring)) {
		d.release(n)
		return false
	}
	d.push(n, item)
	d.release(n + 1)
	return true
}

// popBottom takes the oldest item, or returns nil.
func (d *deque[T]) popBottom() *T {
	if d.ctl.Load() == 0 {
		return nil
	}
	n := d.acquire()
	if n == 0 {
		d.release(0)
		return nil
	}
	item := d.get(0)
	d.bottom++
	d.release(n - 1)
	return item
}

// len returns the number of items; of a locked deque, the number after the lock is free.
func (d *deque[T]) len() int {
	for n := 0; ; n++ {
		if c := d.ctl.Load(); c != busy {
			return int(c)
		}
		pause(n)
	}
}
