package dtype

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/errs"
)

// Class is a class of basics for MatchSize; its number is that of the ABI.
type Class int

// The classes.
const (
	classLogical Class = 191
	classInteger Class = 192
	classReal    Class = 193
	classComplex Class = 194
)

// undefined is MPI_UNDEFINED: a precision or range that may be anything.
const undefined = -32766

var sized = map[Class]map[int64]Basic{
	classLogical: {1: Logical1, 2: Logical2, 4: Logical4, 8: Logical8, 16: Logical16},
	classInteger: {1: Integer1, 2: Integer2, 4: Integer4, 8: Integer8, 16: Integer16},
	classReal:    {2: Real2, 4: Real4, 8: Real8, 16: Real16},
	classComplex: {4: Complex4, 8: Complex8, 16: Complex16, 32: Complex32},
}

// MatchSize is the predefined type of a class and size in bytes (19.1.9).
func MatchSize(class Class, size int64) (*Type, error) {
	if b, ok := sized[class][size]; ok {
		return Named(b), nil
	}
	return nil, fmt.Errorf("%w: no datatype of class %d has %d bytes", errs.Arg, class, size)
}

// models are the kinds of real numbers: decimal digits, decimal range, and the types of real and complex ones.
var models = []struct {
	digits, exponent int64
	real, complex    Basic
}{
	{3, 4, Real2, Complex4},
	{6, 37, Real4, Complex8},
	{15, 307, Real8, Complex16},
	{33, 4931, Real16, Complex32},
}

// F90Real is the type of reals with at least p decimal digits and a decimal range of r. Either may be MPI_UNDEFINED
// (19.1.9). The kinds of two bytes are not chosen.
func F90Real(p, r int64) (*Type, error) { return f90(CombinerF90Real, p, r) }

// F90Complex is F90Real of complex numbers.
func F90Complex(p, r int64) (*Type, error) { return f90(CombinerF90Complex, p, r) }

func f90(by Combiner, p, r int64) (*Type, error) {
	if p == undefined && r == undefined || p < 0 && p != undefined || r < 0 && r != undefined {
		return nil, fmt.Errorf("%w: precision %d, range %d", errs.Arg, p, r)
	}
	for _, m := range models[1:] {
		if p <= m.digits && r <= m.exponent {
			b := m.real
			if by == CombinerF90Complex {
				b = m.complex
			}
			return parametric(by, b, p, r)
		}
	}
	return nil, fmt.Errorf("%w: no real has %d digits and a range of %d", errs.Arg, p, r)
}

// F90Integer is the type of integers with a decimal range of r.
func F90Integer(r int64) (*Type, error) {
	for _, m := range []struct {
		digits int64
		b      Basic
	}{{2, Integer1}, {4, Integer2}, {9, Integer4}, {18, Integer8}, {38, Integer16}} {
		if r >= 0 && r <= m.digits {
			return parametric(CombinerF90Integer, m.b, r)
		}
	}
	return nil, fmt.Errorf("%w: no integer has a range of %d", errs.Arg, r)
}

// parametric is a predefined type without a name: committed, and of the basic b.
func parametric(by Combiner, b Basic, args ...int64) (*Type, error) {
	t, err := finish(&Type{combiner: by, ints: args, reps: 1, blocks: []block{{1, 0, Named(b)}}}, 0)
	if err == nil {
		t.Commit()
	}
	return t, err
}

// single reports that t is a predefined type of one basic.
func (t *Type) single() bool { return t != nil && t.Predefined() && t.basics == 1 }

// integral reports that t is an integer, and ordered that it is one or a floating point number.
func (t *Type) integral() bool { k := t.basic.fact().kind; return k == signedKind || k == unsignedKind }

func (t *Type) ordered() bool {
	k := t.basic.fact().kind
	return t.integral() || k == floatKind || k == extendedKind
}

// ValueIndex is the type of a value with an index behind it, as MINLOC and MAXLOC take it (5.1.14). Pairs with a name
// come as such. There is none, which is nil, of values that have no order and of indices that are no integers.
func ValueIndex(value, index *Type) (*Type, error) {
	if !value.single() || !index.single() {
		return nil, fmt.Errorf("%w: a pair is made of two predefined types", errs.Type)
	}
	for i := range facts {
		if f := &facts[i]; f.kind == 0 && f.one == value.basic && f.more == index.basic {
			return Named(f.id), nil
		}
	}
	if !value.ordered() || !index.integral() {
		return nil, nil
	}
	second := ceil(value.size, index.align) * index.align
	t, err := finish(&Type{
		combiner: CombinerValueIndex, types: []*Type{value, index}, reps: 1,
		blocks: []block{{1, 0, value}, {1, second, index}},
	}, 0)
	if err == nil {
		t.pad()
		t.Commit()
	}
	return t, err
}
