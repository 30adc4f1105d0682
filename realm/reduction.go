package realm

import (
	"errors"
	"reflect"
	"unsafe"

	"github.com/golci/golci/realm/internal/fault"
)

// Reduction is a registered way to make one value of two.
type Reduction[T any] struct {
	def *registration
}

// RegisterReduction makes f known under a name, as a reduction of the values of barriers. It is called where Register
// is, and on all ranks alike. f must be associative and commutative, because values are reduced in any order. It must
// neither block nor call this package. If it panics, the phase is poisoned. T has no pointers. A second registration of
// a name panics, as does a T with pointers.
func RegisterReduction[T any](name string, f func(a, b T) T) Reduction[T] {
	typ := reflect.TypeFor[T]()
	if !pointerFree(typ) {
		panic("realm: RegisterReduction: " + typ.String() + " has pointers, and cannot be reduced")
	}
	d := &registration{
		name: "reduction " + name, layout: layoutOf(typ), size: typ.Size(), plain: true, fold: folder[T](f),
		run: func(*Ctx, *task) error { return errors.New("a reduction is no task") },
	}
	d.enterRegistry()
	return Reduction[T]{d}
}

// folder implements barrier.Op.
type folder[T any] func(a, b T) T

// Fold implements barrier.Op. The bytes need not be aligned for T.
func (f folder[T]) Fold(sum, value []byte) error {
	var a, b T
	copy(bytesOf(&a), sum)
	copy(bytesOf(&b), value)
	err := fault.Safely("a reduction", func() error { a = f(a, b); return nil })
	copy(sum, bytesOf(&a))
	return err
}

// bytesOf are the bytes of a value without pointers.
func bytesOf[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }
