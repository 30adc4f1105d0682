package op

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/golci/golci/mpi/internal/dtype"
)

// group is a group of datatypes with what the standard allows for it, written down from its text, and another way to
// compute.
type group struct {
	name   string
	types  []dtype.Basic
	ops    []ID
	signed bool
	random func(g *group, rnd *rand.Rand, b []byte)       // fills an element
	model  func(g *group, id ID, low, high []byte) []byte // what low op high is
	nan    func(g *group, b []byte) bool                  // it is no number, of any bits
}

var (
	arithmetic = []ID{Max, Min, Sum, Prod}
	bitwise    = []ID{Band, Bor, Bxor}
	logic      = []ID{Land, Lor, Lxor}
)

func join(lists ...[]ID) (all []ID) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func anyBits(_ *group, rnd *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	switch rnd.IntN(6) {
	case 0:
		clear(b)
	case 1:
		for i := range b {
			b[i] = 0xff
		}
	case 2: // the least, or the greatest
		clear(b)
		b[len(b)-1] = 0x80
	case 3:
		clear(b)
		b[rnd.IntN(len(b))] = byte(rnd.Uint32())
	}
}

var groups = []group{
	{
		name: "C integers with a sign", signed: true, ops: join(arithmetic, bitwise, logic),
		types: []dtype.Basic{
			dtype.Int, dtype.Long, dtype.Short, dtype.LongLong, dtype.SignedChar, dtype.Int8, dtype.Int16, dtype.Int32,
			dtype.Int64,
		}, random: anyBits, model: integerModel,
	},
	{
		name: "C integers without", ops: join(arithmetic, bitwise, logic),
		types: []dtype.Basic{
			dtype.UnsignedShort, dtype.Unsigned, dtype.UnsignedLong, dtype.UnsignedLongLong, dtype.UnsignedChar, dtype.Uint8,
			dtype.Uint16, dtype.Uint32, dtype.Uint64,
		}, random: anyBits, model: integerModel,
	},
	{
		name: "Fortran integers", signed: true, ops: join(arithmetic, bitwise),
		types: []dtype.Basic{
			dtype.Integer, dtype.Integer1, dtype.Integer2, dtype.Integer4, dtype.Integer8, dtype.Integer16,
		}, random: anyBits, model: integerModel,
	},
	{
		name: "integers of several languages", signed: true, ops: join(arithmetic, bitwise, logic),
		types: []dtype.Basic{dtype.Aint, dtype.Offset, dtype.Count}, random: anyBits, model: integerModel,
	},
	{
		name: "bytes", ops: bitwise, types: []dtype.Basic{dtype.Byte}, random: anyBits, model: integerModel,
	},
	{
		name: "logicals", ops: logic, types: []dtype.Basic{
			dtype.Logical, dtype.CBool, dtype.CXXBool, dtype.Logical1, dtype.Logical2, dtype.Logical4, dtype.Logical8,
			dtype.Logical16,
		}, random: anyBits, model: integerModel,
	},
	{
		name: "floats", ops: arithmetic, types: []dtype.Basic{dtype.Float, dtype.Real, dtype.Real4},
		random: randomFloats, model: floatModel, nan: floatNaN,
	},
	{
		name: "doubles", ops: arithmetic, types: []dtype.Basic{dtype.Double, dtype.DoublePrecision, dtype.Real8},
		random: randomFloats, model: floatModel, nan: floatNaN,
	},
	{
		name: "halves", ops: arithmetic, types: []dtype.Basic{dtype.Real2},
		random: randomSoft, model: softModel, nan: softNaN,
	},
	{
		name: "long doubles", ops: arithmetic, types: []dtype.Basic{dtype.LongDouble},
		random: randomSoft, model: softModel, nan: softNaN,
	},
	{
		name: "quadruples", ops: arithmetic, types: []dtype.Basic{dtype.Real16},
		random: randomSoft, model: softModel, nan: softNaN,
	},
	{
		name: "long double complex", ops: []ID{Sum, Prod}, types: []dtype.Basic{
			dtype.CLongDoubleComplex, dtype.CXXLongDoubleCplx,
		}, random: randomComplex, model: complexModel,
	},
	{
		name: "complex", ops: []ID{Sum, Prod}, types: []dtype.Basic{
			dtype.CFloatComplex, dtype.CXXFloatComplex, dtype.Complex, dtype.Complex8, dtype.CDoubleComplex,
			dtype.CXXDoubleComplex, dtype.DoubleComplex, dtype.Complex16, dtype.Complex4,
			dtype.Complex32,
		}, random: randomComplex, model: complexModel,
	},
	{
		name: "pairs", ops: []ID{MinLoc, MaxLoc}, types: []dtype.Basic{
			dtype.FloatInt, dtype.DoubleInt, dtype.LongInt, dtype.TwoInt, dtype.ShortInt, dtype.LongDoubleInt, dtype.TwoReal,
			dtype.TwoDoublePrecision, dtype.TwoInteger,
		},
	},
}

