package reduce

import (
	"errors"
	"fmt"
	"unsafe"
)

// Errors of this package wrap one of these.
var (
	errIndex = errors.New("reduce: no such point")      // a point outside of the space
	errOp    = errors.New("reduce: not with this op")   // an operator that lacks what an instance needs
	errType  = errors.New("reduce: types do not match") // a field or memory that does not hold the values
	errWire  = errors.New("reduce: malformed chunk")    // bytes that are no chunk
)

// Op is a reduction operator. L is the type of the data, R that of the values that are reduced into them; both are
// without pointers. The result must not depend on the order of reductions. Its functions must not block.
type Op[L, R any] struct {
	Name string
	// Apply is the datum l after the reduction of r.
	Apply func(l L, r R) L
	// Fold is one value in the place of two: to apply it gives what applying both does. Optional; a Fold needs it.
	Fold func(a, b R) R
	// Identity is a value that changes nothing. Optional; a Fold needs it.
	Identity *R

	kernel kernel[L, R] // the loops of a built-in operator
}

// kernel is the loops of an operator over many values.
type kernel[L, R any] interface {
	foldRow(dst, v []R)                               // dst[i] = dst[i] op v[i]
	foldAt(pages []*page[R], at []int64, v []R)       // the elements at in pages, which are there
	applyRow(dst []L, v []R)                          // dst[i] = dst[i] op v[i]
	applyAt(base unsafe.Pointer, offs []int64, v []R) // the data at byte offsets
}

// Mode tells who else works on the same values.
type Mode uint8

// Modes.
const (
	Exclusive Mode = iota // nobody
	Atomic                // others, at once: each reduction is atomic; for values of 4 and 8 bytes only
)

// loops are those of o.
func (o *Op[L, R]) loops() kernel[L, R] {
	if o.kernel != nil {
		return o.kernel
	}
	return funcs[L, R]{o}
}

// checkAtomic tells whether values of size bytes can be changed atomically.
func checkAtomic(what string, size uintptr, mode Mode) error {
	if mode > Atomic {
		return fmt.Errorf("%w: there is no mode %d", errType, mode)
	}
	if mode == Atomic && size != 4 && size != 8 {
		return fmt.Errorf("%w: atomic reductions of %s of %d bytes, want 4 or 8", errType, what, size)
	}
	return nil
}

// funcs are the loops of an operator that has none of its own.
type funcs[L, R any] struct{ op *Op[L, R] }

func (f funcs[L, R]) foldRow(dst, v []R) {
	for i := range dst {
		dst[i] = f.op.Fold(dst[i], v[i])
	}
}

func (f funcs[L, R]) foldAt(pages []*page[R], at []int64, v []R) {
	for k, i := range at {
		p := &pages[i/pageLen][i%pageLen]
		*p = f.op.Fold(*p, v[k])
	}
}

func (f funcs[L, R]) applyRow(dst []L, v []R) {
	for i := range dst {
		dst[i] = f.op.Apply(dst[i], v[i])
	}
}

func (f funcs[L, R]) applyAt(base unsafe.Pointer, offs []int64, v []R) {
	for k, off := range offs {
		p := (*L)(unsafe.Add(base, off))
		*p = f.op.Apply(*p, v[k])
	}
}
