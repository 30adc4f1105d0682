package op

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
)

// allIDs are all operations of reductions, and numbers that are none.
var allIDs = []ID{Sum, Min, Max, Prod, Band, Bor, Bxor, Land, Lor, Lxor, MinLoc, MaxLoc, 0x20, 0x2b, 0x3e, 0xffff}

// TestAllowed: each datatype has the operations that the standard allows for it, and no other.
func TestAllowed(t *testing.T) {
	seen := 0
	for _, b := range dtype.Basics() {
		var want []ID
		if g := groupOf(b); g != nil {
			want = g.ops
			seen++
		}
		for _, id := range allIDs {
			f, ok := Lookup(id, b)
			if ok != slices.Contains(want, id) || (f != nil) != ok {
				t.Errorf("%v on %v: %v", id, b, ok)
			}
			if o := Predefined(id); o != nil {
				_, err := o.For(dtype.Named(b))
				if (err == nil) != ok || err != nil && errs.Of(err) != errs.Op {
					t.Errorf("%v on %v: %v", id, b, err)
				}
			}
		}
		for _, id := range []ID{Replace, NoOp} {
			if _, ok := Lookup(id, b); ok != (b != dtype.Packed) {
				t.Errorf("%v on %v: %v", id, b, ok)
			}
			if _, err := Predefined(id).For(dtype.Named(b)); !errors.Is(err, errs.Op) {
				t.Errorf("a reduction by %v: %v", id, err)
			}
		}
	}
	if none := len(dtype.Basics()) - seen; none != 4 { // characters and packed bytes
		t.Errorf("%d datatypes have no operation", none)
	}
	for _, b := range []dtype.Basic{0, 0x200, 0x2ec, 0xffff} {
		if _, ok := Lookup(Sum, b); ok {
			t.Errorf("there is a sum of %v", b)
		}
	}
}

// operands are memory of three arrays with what lies before and behind them.
type operands struct {
	out, low, high []byte
	room           int
}

const guard = 32

// newOperands makes arrays of n elements. Elements are extent bytes apart.
func newOperands(g *group, rnd *rand.Rand, extent, n int) *operands {
	o := &operands{room: extent * n}
	for _, p := range []*[]byte{&o.out, &o.low, &o.high} {
		*p = bytes.Repeat([]byte{0xab}, o.room+2*guard)
		for i := range n {
			g.random(g, rnd, (*p)[guard+i*extent:][:extent])
		}
	}
	return o
}

func at(b []byte) unsafe.Pointer { return unsafe.Pointer(&b[guard]) }

// try runs a function with out in one of three places, and compares with the model. data tells which bytes of an
// element count.
func (o *operands) try(g *group, id ID, f Func, where, extent, n int, data []part) error {
	low, high := bytes.Clone(o.low), bytes.Clone(o.high)
	out := [][]byte{o.out, o.low, o.high}[where]
	before := bytes.Clone(out)
	f(at(out), at(o.low), at(o.high), int64(n))
	for i := range n {
		place := guard + i*extent
		a, b := low[place:][:extent], high[place:][:extent]
		want, got := before[place:][:extent], out[place:][:extent]
		result := g.model(g, id, a, b)
		for _, p := range data {
			copy(want[p.at:][:p.size], result[p.at:][:p.size])
		}
		if !bytes.Equal(got, want) && (g.nan == nil || !g.nan(g, got) || !g.nan(g, result)) {
			return fmt.Errorf("out is operand %d: element %d of %d: %x op %x is %x, want %x",
				where, i, n, a, b, got, want)
		}
		copy(want, got)
	}
	if !bytes.Equal(out, before) {
		return fmt.Errorf("out is operand %d: bytes around %d elements have changed", where, n)
	}
	if where != 1 && !bytes.Equal(o.low, low) || where == 0 && !bytes.Equal(o.high, high) {
		return fmt.Errorf("out is operand %d: an operand has changed", where)
	}
	return nil
}

// TestValues compares each operation on each datatype with another way to compute it: for numbers of elements from 0
// on, with the result in a place of its own or in that of an operand.
func TestValues(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, b := range dtype.Basics() {
		g := groupOf(b)
		if g == nil {
			continue
		}
		ops := g.ops
		if g.random == nil {
			g = parted(b).group()
		}
		typ := dtype.Named(b)
		data, _ := parts(typ)
		_, extent := typ.Bounds()
		rnd := rand.New(rand.NewPCG(seed, uint64(b)))
		for _, id := range ops {
			f, _ := Lookup(id, b)
			if f == nil {
				t.Fatalf("no %v on %v", id, b)
			}
			for _, n := range []int{0, 1, 2, 3, 7, 16, 40, 41} {
				for where := range 3 {
					o := newOperands(g, rnd, int(extent), n)
					if err := o.try(g, id, f, where, int(extent), n, data); err != nil {
						t.Fatalf("seed %d: %v on %v: %v", seed, id, b, err)
					}
				}
			}
		}
	}
}

// TestMovers: REPLACE gives what comes, NO_OP what is there, and both leave what is between data.
func TestMovers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, b := range dtype.Basics() {
		if b == dtype.Packed {
			continue
		}
		typ := dtype.Named(b)
		data, _ := parts(typ)
		_, extent := typ.Bounds()
		for id, pick := range map[ID]func(low, high []byte) []byte{
			Replace: func(_, high []byte) []byte { return high }, NoOp: func(low, _ []byte) []byte { return low },
		} {
			g := &group{random: anyBits, model: func(_ *group, _ ID, low, high []byte) []byte { return pick(low, high) }}
			f, _ := Lookup(id, b)
			for where := range 3 {
				if err := newOperands(g, rnd, int(extent), 5).try(g, id, f, where, int(extent), 5, data); err != nil {
					t.Errorf("%v on %v: %v", id, b, err)
				}
			}
		}
	}
}

// TestLocated: elements of Go programs, with an index of the size of a word.
func TestLocated(t *testing.T) {
	low := []Loc[int8]{{1, 5}, {2, 1}, {3, 7}, {4, 4}}
	high := []Loc[int8]{{1, 4}, {3, 0}, {2, 9}, {4, 6}}
	for id, want := range map[ID][]Loc[int8]{
		MinLoc: {{1, 4}, {2, 1}, {2, 9}, {4, 4}}, MaxLoc: {{1, 4}, {3, 0}, {3, 7}, {4, 4}},
	} {
		out := make([]Loc[int8], 4)
		hasLocation[int8](id)(unsafe.Pointer(&out[0]), unsafe.Pointer(&low[0]), unsafe.Pointer(&high[0]), 4)
		if !slices.Equal(out, want) {
			t.Errorf("%v: %v, want %v", id, out, want)
		}
	}
	if hasLocation[int8](Sum) != nil {
		t.Error("there is a sum of them")
	}
}

// TestTypesWithoutName: kinds of Fortran are as their basic, values with an index as pairs. Other derived datatypes
// have no predefined operation (6.9.2).
func TestTypesWithoutName(t *testing.T) {
	must := func(typ *dtype.Type, err error) *dtype.Type {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return typ
	}
	double, integer := dtype.Named(dtype.Double), dtype.Named(dtype.Int)
	pair := func(value, index dtype.Basic) *dtype.Type {
		return must(dtype.ValueIndex(dtype.Named(value), dtype.Named(index)))
	}
	for _, c := range []struct {
		name string
		t    *dtype.Type
		ops  []ID
	}{
		{"real of 15 digits", must(dtype.F90Real(15, 300)), arithmetic},
		{"integer of 9 digits", must(dtype.F90Integer(9)), join(arithmetic, bitwise)},
		{"complex", must(dtype.F90Complex(6, 30)), []ID{Sum, Prod}},
		{"double with a long", pair(dtype.Double, dtype.Long), []ID{MinLoc, MaxLoc}},
		{"double with an int", pair(dtype.Double, dtype.Int), []ID{MinLoc, MaxLoc}},
		{"complex with an int", pair(dtype.CDoubleComplex, dtype.Int), nil},
		{"char with an int", pair(dtype.Char, dtype.Int), nil},
		{"int with a byte", pair(dtype.Int, dtype.Byte), nil},
		{"int with a bool", pair(dtype.Int, dtype.CBool), nil},
		{"three doubles", must(dtype.Contiguous(3, double)), nil},
		{"one double", must(dtype.Contiguous(1, double)), nil},
		{"two basics", must(dtype.Struct([]int64{1, 1}, []int64{0, 8}, []*dtype.Type{double, integer})), nil},
	} {
		for _, id := range allIDs {
			if o := Predefined(id); o != nil {
				_, err := o.For(c.t)
				class := errs.Op
				if c.t == nil { // there is no such pair
					class = errs.Type
				}
				if want := slices.Contains(c.ops, id); (err == nil) != want || err != nil && !errors.Is(err, class) {
					t.Errorf("%v on %s: %v", id, c.name, err)
				}
			}
		}
	}
	typ := pair(dtype.Double, dtype.Uint8) // 8 bytes, one, and seven that are none
	c, err := Predefined(MaxLoc).For(typ)
	if err != nil {
		t.Fatal(err)
	}
	p := pairOf{groupOf(dtype.Double), groupOf(dtype.Uint8), 8, 0, 1}
	f := func(out, low, high unsafe.Pointer, n int64) {
		if err := c.Combine(out, low, high, n); err != nil {
			t.Error(err)
		}
	}
	data, _ := parts(typ)
	for where := range 3 {
		o := newOperands(p.group(), rand.New(rand.NewPCG(3, uint64(where))), 16, 20)
		if err := o.try(p.group(), MaxLoc, f, where, 16, 20, data); err != nil {
			t.Error(err)
		}
	}
}

