package op

import (
	"runtime"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
)

// class is a group of datatypes for which the standard allows the same operations (6.9.2).
type class uint8

const (
	none       class = iota // characters, packed bytes
	cInteger                // integers of C
	fInteger                // integers of Fortran
	floating                // reals
	complexes               //
	logical                 //
	byteClass               // MPI_BYTE
	multi                   // of several languages: addresses, counts, offsets
	pairs                   // a value and its index
	lastOfKind              // how many there are
)

// allowed lists the operations of each class, but those of accumulations, which are for all but packed bytes.
var allowed = [lastOfKind][]ID{
	cInteger:  {Sum, Prod, Min, Max, Band, Bor, Bxor, Land, Lor, Lxor},
	fInteger:  {Sum, Prod, Min, Max, Band, Bor, Bxor},
	multi:     {Sum, Prod, Min, Max, Band, Bor, Bxor, Land, Lor, Lxor}, // the standard leaves out the logical ones
	floating:  {Sum, Prod, Min, Max},
	complexes: {Sum, Prod},
	logical:   {Land, Lor, Lxor},
	byteClass: {Band, Bor, Bxor},
	pairs:     {MinLoc, MaxLoc},
}

// elem is what the bytes of a basic are.
type elem uint8

const (
	int8s elem = iota
	int16s
	int32s
	int64s
	int128s
	uint8s
	uint16s
	uint32s
	uint64s
	logicals1 // by their bytes
	logicals2
	logicals4
	logicals8
	logicals16
	halves
	float32s
	float64s
	extendeds // of 80 bits, in 16 bytes
	quads
	complexHalves
	complex64s
	complex128s
	complexExtendeds
	complexQuads
	elems // how many there are
)

// fact is what is known of a basic.
type fact struct {
	class class
	elem  elem
}

const firstBasic, endBasic = dtype.Aint, dtype.Complex32 + 1

var facts = [endBasic - firstBasic]fact{
	dtype.Aint - firstBasic:               {multi, int64s},
	dtype.Count - firstBasic:              {multi, int64s},
	dtype.Offset - firstBasic:             {multi, int64s},
	dtype.Short - firstBasic:              {cInteger, int16s},
	dtype.Int - firstBasic:                {cInteger, int32s},
	dtype.Long - firstBasic:               {cInteger, int64s},
	dtype.LongLong - firstBasic:           {cInteger, int64s},
	dtype.UnsignedShort - firstBasic:      {cInteger, uint16s},
	dtype.Unsigned - firstBasic:           {cInteger, uint32s},
	dtype.UnsignedLong - firstBasic:       {cInteger, uint64s},
	dtype.UnsignedLongLong - firstBasic:   {cInteger, uint64s},
	dtype.SignedChar - firstBasic:         {cInteger, int8s},
	dtype.UnsignedChar - firstBasic:       {cInteger, uint8s},
	dtype.Int8 - firstBasic:               {cInteger, int8s},
	dtype.Uint8 - firstBasic:              {cInteger, uint8s},
	dtype.Int16 - firstBasic:              {cInteger, int16s},
	dtype.Uint16 - firstBasic:             {cInteger, uint16s},
	dtype.Int32 - firstBasic:              {cInteger, int32s},
	dtype.Uint32 - firstBasic:             {cInteger, uint32s},
	dtype.Int64 - firstBasic:              {cInteger, int64s},
	dtype.Uint64 - firstBasic:             {cInteger, uint64s},
	dtype.Integer - firstBasic:            {fInteger, int32s},
	dtype.Integer1 - firstBasic:           {fInteger, int8s},
	dtype.Integer2 - firstBasic:           {fInteger, int16s},
	dtype.Integer4 - firstBasic:           {fInteger, int32s},
	dtype.Integer8 - firstBasic:           {fInteger, int64s},
	dtype.Integer16 - firstBasic:          {fInteger, int128s},
	dtype.Float - firstBasic:              {floating, float32s},
	dtype.Double - firstBasic:             {floating, float64s},
	dtype.LongDouble - firstBasic:         {floating, longOr80(quads, extendeds)},
	dtype.Real - firstBasic:               {floating, float32s},
	dtype.DoublePrecision - firstBasic:    {floating, float64s},
	dtype.Real2 - firstBasic:              {floating, halves},
	dtype.Real4 - firstBasic:              {floating, float32s},
	dtype.Real8 - firstBasic:              {floating, float64s},
	dtype.Real16 - firstBasic:             {floating, quads},
	dtype.CFloatComplex - firstBasic:      {complexes, complex64s},
	dtype.CXXFloatComplex - firstBasic:    {complexes, complex64s},
	dtype.CDoubleComplex - firstBasic:     {complexes, complex128s},
	dtype.CXXDoubleComplex - firstBasic:   {complexes, complex128s},
	dtype.CLongDoubleComplex - firstBasic: {complexes, longOr80(complexQuads, complexExtendeds)},
	dtype.CXXLongDoubleCplx - firstBasic:  {complexes, longOr80(complexQuads, complexExtendeds)},
	dtype.Complex - firstBasic:            {complexes, complex64s},
	dtype.DoubleComplex - firstBasic:      {complexes, complex128s},
	dtype.Complex4 - firstBasic:           {complexes, complexHalves},
	dtype.Complex8 - firstBasic:           {complexes, complex64s},
	dtype.Complex16 - firstBasic:          {complexes, complex128s},
	dtype.Complex32 - firstBasic:          {complexes, complexQuads},
	dtype.Logical - firstBasic:            {logical, logicals4},
	dtype.CBool - firstBasic:              {logical, logicals1},
	dtype.CXXBool - firstBasic:            {logical, logicals1},
	dtype.Logical1 - firstBasic:           {logical, logicals1},
	dtype.Logical2 - firstBasic:           {logical, logicals2},
	dtype.Logical4 - firstBasic:           {logical, logicals4},
	dtype.Logical8 - firstBasic:           {logical, logicals8},
	dtype.Logical16 - firstBasic:          {logical, logicals16},
	dtype.Byte - firstBasic:               {byteClass, uint8s},
	dtype.FloatInt - firstBasic:           {class: pairs},
	dtype.DoubleInt - firstBasic:          {class: pairs},
	dtype.LongInt - firstBasic:            {class: pairs},
	dtype.TwoInt - firstBasic:             {class: pairs},
	dtype.ShortInt - firstBasic:           {class: pairs},
	dtype.LongDoubleInt - firstBasic:      {class: pairs},
	dtype.TwoReal - firstBasic:            {class: pairs},
	dtype.TwoDoublePrecision - firstBasic: {class: pairs},
	dtype.TwoInteger - firstBasic:         {class: pairs},
}

