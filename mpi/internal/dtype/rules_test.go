package dtype

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/errs"
)

// TestBounds has the rules of bounds that are easy to get wrong. Sections are those of MPI 5.0.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		rule, recipe                       string
		size, lb, extent, trueLB, trueSpan int64
	}{
		{"5.1.2 blocks of length 0 count for nothing", "struct 2 0 -100 INT 2 8 INT", 8, 8, 8, 8, 8},
		{"5.1.2 a count of 0", "vector 0 3 2 INT", 0, 0, 0, 0, 0},
		{"5.1.2 blocks of length 0 have no bounds", "vector 3 0 2 resized -4 20 INT", 0, 0, 0, 0, 0},
		{"5.1.2 an empty component has no alignment", "struct 2 1 0 CHAR 1 8 contig 0 DOUBLE", 1, 0, 1, 0, 1},
		{"5.1.6 bounds that are set hide those of data", "struct 2 1 0 resized 0 2 CHAR 1 8 DOUBLE", 9, 0, 2, 0, 16},
		{"5.1.6 in all types above", "struct 1 1 100 struct 2 1 0 resized -1 2 CHAR 1 8 INT", 5, 99, 2, 100, 12},
		{"5.1.6 structures end on their alignment", "struct 2 1 0 DOUBLE 1 8 CHAR", 9, 0, 16, 0, 9},
		{"5.1.6 not if bounds are set", "struct 2 1 0 DOUBLE 1 8 resized 0 1 CHAR", 9, 8, 1, 0, 9},
		{"5.1.6 the extent, not the upper bound, is rounded", "struct 2 1 -1 INT 1 3 CHAR", 5, -1, 8, -1, 5},
		{"5.1.7 a negative extent", "contig 3 resized 6 -9 contig 4 BYTE", 12, -12, 9, -18, 22},
		{"5.1.2 a negative stride", "vector 3 2 -4 INT", 24, -32, 40, -32, 40},
		{"5.1.2 negative stride and extent", "vector 2 3 -2 resized 4 -8 INT", 24, -12, 24, -16, 36},
		{"5.1.7 resized twice", "resized 1 3 resized -8 64 INT", 4, 1, 3, 0, 4},
		{"5.1.10 a copy has the bounds", "dup resized -8 64 INT", 4, -8, 64, 0, 4},
		{"5.1.3 an array's extent is that of the whole", "subarray 2 C 4 6 2 3 1 2 INT", 24, 0, 96, 32, 36},
		{"5.1.3 the first index runs fastest", "subarray 2 F 4 6 2 3 1 2 INT", 24, 0, 96, 36, 40},
		{"5.1.4 a rank without elements", "darray 4 3 1 C 3 b 1 4 INT", 0, 0, 12, 0, 0},
		{"5.1.4 the last block is shorter", "darray 2 1 1 C 7 c 2 2 INT", 12, 0, 28, 8, 20},
		{"4.2 displacements apart from one another", "hindexed 1 1 1 hindexed 1 1 3 BYTE", 1, 4, 1, 4, 1},
		{"6.9.4 pairs", "DOUBLE_INT", 12, 0, 16, 0, 12},
		{"6.9.4 pairs", "SHORT_INT", 6, 0, 8, 0, 8},
		{"6.9.4 pairs", "LONG_DOUBLE_INT", 20, 0, 32, 0, 20},
		{"6.9.4 pairs in a row", "contig 2 SHORT_INT", 12, 0, 16, 0, 16},
	} {
		typ, _ := mustRead(t, c.recipe)
		lb, extent := typ.Bounds()
		trueLB, trueSpan := typ.TrueBounds()
		got := [...]int64{typ.Size(), lb, extent, trueLB, trueSpan}
		if want := [...]int64{c.size, c.lb, c.extent, c.trueLB, c.trueSpan}; got != want {
			t.Errorf("%s: %s has %d, want %d", c.rule, c.recipe, got, want)
		}
	}
}

