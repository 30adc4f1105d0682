package mpi

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/op"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/win"
)

// accumulation is what the calls below have checked.
type accumulation struct {
	o     op.ID
	basic *dtype.Type
}

// accumulates checks the operation and the type of the elements of w.
func (w *Win[T]) accumulates(what string, o Op[T]) (a accumulation, err error) {
	if w.null() {
		return a, w.goneError(what)
	}
	a = accumulation{accessOf(o), w.basic}
	switch {
	case a.basic == nil:
		return a, fmt.Errorf("mpi: %s: %w: elements %T are not numbers or truth values", what, ErrType, *new(T))
	case a.o == 0:
		return a, fmt.Errorf("mpi: %s: %w: accumulations have only predefined ones, without locations", what, ErrOp)
	}
	return a, nil
}

// ofBasic is buf as elements of the predefined type.
func ofBasic[T any](a accumulation, buf []T) win.Buf {
	return win.Buf{Mem: unsafe.Pointer(unsafe.SliceData(buf)), N: int64(len(buf)), T: a.basic}
}

// placeAt is n elements at a rank.
func (a accumulation) placeAt(n, rank, disp int) win.Place {
	return win.Place{Rank: rank, Disp: int64(disp), N: int64(n), T: a.basic}
}

// Accumulate combines buf with a rank's elements from disp on (12.3.4): the new ones are old o buf. Each element is
// updated atomically with respect to all accumulations. Those of one origin at one element are made in its order. o is
// Sum, Prod, Min, Max, an operation on bits or truth values, Replace or NoOp: ErrOp. The elements are numbers or truth
// values: ErrType. Otherwise it is like Put.
func (w *Win[T]) Accumulate(buf []T, rank, disp int, o Op[T]) error {
	a, err := w.accumulates("Accumulate", o)
	if err != nil {
		return err
	}
	return sentinel.AddTo(w.w.Accumulate(ofBasic(a, buf), a.placeAt(len(buf), rank, disp), a.o))
}

// Raccumulate is Accumulate with a request (12.3.5). It needs an epoch of Lock or LockAll.
func (w *Win[T]) Raccumulate(buf []T, rank, disp int, o Op[T]) (Request, error) {
	a, err := w.accumulates("Raccumulate", o)
	if err != nil {
		return Request{}, err
	}
	return request(w.w.Raccumulate(ofBasic(a, buf), a.placeAt(len(buf), rank, disp), a.o))
}

// GetAccumulate is Accumulate that brings the old elements into old (12.3.4), which must be as long as buf and must not
// overlap it: ErrTruncate, ErrBuffer. With NoOp buf may be nil, and old tells how many elements there are.
func (w *Win[T]) GetAccumulate(buf, old []T, rank, disp int, o Op[T]) error {
	a, err := w.fetches("Get_accumulate", buf, old, o)
	if err != nil {
		return err
	}
	return sentinel.AddTo(w.w.GetAccumulate(ofBasic(a, buf), ofBasic(a, old), a.placeAt(len(old), rank, disp), a.o))
}

// RgetAccumulate is GetAccumulate with a request (12.3.5). It needs an epoch of Lock or LockAll.
func (w *Win[T]) RgetAccumulate(buf, old []T, rank, disp int, o Op[T]) (Request, error) {
	a, err := w.fetches("Rget_accumulate", buf, old, o)
	if err != nil {
		return Request{}, err
	}
	return request(w.w.RgetAccumulate(ofBasic(a, buf), ofBasic(a, old), a.placeAt(len(old), rank, disp), a.o))
}

// fetches checks the slices, too.
func (w *Win[T]) fetches(what string, buf, old []T, o Op[T]) (accumulation, error) {
	a, err := w.accumulates(what, o)
	switch {
	case err != nil || a.o == op.NoOp:
	case len(buf) != len(old):
		err = fmt.Errorf("mpi: %s: %w: %d elements, and %d old ones", what, ErrTruncate, len(buf), len(old))
	case overlap(bytesOf(buf), bytesOf(old)):
		err = fmt.Errorf("mpi: %s: %w: the old elements overlap the new ones", what, ErrBuffer)
	}
	return a, err
}

// overlap tells whether two pieces of memory share bytes.
func overlap(a, b []byte) bool {
	p, q := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return p < q+uintptr(len(b)) && q < p+uintptr(len(a))
}

// FetchAndOp is GetAccumulate of one element (12.3.4): the value at the target becomes old o value. old gets the old
// one when the epoch ends or is flushed; until then it must be left alone. Errors: ErrBuffer if old is nil, and those
// of Accumulate.
func (w *Win[T]) FetchAndOp(value T, old *T, rank, disp int, o Op[T]) error {
	a, err := w.accumulates("Fetch_and_op", o)
	if err != nil {
		return err
	}
	if w.w.FetchDirect(unsafe.Pointer(&value), unsafe.Pointer(old), a.basic, rank, int64(disp), a.o) {
		return nil
	}
	v := value // on the heap, only here
	return sentinel.AddTo(w.w.FetchAndOp(unsafe.Pointer(&v), unsafe.Pointer(old), a.basic, rank, int64(disp), a.o))
}

// CompareAndSwap replaces an element of a rank by value if it equals compare (12.3.4). old gets the old element as with
// FetchAndOp. It is atomic with respect to accumulations. Elements are integers or truth values: ErrType. Otherwise it
// is like FetchAndOp.
func (w *Win[T]) CompareAndSwap(value, compare T, old *T, rank, disp int) error {
	a, err := w.accumulates("Compare_and_swap", Replace[T])
	if err != nil {
		return err
	}
	if w.w.SwapDirect(unsafe.Pointer(&value), unsafe.Pointer(&compare), unsafe.Pointer(old), a.basic, rank, int64(disp)) {
		return nil
	}
	v, c := value, compare // on the heap, only here
	return sentinel.AddTo(w.w.CompareAndSwap(unsafe.Pointer(&v), unsafe.Pointer(&c), unsafe.Pointer(old), a.basic, rank, int64(disp)))
}