func factOf(b dtype.Basic) fact {
	if b < firstBasic || b >= endBasic {
		return fact{}
	}
	return facts[b-firstBasic]
}

// table has a function for each operation and basic that the standard allows. It belongs to the program and does not
// change.
var table = makeTable()

func makeTable() (all [NoOp + 1][endBasic - firstBasic]Func) {
	for _, b := range dtype.Basics() {
		f, i := factOf(b), b-firstBasic
		for _, id := range allowed[f.class] {
			if f.class == pairs {
				all[id][i] = located(id, dtype.Named(b))
			} else {
				all[id][i] = kernelsOf[f.elem][id]
			}
		}
		if b != dtype.Packed {
			all[Replace][i], all[NoOp][i] = movers(dtype.Named(b))
		}
	}
	return all
}

// Lookup gives the operation on elements of a predefined type with a name; false if the standard does not allow it
// (6.9.2, 6.9.4). Replace and NoOp have a function for all types but MPI_PACKED.
func Lookup(id ID, b dtype.Basic) (Func, bool) {
	if id > NoOp || b < firstBasic || b >= endBasic {
		return nil, false
	}
	f := table[id][b-firstBasic]
	return f, f != nil
}

// lookupType is Lookup for any datatype. Those without a name have operations if they are predefined: kinds of Fortran,
// and values with an index.
func lookupType(id ID, t *dtype.Type) (Func, bool) {
	switch {
	case t.Basic() != 0:
		return Lookup(id, t.Basic())
	case !t.Predefined():
		return nil, false
	case t.Basics() == 2:
		f := located(id, t)
		return f, f != nil
	}
	var basic dtype.Basic
	dtype.Walk(t, 1, func(b dtype.Basic, _, _ int64) bool {
		basic = b
		return true
	})
	return Lookup(id, basic)
}

// kernels are the functions of elements of one form, by operation.
type kernels [NoOp + 1]Func

var kernelsOf = [elems]kernels{
	int8s:            small[int8](sum8),
	int16s:           small[int16](sum16),
	int32s:           integers[int32](),
	int64s:           integers[int64](),
	int128s:          integers128(),
	uint8s:           small[uint8](sum8),
	uint16s:          small[uint16](sum16),
	uint32s:          integers[uint32](),
	uint64s:          integers[uint64](),
	logicals1:        logicals(),
	logicals2:        truths[uint16](),
	logicals4:        truths[uint32](),
	logicals8:        truths[uint64](),
	logicals16:       {Land: land128, Lor: lor128, Lxor: lxor128},
	halves:           wides[half](),
	float32s:         reals[float32](),
	float64s:         reals[float64](),
	extendeds:        wides[extended](),
	quads:            wides[quad](),
	complexHalves:    {Sum: sumParts[half], Prod: prodHalves},
	complex64s:       {Sum: sumTwo[float32], Prod: prod[complex64]},
	complex128s:      {Sum: sumTwo[float64], Prod: prodComplex},
	complexExtendeds: {Sum: sumParts[extended], Prod: prodParts[extended]},
	complexQuads:     {Sum: sumParts[quad], Prod: prodParts[quad]},
}

// longOr80 is what a long double is made of: quadruples, but on amd64 numbers of 80 bits, as in package dtype.
func longOr80(quad, extended elem) elem {
	if runtime.GOARCH == "amd64" {
		return extended
	}
	return quad
}

// slice views n elements.
func slice[T any](p unsafe.Pointer, n int64) []T { return unsafe.Slice((*T)(p), n) }
