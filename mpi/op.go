package mpi

// Op is an operation of reductions on elements T (6.9). It is one of the functions below, such as Sum, or what Func
// and VectorFunc make of a function of the program. Sum is given without type arguments, because the buffers tell the
// type. The compiler refuses a type that the operation does not have.
//
//	err := mpi.Allreduce(c, send, recv, mpi.Sum)
//
// An operation must be associative. It is applied in the order of ranks unless it is commutative. A nil Op is invalid.
type Op[T any] func() Reducer[T]

// Reducer is how an Op is carried out. The zero Reducer is invalid.
type Reducer[T any] struct{ reducer }

// reducer is a Reducer whose type has been checked.
type reducer struct {
	combiner
	commute bool // the order of ranks does not matter
	user    bool // the combiner is a function of the program: it may panic
}

// combiner sets out[i] to low[i] op high[i]. The three are elements of one type and equally long. low holds what comes
// from lower ranks. out may be one of the others; if it is low, high is of no use afterwards. The predefined ones are
// empty structs, because generic functions as values would be allocated.
type combiner interface{ into(out, low, high []byte) }

// reducer is what op stands for; without a combiner if op is invalid.
func (op Op[T]) reducer() reducer {
	if op == nil {
		return reducer{}
	}
	return op().reducer
}

// predefined is the Reducer of a commutative operation that cannot panic.
func predefined[T any](f combiner) Reducer[T] { return Reducer[T]{reducer{combiner: f, commute: true}} }

// Commutative declares an operation of the program commutative. Faster algorithms may then be used, and a op b may be
// computed as b op a (6.9.5).
func (op Op[T]) Commutative() Op[T] {
	r := op.reducer()
	r.commute = true
	return func() Reducer[T] { return Reducer[T]{r} }
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
	r := Reducer[T]{reducer{combiner: function[T](f), user: true}}
	return func() Reducer[T] { return r }
}

type function[T any] func(in, inout []T)

func (f function[T]) into(out, low, high []byte) {
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