// TestCounts has the rules of MPI_Get_count and MPI_Get_elements (3.2.5, 5.1.11).
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		recipe   string
		bytes    int64
		count    int64
		ok       bool
		elements int64
		whole    bool
	}{
		{"struct 2 1 0 INT 256 4 CHAR", 20, 0, false, 17, true},
		{"struct 2 1 0 INT 256 4 CHAR", 21, 0, false, 18, true},
		{"struct 2 1 0 INT 256 4 CHAR", 3, 0, false, 0, false},
		{"DOUBLE_INT", 24, 2, true, 4, true},
		{"DOUBLE_INT", 20, 1, false, 3, true},
		{"INT", 0, 0, true, 0, true},
		{"hindexed 3 0 0 0 4 0 16 INT", 0, 0, true, 0, true},
		{"hindexed 3 0 0 0 4 0 16 INT", 4, 0, false, 0, false},
		{"hindexed 4 1 0 0 4 2 16 1 8 INT", 24, 1, false, 6, true},
		{"contig 1 struct 3 1 0 CHAR 1 2 SHORT 1 4 INT", 7, 1, true, 3, true},
		{"resized 0 8 contig 0 INT", 0, 0, true, 0, true},
	} {
		typ, _ := mustRead(t, c.recipe)
		if n, ok := typ.Count(c.bytes); ok != c.ok || ok && n != c.count {
			t.Errorf("%d bytes of %s are %d elements (%t), want %d (%t)", c.bytes, c.recipe, n, ok, c.count, c.ok)
		}
		if n, whole := typ.Elements(c.bytes); n != c.elements || whole != c.whole {
			t.Errorf("%d bytes of %s are %d basics (%t), want %d (%t)",
				c.bytes, c.recipe, n, whole, c.elements, c.whole)
		}
	}
}

