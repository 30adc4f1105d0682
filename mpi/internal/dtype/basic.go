package dtype

import (
	"fmt"
	"runtime"
)

// Basic is a predefined type; its number is that of its handle in the ABI of MPI 5.0.
type Basic uint16

// The predefined types. Names are those of the standard.
const (
	Aint               Basic = 0x201
	Count              Basic = 0x202
	Offset             Basic = 0x203
	Packed             Basic = 0x207
	Short              Basic = 0x208
	Int                Basic = 0x209
	Long               Basic = 0x20a
	LongLong           Basic = 0x20b
	UnsignedShort      Basic = 0x20c
	Unsigned           Basic = 0x20d
	UnsignedLong       Basic = 0x20e
	UnsignedLongLong   Basic = 0x20f
	Float              Basic = 0x210
	CFloatComplex      Basic = 0x212
	CXXFloatComplex    Basic = 0x213
	Double             Basic = 0x214
	CDoubleComplex     Basic = 0x216
	CXXDoubleComplex   Basic = 0x217
	Logical            Basic = 0x218
	Integer            Basic = 0x219
	Real               Basic = 0x21a
	Complex            Basic = 0x21b
	DoublePrecision    Basic = 0x21c
	DoubleComplex      Basic = 0x21d
	Character          Basic = 0x21e
	LongDouble         Basic = 0x220
	CLongDoubleComplex Basic = 0x224
	CXXLongDoubleCplx  Basic = 0x225
	FloatInt           Basic = 0x228
	DoubleInt          Basic = 0x229
	LongInt            Basic = 0x22a
	TwoInt             Basic = 0x22b
	ShortInt           Basic = 0x22c
	LongDoubleInt      Basic = 0x22d
	TwoReal            Basic = 0x230
	TwoDoublePrecision Basic = 0x231
	TwoInteger         Basic = 0x232
	CBool              Basic = 0x238
	CXXBool            Basic = 0x239
	WChar              Basic = 0x23c
	Int8               Basic = 0x240
	Uint8              Basic = 0x241
	Char               Basic = 0x243
	SignedChar         Basic = 0x244
	UnsignedChar       Basic = 0x245
	Byte               Basic = 0x247
	Int16              Basic = 0x248
	Uint16             Basic = 0x249
	Int32              Basic = 0x250
	Uint32             Basic = 0x251
	Int64              Basic = 0x258
	Uint64             Basic = 0x259
	Logical1           Basic = 0x2c0
	Integer1           Basic = 0x2c1
	Logical2           Basic = 0x2c8
	Integer2           Basic = 0x2c9
	Real2              Basic = 0x2ca
	Logical4           Basic = 0x2d0
	Integer4           Basic = 0x2d1
	Real4              Basic = 0x2d2
	Complex4           Basic = 0x2d3
	Logical8           Basic = 0x2d8
	Integer8           Basic = 0x2d9
	Real8              Basic = 0x2da
	Complex8           Basic = 0x2db
	Logical16          Basic = 0x2e0
	Integer16          Basic = 0x2e1
	Real16             Basic = 0x2e2
	Complex16          Basic = 0x2e3
	Complex32          Basic = 0x2eb
)

// kind is what the bytes of a basic mean. Basics of one kind and size match each other.
type kind uint8

const (
	bytesKind  kind = iota + 1 // matches bytes only
	packedKind                 // matches anything
	charKind
	signedKind
	unsignedKind
	floatKind
	complexKind
	logicalKind
	extendedKind // a long double, in the machine's format
	extendedComplexKind
)

// fact is what is known of a basic.
type fact struct {
	id        Basic
	name      string // without its beginning MPI_
	kind      kind   // 0: a pair
	size      int64
	align     int64
	ext       int64 // bytes in external32 (14.5.2)
	one, more Basic // of a pair
}