// TestNames: operations have names, and what is none is an error.
func TestNames(t *testing.T) {
	if got, want := fmt.Sprint(Sum, MinLoc, NoOp, ID(7)), "MPI_SUM MPI_MINLOC MPI_NO_OP operation 0x7"; got != want {
		t.Errorf("names are %q, want %q", got, want)
	}
	if _, err := (*Op)(nil).For(dtype.Named(dtype.Int)); !errors.Is(err, errs.Op) {
		t.Errorf("no operation: %v", err)
	}
	if _, err := Predefined(Sum).For(nil); !errors.Is(err, errs.Type) {
		t.Errorf("no datatype: %v", err)
	}
	if Predefined(0x20) != nil || Predefined(Sum).ID() != Sum || Predefined(Sum).String() != "MPI_SUM" {
		t.Error("MPI_OP_NULL is an operation, or a sum is none")
	}
	for _, id := range allIDs {
		if o := Predefined(id); o != nil && !o.Commutes() {
			t.Errorf("%v does not commute", id)
		}
	}
	if Predefined(Replace).Commutes() || Predefined(NoOp).Commutes() {
		t.Error("operations of accumulations commute")
	}
	if err := (Combiner{}).Combine(nil, nil, nil, 3); err != nil {
		t.Error(err)
	}
}

// TestDocumented: what docs/design/mpi-collectives.md says of overflow, NaN, zeros, truth and ties.
func TestDocumented(t *testing.T) {
	nan, negative := math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		id              ID
		b               dtype.Basic
		low, high, want any
	}{
		{Sum, dtype.Int8, int8(127), int8(1), int8(-128)},
		{Prod, dtype.Int, int32(1 << 30), int32(4), int32(0)},
		{Sum, dtype.Uint16, uint16(65535), uint16(2), uint16(1)},
		{Sum, dtype.Double, math.MaxFloat64, math.MaxFloat64, math.Inf(1)},
		{Max, dtype.Double, nan, 1.0, nan},
		{Min, dtype.Double, math.Inf(-1), nan, nan},
		{Min, dtype.Double, 0.0, negative, negative},
		{Max, dtype.Double, negative, 0.0, 0.0},
		{Max, dtype.Real2, uint16(0x8000), uint16(0), uint16(0)},
		{Min, dtype.Real2, uint16(0x7e00), uint16(0xfc00), uint16(0x7e00)},
		{Sum, dtype.Real2, uint16(0x7bff), uint16(0x7bff), uint16(0x7c00)},
		{Land, dtype.Int, int32(-5), int32(8), int32(1)},
		{Lxor, dtype.CBool, uint8(2), uint8(1), uint8(0)},
		{Lor, dtype.Logical, int32(0), int32(-1), int32(1)},
		{MinLoc, dtype.TwoInt, [2]int32{3, 9}, [2]int32{3, 4}, [2]int32{3, 4}},
		{MaxLoc, dtype.TwoInt, [2]int32{3, 4}, [2]int32{3, 9}, [2]int32{3, 4}},
		{MinLoc, dtype.TwoDoublePrecision, [2]float64{nan, 1}, [2]float64{-1, 2}, [2]float64{nan, 1}},
		{MaxLoc, dtype.TwoDoublePrecision, [2]float64{nan, 1}, [2]float64{-1, 2}, [2]float64{-1, 2}},
		{MinLoc, dtype.TwoDoublePrecision, [2]float64{0, 2}, [2]float64{negative, 3}, [2]float64{0, 2}},
	} {
		low, high, want := memory(c.low), memory(c.high), memory(c.want)
		f, ok := Lookup(c.id, c.b)
		if !ok {
			t.Fatalf("no %v on %v", c.id, c.b)
		}
		f(unsafe.Pointer(&low[0]), unsafe.Pointer(&low[0]), unsafe.Pointer(&high[0]), 1)
		if x, ok := c.want.(float64); ok && math.IsNaN(x) && math.IsNaN(getFloat(low)) {
			continue // of any bits
		}
		if !bytes.Equal(low, want) {
			t.Errorf("%v op %v by %v on %v is %x, want %x", c.low, c.high, c.id, c.b, low, want)
		}
	}
}

// memory is the bytes of a value.
func memory(x any) []byte {
	b, err := binary.Append(make([]byte, 0, 64), binary.LittleEndian, x)
	if err != nil {
		panic(err)
	}
	return b
}

// TestNumbers: operations have the numbers of the header that C programs are compiled with.
func TestNumbers(t *testing.T) {
	header, err := os.ReadFile(filepath.FromSlash("../../../internal/abi/mpi.h"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`#define (MPI_\w+) +\(\(MPI_Op\)(0x[0-9a-f]+)\)`).FindAllStringSubmatch(string(header), -1)
	for _, m := range found {
		number, err := strconv.ParseUint(m[2], 0, 16)
		if err != nil {
			t.Fatal(err)
		}
		switch o := Predefined(ID(number)); {
		case m[1] == "MPI_OP_NULL":
			if o != nil {
				t.Errorf("%s is %v", m[1], o)
			}
		case o == nil || o.String() != m[1]:
			t.Errorf("%s has the number %#x, which is %v", m[1], number, o)
		}
	}
	if len(found) != len(names)+1 {
		t.Errorf("the header has %d operations", len(found))
	}
}