// TestRefused: bad arguments are errors of the standard's classes.
func TestRefused(t *testing.T) {
	one, huge := []int64{1}, int64(math.MaxInt64)
	i := Named(Int)
	far, err := Contiguous(huge/8, i)
	if err != nil {
		t.Fatal(err)
	}
	still, err := Resized(0, 0, Named(Double))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		make func() (*Type, error)
		want errs.Class
	}{
		"count":            {func() (*Type, error) { return Contiguous(-1, i) }, errs.Count},
		"no type":          {func() (*Type, error) { return Contiguous(1, nil) }, errs.Type},
		"vector's count":   {func() (*Type, error) { return Vector(-1, 1, 1, i) }, errs.Count},
		"vector's length":  {func() (*Type, error) { return Vector(1, -1, 1, i) }, errs.Arg},
		"vector's type":    {func() (*Type, error) { return Vector(1, 1, 1, nil) }, errs.Type},
		"hvector's type":   {func() (*Type, error) { return Hvector(1, 1, 1, nil) }, errs.Type},
		"block's length":   {func() (*Type, error) { return Indexed([]int64{-1}, one, i) }, errs.Arg},
		"lists":            {func() (*Type, error) { return Hindexed(nil, one, i) }, errs.Arg},
		"indexed, no type": {func() (*Type, error) { return Indexed(nil, nil, nil) }, errs.Type},
		"one length":       {func() (*Type, error) { return IndexedBlock(-1, nil, i) }, errs.Count},
		"struct's lists":   {func() (*Type, error) { return Struct(one, nil, []*Type{i}) }, errs.Arg},
		"struct's type":    {func() (*Type, error) { return Struct(one, one, []*Type{nil}) }, errs.Type},
		"resized, no type": {func() (*Type, error) { return Resized(0, 1, nil) }, errs.Type},
		"dup, no type":     {func() (*Type, error) { return Dup(nil) }, errs.Type},
		"size":             {func() (*Type, error) { return Contiguous(3, far) }, errs.ValueTooLarge},
		"size of all":      {func() (*Type, error) { return Vector(huge, huge, 0, i) }, errs.ValueTooLarge},
		"stride":           {func() (*Type, error) { return Vector(2, 1, huge, i) }, errs.ValueTooLarge},
		"reach":            {func() (*Type, error) { return Hvector(3, 1, huge/2, i) }, errs.ValueTooLarge},
		"displacement":     {func() (*Type, error) { return Indexed(one, []int64{huge}, i) }, errs.ValueTooLarge},
		"end":              {func() (*Type, error) { return Hindexed(one, []int64{huge - 2}, i) }, errs.ValueTooLarge},
		"beginning":        {func() (*Type, error) { return Hindexed(one, []int64{-huge - 1}, i) }, errs.ValueTooLarge},
		"extent":           {func() (*Type, error) { return Resized(2, huge, i) }, errs.ValueTooLarge},
		"wrapped size":     {func() (*Type, error) { return Contiguous(1<<62, still) }, errs.ValueTooLarge},
		"lowest bound": {func() (*Type, error) {
			return Struct([]int64{1, 1}, []int64{-huge - 1, 0}, []*Type{i, i})
		}, errs.ValueTooLarge},
		"subarray's end": {func() (*Type, error) {
			return Subarray([]int64{4}, []int64{2}, []int64{3}, OrderC, i)
		}, errs.Arg},
		"span": {func() (*Type, error) {
			return Hindexed([]int64{1, 1}, []int64{-huge / 2, huge/2 + 9}, i)
		}, errs.ValueTooLarge},
		"subarray, no dimension": {func() (*Type, error) { return Subarray(nil, nil, nil, OrderC, i) }, errs.Arg},
		"subarray's lists":       {func() (*Type, error) { return Subarray(one, nil, one, OrderC, i) }, errs.Arg},
		"subarray's order":       {func() (*Type, error) { return Subarray(one, one, []int64{0}, 1, i) }, errs.Arg},
		"subarray's start":       {func() (*Type, error) { return Subarray(one, one, one, OrderC, i) }, errs.Arg},
		"subarray's type":        {func() (*Type, error) { return Subarray(one, one, one, OrderC, nil) }, errs.Type},
		"subarray's size": {func() (*Type, error) {
			return Subarray([]int64{huge, 8}, []int64{1, 1}, []int64{0, 0}, OrderC, i)
		}, errs.ValueTooLarge},
		"grid": {func() (*Type, error) {
			return Darray(2, 0, one, []Distribution{DistributeBlock}, []int64{1}, one, OrderC, i)
		}, errs.Arg},
		"grid's rank": {func() (*Type, error) {
			return Darray(1, 1, one, []Distribution{DistributeBlock}, []int64{1}, one, OrderC, i)
		}, errs.Arg},
		"grid's lists": {func() (*Type, error) { return Darray(1, 0, one, nil, one, one, OrderC, i) }, errs.Arg},
		"small blocks": {func() (*Type, error) {
			return Darray(2, 0, []int64{9}, []Distribution{DistributeBlock}, []int64{4}, []int64{2}, OrderC, i)
		}, errs.Arg},
		"not dealt, two ranks": {func() (*Type, error) {
			return Darray(2, 0, []int64{9}, []Distribution{DistributeNone}, []int64{4}, []int64{2}, OrderC, i)
		}, errs.Arg},
		"distribution": {func() (*Type, error) {
			return Darray(1, 0, one, []Distribution{1}, one, one, OrderC, i)
		}, errs.Arg},
		"match":        {func() (*Type, error) { return MatchSize(classReal, 3) }, errs.Arg},
		"precision":    {func() (*Type, error) { return F90Real(40, undefined) }, errs.Arg},
		"nothing said": {func() (*Type, error) { return F90Complex(undefined, undefined) }, errs.Arg},
		"range":        {func() (*Type, error) { return F90Integer(39) }, errs.Arg},
		"pair":         {func() (*Type, error) { return ValueIndex(far, i) }, errs.Type},
	} {
		if typ, err := c.make(); errs.Of(err) != c.want || typ != nil {
			t.Errorf("%s: got %v, %v, want class %v", name, typ, err, c.want)
		}
	}
}

