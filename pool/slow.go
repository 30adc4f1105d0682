package pool

import (
	"math/rand/v2"

	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/platform/invariants"
)

// others calls f once with each sub-pool but i, from a random one on, until f returns true.
func (p *Pool[T]) others(i int, f func(*deque[T]) bool) bool {
	n := len(p.subs) - 1
	if n == 0 {
		return false
	}
	at := i + 1 + rand.IntN(n)
	for range n {
		if at >= len(p.subs) {
			at -= len(p.subs)
		}
		if at == i { // i lies between the last of the others and the first
			at++
			if at == len(p.subs) {
				at = 0
			}
		}
		if f(&p.subs[at]) {
			return true
		}
		at++
	}
	return false
}

// getSlow is Get for a sub-pool that is empty or locked. w is the result of seize.
func (p *Pool[T]) getSlow(i int, w word) (item *T) {
	item = p.subs[i].popTop(w)
	got := item != nil || p.others(i, func(d *deque[T]) bool {
		item = d.popBottom()
		return item != nil
	})
	if got {
		if invariants.Enabled {
			p.leaving(item)
		}
		return item
	}
	return p.create()
}

// create makes an item unless the limit is reached.
func (p *Pool[T]) create() *T {
	for {
		n := p.made.Load()
		if n >= p.limit {
			return nil
		}
		if p.made.CompareAndSwap(n, n+1) {
			return p.fresh()
		}
	}
}

// putSlow is Put for a sub-pool that is full or locked. w is the result of seize.
func (p *Pool[T]) putSlow(i int, w word, item *T) bool {
	return p.subs[i].pushTop(w, item) ||
		p.others(i, func(d *deque[T]) bool { return d.pushTop(d.seize(), item) }) ||
		p.putLocked(item)
}

// putLocked locks all sub-pools in the order of their numbers, and puts item into one with room. A look at one after
// the other could miss room, because items move meanwhile.
func (p *Pool[T]) putLocked(item *T) (put bool) {
	if p.allFull != nil {
		p.allFull()
	}
	for i := range p.subs {
		d := &p.subs[i]
		d.held = d.acquireLock(d.seize())
	}
	for i := range p.subs {
		d := &p.subs[i]
		w := d.held
		if !put && w.packetCount() < uint32(len(d.ring)) {
			*place(d.ring, w.top()) = item
			w += onePlace + oneItem
			put = true
		}
		d.releaseLock(w)
	}
	return put
}

// leaving checks an item that Get is about to return.
func (p *Pool[T]) leaving(item *T) {
	invariants.Check(p.check == nil || p.check(item), "free item %p was written to", item)
}

// outsider returns the sub-pool of a goroutine that is no worker, by a hash of its identity. It takes about a
// nanosecond. Identities are addresses of objects of some hundred bytes, hence the upper bits.
//
//go:noinline
func (p *Pool[T]) outsider() int {
	h := uint64(arch.G()) * 0x9E3779B97F4A7C15 >> 32
	return int(h * uint64(len(p.subs)) >> 32)
}
