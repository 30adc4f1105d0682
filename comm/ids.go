package comm

import "github.com/golci/golci/internal/spin"

// ids gives operations numbers that peers send back. A number is never used twice in a row for a slot, so that one that
// comes late finds nothing.
type ids struct {
	mu    spin.Lock // guards what follows
	slots []idSlot
	free  []uint32 // slots not in use
}

type idSlot struct {
	o   *op    // nil if not in use
	gen uint32 // of the last use
}

// add numbers o. Numbers are never 0 and their top bit is clear.
func (t *ids) add(o *op) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var i uint32
	if n := len(t.free); n > 0 {
		i = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		i = uint32(len(t.slots))
		t.slots = append(t.slots, idSlot{})
	}
	x := &t.slots[i]
	x.gen = (x.gen + 1) & 0x7fffffff
	if x.gen == 0 {
		x.gen = 1
	}
	x.o = o
	return uint64(x.gen)<<32 | uint64(i)
}

// get finds the op of a number, nil if it is not in use.
func (t *ids) get(id uint64) *op {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(id)
}

func (t *ids) find(id uint64) *op {
	i := uint32(id)
	if uint64(i) >= uint64(len(t.slots)) || t.slots[i].gen != uint32(id>>32) {
		return nil
	}
	return t.slots[i].o
}

// remove ends the use of a number and returns its op; nil if somebody else has removed it.
func (t *ids) remove(id uint64) *op {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.find(id)
	if o != nil {
		i := uint32(id)
		t.slots[i].o = nil
		t.free = append(t.free, i)
	}
	return o
}

// replace puts now in the place of old under the number id; false if old does not have that number any more.
func (t *ids) replace(id uint64, old, now *op) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old == nil || t.find(id) != old {
		return false
	}
	t.slots[uint32(id)].o = now
	return true
}

// used is how many numbers are in use.
func (t *ids) used() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.slots) - len(t.free)
}

// each calls f for every numbered op, under the lock.
func (t *ids) each(f func(id uint64, o *op)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.slots {
		if o := t.slots[i].o; o != nil {
			f(uint64(t.slots[i].gen)<<32|uint64(i), o)
		}
	}
}