var facts = []fact{
	{id: Aint, name: "AINT", kind: signedKind, size: 8, align: 8, ext: 8},
	{id: Count, name: "COUNT", kind: signedKind, size: 8, align: 8, ext: 8},
	{id: Offset, name: "OFFSET", kind: signedKind, size: 8, align: 8, ext: 8},
	{id: Packed, name: "PACKED", kind: packedKind, size: 1, align: 1, ext: 1},
	{id: Short, name: "SHORT", kind: signedKind, size: 2, align: 2, ext: 2},
	{id: Int, name: "INT", kind: signedKind, size: 4, align: 4, ext: 4},
	{id: Long, name: "LONG", kind: signedKind, size: 8, align: 8, ext: 4},
	{id: LongLong, name: "LONG_LONG", kind: signedKind, size: 8, align: 8, ext: 8},
	{id: UnsignedShort, name: "UNSIGNED_SHORT", kind: unsignedKind, size: 2, align: 2, ext: 2},
	{id: Unsigned, name: "UNSIGNED", kind: unsignedKind, size: 4, align: 4, ext: 4},
	{id: UnsignedLong, name: "UNSIGNED_LONG", kind: unsignedKind, size: 8, align: 8, ext: 4},
	{id: UnsignedLongLong, name: "UNSIGNED_LONG_LONG", kind: unsignedKind, size: 8, align: 8, ext: 8},
	{id: Float, name: "FLOAT", kind: floatKind, size: 4, align: 4, ext: 4},
	{id: CFloatComplex, name: "C_FLOAT_COMPLEX", kind: complexKind, size: 8, align: 4, ext: 8},
	{id: CXXFloatComplex, name: "CXX_FLOAT_COMPLEX", kind: complexKind, size: 8, align: 4, ext: 8},
	{id: Double, name: "DOUBLE", kind: floatKind, size: 8, align: 8, ext: 8},
	{id: CDoubleComplex, name: "C_DOUBLE_COMPLEX", kind: complexKind, size: 16, align: 8, ext: 16},
	{id: CXXDoubleComplex, name: "CXX_DOUBLE_COMPLEX", kind: complexKind, size: 16, align: 8, ext: 16},
	{id: Logical, name: "LOGICAL", kind: logicalKind, size: 4, align: 4, ext: 4},
	{id: Integer, name: "INTEGER", kind: signedKind, size: 4, align: 4, ext: 4},
	{id: Real, name: "REAL", kind: floatKind, size: 4, align: 4, ext: 4},
	{id: Complex, name: "COMPLEX", kind: complexKind, size: 8, align: 4, ext: 8},
	{id: DoublePrecision, name: "DOUBLE_PRECISION", kind: floatKind, size: 8, align: 8, ext: 8},
	{id: DoubleComplex, name: "DOUBLE_COMPLEX", kind: complexKind, size: 16, align: 8, ext: 16},
	{id: Character, name: "CHARACTER", kind: charKind, size: 1, align: 1, ext: 1},
	{id: LongDouble, name: "LONG_DOUBLE", kind: extendedKind, size: 16, align: 16, ext: 16},
	{id: CLongDoubleComplex, name: "C_LONG_DOUBLE_COMPLEX", kind: extendedComplexKind, size: 32, align: 16, ext: 32},
	{id: CXXLongDoubleCplx, name: "CXX_LONG_DOUBLE_COMPLEX", kind: extendedComplexKind, size: 32, align: 16, ext: 32},
	{id: FloatInt, name: "FLOAT_INT", one: Float, more: Int},
	{id: DoubleInt, name: "DOUBLE_INT", one: Double, more: Int},
	{id: LongInt, name: "LONG_INT", one: Long, more: Int},
	{id: TwoInt, name: "2INT", one: Int, more: Int},
	{id: ShortInt, name: "SHORT_INT", one: Short, more: Int},
	{id: LongDoubleInt, name: "LONG_DOUBLE_INT", one: LongDouble, more: Int},
	{id: TwoReal, name: "2REAL", one: Real, more: Real},
	{id: TwoDoublePrecision, name: "2DOUBLE_PRECISION", one: DoublePrecision, more: DoublePrecision},
	{id: TwoInteger, name: "2INTEGER", one: Integer, more: Integer},
	{id: CBool, name: "C_BOOL", kind: logicalKind, size: 1, align: 1, ext: 1},
	{id: CXXBool, name: "CXX_BOOL", kind: logicalKind, size: 1, align: 1, ext: 1},
	{id: WChar, name: "WCHAR", kind: charKind, size: 4, align: 4, ext: 2},
	{id: Int8, name: "INT8_T", kind: signedKind, size: 1, align: 1, ext: 1},
	{id: Uint8, name: "UINT8_T", kind: unsignedKind, size: 1, align: 1, ext: 1},
	{id: Char, name: "CHAR", kind: charKind, size: 1, align: 1, ext: 1},
	{id: SignedChar, name: "SIGNED_CHAR", kind: signedKind, size: 1, align: 1, ext: 1},
	{id: UnsignedChar, name: "UNSIGNED_CHAR", kind: unsignedKind, size: 1, align: 1, ext: 1},
	{id: Byte, name: "BYTE", kind: bytesKind, size: 1, align: 1, ext: 1},
	{id: Int16, name: "INT16_T", kind: signedKind, size: 2, align: 2, ext: 2},
	{id: Uint16, name: "UINT16_T", kind: unsignedKind, size: 2, align: 2, ext: 2},
	{id: Int32, name: "INT32_T", kind: signedKind, size: 4, align: 4, ext: 4},
	{id: Uint32, name: "UINT32_T", kind: unsignedKind, size: 4, align: 4, ext: 4},
	{id: Int64, name: "INT64_T", kind: signedKind, size: 8, align: 8, ext: 8},
	{id: Uint64, name: "UINT64_T", kind: unsignedKind, size: 8, align: 8, ext: 8},
	{id: Logical1, name: "LOGICAL1", kind: logicalKind, size: 1, align: 1, ext: 1},
	{id: Integer1, name: "INTEGER1", kind: signedKind, size: 1, align: 1, ext: 1},
	{id: Logical2, name: "LOGICAL2", kind: logicalKind, size: 2, align: 2, ext: 2},
	{id: Integer2, name: "INTEGER2", kind: signedKind, size: 2, align: 2, ext: 2},
	{id: Real2, name: "REAL2", kind: floatKind, size: 2, align: 2, ext: 2},
	{id: Logical4, name: "LOGICAL4", kind: logicalKind, size: 4, align: 4, ext: 4},
	{id: Integer4, name: "INTEGER4", kind: signedKind, size: 4, align: 4, ext: 4},
	{id: Real4, name: "REAL4", kind: floatKind, size: 4, align: 4, ext: 4},
	{id: Complex4, name: "COMPLEX4", kind: complexKind, size: 4, align: 2, ext: 4},
	{id: Logical8, name: "LOGICAL8", kind: logicalKind, size: 8, align: 8, ext: 8},
	{id: Integer8, name: "INTEGER8", kind: signedKind, size: 8, align: 8, ext: 8},
	{id: Real8, name: "REAL8", kind: floatKind, size: 8, align: 8, ext: 8},
	{id: Complex8, name: "COMPLEX8", kind: complexKind, size: 8, align: 4, ext: 8},
	{id: Logical16, name: "LOGICAL16", kind: logicalKind, size: 16, align: 16, ext: 16},
	{id: Integer16, name: "INTEGER16", kind: signedKind, size: 16, align: 16, ext: 16},
	{id: Real16, name: "REAL16", kind: floatKind, size: 16, align: 16, ext: 16},
	{id: Complex16, name: "COMPLEX16", kind: complexKind, size: 16, align: 8, ext: 16},
	{id: Complex32, name: "COMPLEX32", kind: complexKind, size: 32, align: 16, ext: 32},
}