// integer reads and writes an element.
func (g *group) integer(b []byte) *big.Int {
	x := new(big.Int)
	for i := len(b) - 1; i >= 0; i-- {
		x.Or(x.Lsh(x, 8), big.NewInt(int64(b[i])))
	}
	if g.signed && b[len(b)-1]&0x80 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}

func wrapped(x *big.Int, size int) []byte {
	x = new(big.Int).And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*size)), big.NewInt(1)))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(new(big.Int).Rsh(x, uint(8*i)).Uint64())
	}
	return b
}

func integerModel(g *group, id ID, low, high []byte) []byte {
	a, b, x := g.integer(low), g.integer(high), new(big.Int)
	truth := func(ok bool) {
		if ok {
			x.SetInt64(1)
		}
	}
	switch id {
	case Sum:
		x.Add(a, b)
	case Prod:
		x.Mul(a, b)
	case Min, Max:
		if x = a; (a.Cmp(b) > 0) == (id == Min) {
			x = b
		}
	case Band:
		x.And(a, b)
	case Bor:
		x.Or(a, b)
	case Bxor:
		x.Xor(a, b)
	case Land:
		truth(a.Sign() != 0 && b.Sign() != 0)
	case Lor:
		truth(a.Sign() != 0 || b.Sign() != 0)
	case Lxor:
		truth((a.Sign() != 0) != (b.Sign() != 0))
	}
	return wrapped(x, len(low))
}

var someFloats = []float64{
	0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64,
	math.SmallestNonzeroFloat64, math.MaxFloat32, math.SmallestNonzeroFloat32, 0.1, 3,
}

func getFloat(b []byte) float64 {
	if len(b) == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

func putFloat(b []byte, x float64) []byte {
	if len(b) == 4 {
		binary.LittleEndian.PutUint32(b, math.Float32bits(float32(x)))
	} else {
		binary.LittleEndian.PutUint64(b, math.Float64bits(x))
	}
	return b
}

func floatNaN(_ *group, b []byte) bool { return math.IsNaN(getFloat(b)) }

func randomFloats(_ *group, rnd *rand.Rand, b []byte) {
	x := rnd.NormFloat64()
	if rnd.IntN(3) == 0 {
		x = someFloats[rnd.IntN(len(someFloats))]
	}
	putFloat(b, x)
}

// floatModel computes in 64 bits, which gives the bits of 32 bits after rounding, too.
func floatModel(_ *group, id ID, low, high []byte) []byte {
	a, b, out := getFloat(low), getFloat(high), make([]byte, len(low))
	switch id {
	case Sum:
		return putFloat(out, a+b)
	case Prod:
		return putFloat(out, a*b)
	case Min:
		return putFloat(out, min(a, b))
	}
	return putFloat(out, max(a, b))
}

// softOf is the form of elements of so many bytes.
func softOf(g *group, size int) *format {
	switch {
	case size == 2:
		return &formats[2]
	case strings.HasPrefix(g.name, "long double") && longOr80(quads, extendeds) == extendeds:
		return &formats[0]
	}
	return &formats[1]
}

func getSoft(b []byte) bits128 {
	if len(b) == 2 {
		return bits128{0, uint64(binary.LittleEndian.Uint16(b))}
	}
	return bits128{binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b)}
}

func putSoft(b []byte, x bits128) []byte {
	if len(b) == 2 {
		binary.LittleEndian.PutUint16(b, uint16(x.lo))
	} else {
		binary.LittleEndian.PutUint64(b, x.lo)
		binary.LittleEndian.PutUint64(b[8:], x.hi)
	}
	return b
}

func randomSoft(g *group, rnd *rand.Rand, b []byte) {
	f := softOf(g, len(b))
	x, _ := f.random(rnd)
	if rnd.IntN(4) == 0 {
		x = f.round(big.NewFloat(float64(rnd.IntN(3)-1) * math.Copysign(1, rnd.Float64()-0.5)))
	}
	putSoft(b, x)
}

func softNaN(g *group, b []byte) bool { return softOf(g, len(b)).isNaN(getSoft(b)) }

// softModel takes sums and products of one number, which other tests check, and finds the smaller one by itself.
func softModel(g *group, id ID, low, high []byte) []byte {
	f, a, b, out := softOf(g, len(low)), getSoft(low), getSoft(high), make([]byte, len(low))
	switch id {
	case Sum:
		return putSoft(out, f.plus(a, b))
	case Prod:
		return putSoft(out, f.times(a, b))
	}
	x, isX := f.exact(a)
	y, isY := f.exact(b)
	if !isX || !isY {
		if isX {
			a = b
		}
		return putSoft(out, a)
	}
	c := x.Cmp(y)
	if x.Sign() == 0 && y.Sign() == 0 {
		c = int(truth[int8](y.Signbit())) - int(truth[int8](x.Signbit()))
	}
	if (c > 0) == (id == Min) && c != 0 {
		a = b
	}
	return putSoft(out, a)
}

