package mpi

import (
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
	opid "github.com/golci/golci/mpi/internal/op"
)

// Op is an operation of reductions on elements T (6.9). It is one of the functions below, such as Sum, or what Func
// and VectorFunc make of a function of the program. Sum is given without type arguments, because the buffers tell the
// type. The compiler refuses a type that the operation does not have.
//
//	err := mpi.Allreduce(c, send, recv, mpi.Sum)
//
// An operation must be associative. It is applied in the order of ranks unless it is commutative. A nil Op is invalid.
type Op[T any] func() Reducer[T]

// Reducer is how an Op is carried out. The zero Reducer is invalid.
type Reducer[T any] struct {
	operator argument.Operator
	access   opid.ID // what it is in windows, if it has no combiner
}

// operator is what op stands for; without a combiner if op is invalid.
func (op Op[T]) operator() argument.Operator {
	if op == nil {
		return argument.Operator{}
	}
	return op().operator
}

// predefined is the Reducer of a commutative operation that cannot panic. The predefined ones are empty structs,
// because generic functions as values would be allocated.
func predefined[T any](id opid.ID, f argument.Combiner) Reducer[T] {
	return Reducer[T]{operator: argument.Operator{Combiner: f, Commutes: true, ID: id}}
}

// Commutative declares an operation of the program commutative. Faster algorithms may then be used, and a op b may be
// computed as b op a (6.9.5).
func (op Op[T]) Commutative() Op[T] {
	r := op.operator()
	r.Commutes = true
	return func() Reducer[T] { return Reducer[T]{operator: r} }
}

// Func makes an operation of a function of two elements (6.9.5): a comes from lower ranks than b. The operation is
// not commutative; see Commutative. A nil f gives a nil Op: ErrOp when it is used. If f panics, the collective fails
// as with ErrOp, so that the other ranks get ErrCollective, and then the panic goes on.
func Func[T any](f func(a, b T) T) Op[T] {
	if f == nil {
		return nil
	}
	return VectorFunc(func(in, inout []T) {
		for i, a := range in {
			inout[i] = f(a, inout[i])
		}
	})
}

// VectorFunc is Func for a function of vectors, as MPI_User_function: f sets inout[i] to in[i] op inout[i] for all i.
// The slices are equally long, and f must not keep them.
func VectorFunc[T any](f func(in, inout []T)) Op[T] {
	if f == nil {
		return nil
	}
	r := Reducer[T]{operator: argument.Operator{Combiner: function[T](f), User: true}}
	return func() Reducer[T] { return r }
}

type function[T any] func(in, inout []T)

// Into implements argument.Combiner.
func (f function[T]) Into(out, low, high []byte) {
	a, b := viewOf[T](low), viewOf[T](high)
	switch {
	case same(out, high):
		f(a, b)
	case same(out, low):
		f(a, b)
		copy(out, high)
	default:
		copy(out, high)
		f(a, viewOf[T](out))
	}
}

// same reports whether two slices begin at the same place, so that one is the result in the other's place.
func same(a, b []byte) bool {
	return len(a) == 0 || unsafe.SliceData(a) == unsafe.SliceData(b)
}