// x87 tells that a long double has the 80 bits of that unit. Elsewhere it is a quadruple.
const x87 = runtime.GOARCH == "amd64"

const firstBasic, endBasic = Aint, Complex32 + 1

// known has the facts by number, and named the types. They belong to the program and do not change.
var (
	known = indexFacts()
	named = makeNamed()
)

func indexFacts() (index [endBasic - firstBasic]*fact) {
	for i := range facts {
		index[facts[i].id-firstBasic] = &facts[i]
	}
	return index
}

func makeNamed() (index [endBasic - firstBasic]*Type) {
	for i := range facts {
		f := &facts[i]
		t := &Type{basic: f.id, combiner: CombinerNamed, reps: 1}
		if f.kind == 0 {
			a, b := index[f.one-firstBasic], index[f.more-firstBasic]
			second := max(a.size, b.align)
			t.blocks = []block{{1, 0, a}, {1, second, b}}
			if t.measure() != nil {
				panic("dtype: a predefined pair has no bounds")
			}
			t.pad()
		} else {
			t.size, t.ub, t.trueUB, t.align, t.basics = f.size, f.size, f.size, f.align, 1
			t.sum = basicSum(f)
		}
		t.committed.Store(true)
		index[f.id-firstBasic] = t
	}
	return index
}

func (b Basic) fact() *fact {
	if b < firstBasic || b >= endBasic {
		return nil
	}
	return known[b-firstBasic]
}

// Basics lists all predefined types.
func Basics() []Basic {
	all := make([]Basic, len(facts))
	for i := range facts {
		all[i] = facts[i].id
	}
	return all
}

// Named is the predefined type b, nil if there is none.
func Named(b Basic) *Type {
	if b.fact() == nil {
		return nil
	}
	return named[b-firstBasic]
}

// String is the standard's name of the type.
func (b Basic) String() string {
	if f := b.fact(); f != nil {
		return "MPI_" + f.name
	}
	return fmt.Sprintf("datatype %#x", uint16(b))
}
