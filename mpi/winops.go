package mpi

import (
	"reflect"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/op"
)

// Replace is an Op of accumulations only: the new element takes the place of the old one (12.3.4).
func Replace[T any]() Reducer[T] { return Reducer[T]{access: op.Replace} }

// NoOp is an Op of accumulations only: the old element stays (12.3.4).
func NoOp[T any]() Reducer[T] { return Reducer[T]{access: op.NoOp} }

// accumulator is a combiner that accumulations have, too.
type accumulator interface{ accessOp() op.ID }

func (sum[T]) accessOp() op.ID     { return op.Sum }
func (prod[T]) accessOp() op.ID    { return op.Prod }
func (minimum[T]) accessOp() op.ID { return op.Min }
func (maximum[T]) accessOp() op.ID { return op.Max }
func (band[T]) accessOp() op.ID    { return op.Band }
func (bor[T]) accessOp() op.ID     { return op.Bor }
func (bxor[T]) accessOp() op.ID    { return op.Bxor }
func (land[T]) accessOp() op.ID    { return op.Land }
func (lor[T]) accessOp() op.ID     { return op.Lor }
func (lxor[T]) accessOp() op.ID    { return op.Lxor }

// accessOf is the operation of accumulations that o stands for, 0 if none does.
func accessOf[T any](o Op[T]) op.ID {
	if o == nil {
		return 0
	}
	r := o()
	if a, ok := r.operator.Combiner.(accumulator); ok {
		return a.accessOp()
	}
	return r.access
}

// basicOf is the predefined type of elements T, nil if there is none.
func basicOf[T any]() *dtype.Type { return basicFor(reflect.TypeFor[T]()) }

// basicFor is the predefined type of t, nil if there is none.
func basicFor(t reflect.Type) *dtype.Type {
	if b, ok := basics[t.Kind()]; ok {
		return dtype.Named(b)
	}
	if b, ok := wordBasics[t.Kind()]; ok {
		return dtype.Named(b[t.Size()/8])
	}
	return nil
}

var basics = map[reflect.Kind]dtype.Basic{
	reflect.Bool:       dtype.CBool,
	reflect.Int8:       dtype.Int8,
	reflect.Int16:      dtype.Int16,
	reflect.Int32:      dtype.Int32,
	reflect.Int64:      dtype.Int64,
	reflect.Uint8:      dtype.Uint8,
	reflect.Uint16:     dtype.Uint16,
	reflect.Uint32:     dtype.Uint32,
	reflect.Uint64:     dtype.Uint64,
	reflect.Float32:    dtype.Float,
	reflect.Float64:    dtype.Double,
	reflect.Complex64:  dtype.CFloatComplex,
	reflect.Complex128: dtype.CDoubleComplex,
}

// wordBasics are those of types whose size is that of the processor's words: of 4 and of 8 bytes.
var wordBasics = map[reflect.Kind][2]dtype.Basic{
	reflect.Int:     {dtype.Int32, dtype.Int64},
	reflect.Uint:    {dtype.Uint32, dtype.Uint64},
	reflect.Uintptr: {dtype.Uint32, dtype.Uint64},
}