func randomComplex(g *group, rnd *rand.Rand, b []byte) {
	half := len(b) / 2
	for _, p := range [][]byte{b[:half], b[half:]} {
		if half == 4 || half == 8 {
			putFloat(p, rnd.NormFloat64())
			continue
		}
		putSoft(p, softOf(g, half).round(big.NewFloat(rnd.NormFloat64())))
	}
}

// complexModel multiplies parts, each operation rounded. Those of 16 and of 32 bits are rounded in the end, from twice
// as many.
func complexModel(g *group, id ID, low, high []byte) []byte {
	size := len(low) / 2
	out := make([]byte, len(low))
	a, b, c, d := low[:size], low[size:], high[:size], high[size:]
	switch {
	case size == 2:
		f := func(p []byte) float32 { return half(binary.LittleEndian.Uint16(p)).float() }
		re, im := f(a)+f(c), f(b)+f(d)
		if id == Prod {
			re, im = float32(f(a)*f(c))-float32(f(b)*f(d)), float32(f(a)*f(d))+float32(f(b)*f(c))
		}
		binary.LittleEndian.PutUint16(out, uint16(halfOf(re)))
		binary.LittleEndian.PutUint16(out[2:], uint16(halfOf(im)))
	case size == 4 || size == 8:
		re, im := getFloat(a)+getFloat(c), getFloat(b)+getFloat(d)
		if id == Prod {
			re = float64(getFloat(a)*getFloat(c)) - float64(getFloat(b)*getFloat(d))
			im = float64(getFloat(a)*getFloat(d)) + float64(getFloat(b)*getFloat(c))
		}
		putFloat(out[:size], re)
		putFloat(out[size:], im)
	default:
		f, v := softOf(g, size), getSoft
		re, im := f.plus(v(a), v(c)), f.plus(v(b), v(d))
		if id == Prod {
			re = f.plus(f.times(v(a), v(c)), f.round(f.negated(f.times(v(b), v(d)))))
			im = f.plus(f.times(v(a), v(d)), f.times(v(b), v(c)))
		}
		putSoft(out[:size], re)
		putSoft(out[size:], im)
	}
	return out
}

// pairOf is what is known of a pair: the groups of value and index, and how long they are; the index lies behind gap.
type pairOf struct {
	value, index     *group
	size, gap, width int64
}

func parted(b dtype.Basic) pairOf {
	integer, float, double := groupOf(dtype.Int), groupOf(dtype.Float), groupOf(dtype.Double)
	return map[dtype.Basic]pairOf{
		dtype.FloatInt:           {float, integer, 4, 0, 4},
		dtype.DoubleInt:          {double, integer, 8, 0, 4},
		dtype.LongInt:            {integer, integer, 8, 0, 4},
		dtype.TwoInt:             {integer, integer, 4, 0, 4},
		dtype.TwoInteger:         {integer, integer, 4, 0, 4},
		dtype.ShortInt:           {integer, integer, 2, 2, 4},
		dtype.LongDoubleInt:      {groupOf(dtype.LongDouble), integer, 16, 0, 4},
		dtype.TwoReal:            {float, float, 4, 0, 4},
		dtype.TwoDoublePrecision: {double, double, 8, 0, 8},
	}[b]
}

func groupOf(b dtype.Basic) *group {
	for i := range groups {
		if slices.Contains(groups[i].types, b) {
			return &groups[i]
		}
	}
	return nil
}

// negated is minus a finite number.
func (f *format) negated(b bits128) *big.Float {
	x, _ := f.exact(b)
	return x.Neg(x)
}

// compare orders two values: what is no number comes first.
func (g *group) compare(a, b []byte) int {
	if g.nan != nil && (g.nan(g, a) || g.nan(g, b)) {
		return int(truth[int8](!g.nan(g, a))) - int(truth[int8](!g.nan(g, b)))
	}
	switch {
	case g.nan == nil:
		return g.integer(a).Cmp(g.integer(b))
	case len(a) == 4 || len(a) == 8:
		return cmp.Compare(getFloat(a), getFloat(b))
	}
	f := softOf(g, len(a))
	x, _ := f.exact(getSoft(a))
	y, _ := f.exact(getSoft(b))
	return x.Cmp(y)
}

// few has a value that many elements share.
func few(g *group, rnd *rand.Rand, b []byte) {
	if clear(b); rnd.IntN(2) == 0 {
		g.random(g, rnd, b)
	}
}

// group makes a group of it.
func (p pairOf) group() *group {
	at := p.size + p.gap
	return &group{
		random: func(_ *group, rnd *rand.Rand, b []byte) {
			few(p.value, rnd, b[:p.size])
			few(p.index, rnd, b[at:][:p.width])
		},
		model: func(_ *group, id ID, low, high []byte) []byte {
			c := p.value.compare(low[:p.size], high[:p.size])
			if id == MaxLoc {
				c = -c
			}
			if c > 0 || c == 0 && p.index.compare(low[at:][:p.width], high[at:][:p.width]) > 0 {
				low = high
			}
			return slices.Clone(low)
		},
	}
}