// TestEdgeOfNumbers: types that just fit into 64 bits.
func TestEdgeOfNumbers(t *testing.T) {
	typ, err := Contiguous(math.MaxInt64/16, Named(Double))
	if err != nil {
		t.Fatal(err)
	}
	if n, ok := typ.Bytes(2); n != math.MaxInt64/16*16 || !ok {
		t.Errorf("two have %d bytes (%t)", n, ok)
	}
	var c Cursor
	for _, count := range []int64{3, -1} {
		if typ.Over(&c, nil, count); c.Len() != -1 {
			t.Errorf("%d elements have the length %d", count, c.Len())
		}
	}
	if v, err := Vector(1, 2, math.MaxInt64, Named(Int)); err != nil || v.Size() != 8 {
		t.Errorf("the stride of a single block matters: %v", err)
	}
	if Named(0) != nil || Named(Complex32+1) != nil || Named(0x204) != nil {
		t.Error("a number that is no type has one")
	}
}

// TestHugeCounts: programs do not depend on how many elements there are. All lie at one place, since nobody has so much
// memory.
func TestHugeCounts(t *testing.T) {
	const count = 1 << 40
	data := [2]uint64{0x0123456789abcdef, 0xfedcba9876543210}
	pair, err := Resized(0, 0, mustContig(t, "contig 2 UINT64_T"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Contiguous(count, pair)
	if err != nil {
		t.Fatal(err)
	}
	var c Cursor
	all.Over(&c, unsafe.Pointer(&data), 1<<18)
	if want := 1 << 62; c.Len() != want {
		t.Fatalf("the length is %d, want %d", c.Len(), want)
	}
	want := unsafe.Slice((*byte)(unsafe.Pointer(&data)), 16)
	for _, off := range []int{0, 3, 1<<44 - 5, 1 << 44, 1<<62 - 16} {
		var got [16]byte
		c.Pack(got[:], off)
		for i := range got {
			if got[i] != want[(off+i)%16] {
				t.Errorf("byte %d of 16 from %d on is %#x, want %#x", i, off, got[i], want[(off+i)%16])
			}
		}
	}
	long := mustContig(t, "contig 1099511627776 DOUBLE")
	if p := long.prog(); p.kind != runNode || p.len != 8*count || !long.Dense() {
		t.Errorf("%d doubles are no single run: %+v", count, p)
	}
	if long.Sig(1) != Named(Double).Sig(count) {
		t.Error("signatures of equal lists differ")
	}
	if n, ok := long.BytesOf(count + 3); n != 8*count+24 || !ok {
		t.Errorf("three doubles more than all have %d bytes (%t)", n, ok)
	}
	for _, n := range []int64{-1, 1 << 61} {
		if got, ok := long.BytesOf(n); ok {
			t.Errorf("%d doubles have %d bytes", n, got)
		}
	}
	if n, whole := long.Elements(8*count - 1); n != count-1 || whole {
		t.Errorf("all bytes but one are %d basics (%t)", n, whole)
	}
}

// mustContig is of a recipe whose map is too long to be written out.
func mustContig(t *testing.T, recipe string) *Type {
	t.Helper()
	var n int64
	var of string
	if _, err := fmt.Sscanf(recipe, "contig %d %s", &n, &of); err != nil {
		t.Fatal(err)
	}
	typ, err := Contiguous(n, Named(basicNames[of]))
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

// TestBeyondTheEnd: packing more than there is stops before memory is touched.
func TestBeyondTheEnd(t *testing.T) {
	var data [2]int32
	var c Cursor
	Named(Int).Over(&c, unsafe.Pointer(&data), 2)
	for name, f := range map[string]func(){
		"pack":   func() { c.Pack(make([]byte, 4), 5) },
		"unpack": func() { c.Unpack(make([]byte, 9), 0) },
		"runs":   func() { c.eachRun(-1, 2, func([]byte) bool { return true }) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s goes on", name)
				}
			}()
			f()
		}()
	}
}
