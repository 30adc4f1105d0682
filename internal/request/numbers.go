package request

import "github.com/golci/golci/internal/platform/spin"

// Numbers gives operations numbers that peers send back. A number is a slot and a generation. A slot changes its
// generation with each use, so a late answer to an operation that has ended finds nothing. The zero value is empty. Any
// goroutine may call its methods; none blocks.
type Numbers[T any] struct {
	mu    spin.Lock // guards what follows
	slots []slot[T]
	free  []uint32 // slots not in use
}

type slot[T any] struct {
	op  *T     // nil if not in use
	gen uint32 // of the last use
}

// lastGeneration is the greatest one; the next is 1 again.
const lastGeneration = 1<<29 - 1

// MaxNumber is what a number is at most.
const MaxNumber = 1<<61 - 1

// Add numbers op. A number is never 0, and at most MaxNumber.
func (t *Numbers[T]) Add(op *T) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.takeSlot()
	x := &t.slots[i]
	x.gen = x.gen%lastGeneration + 1
	x.op = op
	return uint64(x.gen)<<32 | uint64(i)
}

// takeSlot gives a free slot.
func (t *Numbers[T]) takeSlot() uint32 {
	if n := len(t.free); n > 0 {
		i := t.free[n-1]
		t.free = t.free[:n-1]
		return i
	}
	t.slots = append(t.slots, slot[T]{})
	return uint32(len(t.slots) - 1)
}

// Get finds the operation of a number, nil if the number is not in use.
func (t *Numbers[T]) Get(number uint64) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.findOp(number)
}

func (t *Numbers[T]) findOp(number uint64) *T {
	i := uint32(number)
	if uint64(i) >= uint64(len(t.slots)) || t.slots[i].gen != uint32(number>>32) {
		return nil
	}
	return t.slots[i].op
}

// Remove ends the use of a number and returns its operation, nil if somebody else has removed it. So one caller gets
// it.
func (t *Numbers[T]) Remove(number uint64) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	op := t.findOp(number)
	if op != nil {
		i := uint32(number)
		t.slots[i].op = nil
		t.free = append(t.free, i)
	}
	return op
}

// Used is how many numbers are in use.
func (t *Numbers[T]) Used() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.slots) - len(t.free)
}

// Each calls f for every numbered operation, under the lock: f calls no method of t.
func (t *Numbers[T]) Each(f func(number uint64, op *T)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.slots {
		if op := t.slots[i].op; op != nil {
			f(uint64(t.slots[i].gen)<<32|uint64(i), op)
		}
	}
}
