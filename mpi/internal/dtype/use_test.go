package dtype

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/golci/golci/internal/platform/invariants"
)

// source and target are what package comm asks of the data of a message.
type (
	source interface {
		Len() int
		Pack(dst []byte, off int)
	}
	target interface {
		Len() int
		Unpack(src []byte, off int)
	}
)

var (
	_ source = (*Cursor)(nil)
	_ target = (*Cursor)(nil)
)

// TestPrograms: what can be merged is.
func TestPrograms(t *testing.T) {
	for _, c := range []struct {
		recipe string
		kind   nodeKind
		pieces int64
	}{
		{"contig 5 contig 7 DOUBLE", runNode, 1},
		{"vector 10 2 2 INT", runNode, 1},
		{"indexed 3 2 0 1 2 4 3 INT", runNode, 1},
		{"struct 3 1 0 INT 1 4 FLOAT 2 8 DOUBLE", runNode, 1},
		{"struct 2 2 0 2INT 1 16 2INT", runNode, 1},
		{"vector 10 1 3 DOUBLE", stridedNode, 10},
		{"contig 4 resized 0 240 vector 10 1 3 DOUBLE", stridedNode, 40},
		{"iblock 4 1 0 2 4 6 DOUBLE", stridedNode, 4},
		{"iblock 4 2 0 2 4 7 INT", listNode, 2},
		{"iblock 4 1 0 2 5 7 DOUBLE", blocksNode, 4},
		{"hindexed 2 1 0 2 8 DOUBLE", runNode, 1},
		{"contig 3 struct 2 1 0 INT 1 8 DOUBLE", listNode, 4},
		{"contig 100 struct 2 1 0 INT 1 8 DOUBLE", loopNode, 200},
		{"vector 3 1 4 vector 8 1 2 INT", loopNode, 24},
		{"subarray 2 C 4 6 2 6 1 0 INT", runNode, 1},
		{"subarray 2 C 4 6 2 3 1 2 INT", stridedNode, 2},
		{"struct 2 1 0 vector 9 1 2 INT 1 100 INT", seqNode, 10},
		{"darray 2 1 1 C 16 c 1 2 INT", stridedNode, 8},
		{"vector 3 2 0 INT", stridedNode, 3},
	} {
		typ, _ := mustRead(t, c.recipe)
		if p := typ.prog(); p.kind != c.kind || p.pieces != c.pieces {
			t.Errorf("%s: the program is of kind %d with %d pieces, want %d with %d",
				c.recipe, p.kind, p.pieces, c.kind, c.pieces)
		}
	}
}

// TestSharedComponents: a type that is contained often, and often in what contains it, has no large program.
func TestSharedComponents(t *testing.T) {
	for _, recipe := range []string{
		"vector 40 1 2 INT",                                // is not taken apart
		"hindexed 6 1 0 2 9 1 27 3 33 1 70 2 90 INT",       // is
		"struct 2 1 0 vector 9 1 2 INT 1 100 contig 2 INT", // has two parts
	} {
		typ, _ := mustRead(t, recipe)
		pieces := typ.prog().pieces
		var err error
		for i := 0; i < 20 && err == nil; i++ {
			typ, err = Struct([]int64{1, 1}, []int64{0, typ.ub + 4}, []*Type{typ, typ})
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := nodes(typ.prog(), make(map[any]bool)); n > 1<<14 {
			t.Errorf("%s, 2^20 times, has %d nodes and places", recipe, n)
		}
		if want := pieces << 20; typ.prog().pieces != want {
			t.Errorf("%s, 2^20 times, has %d pieces, want %d", recipe, typ.prog().pieces, want)
		}
	}
}

// nodes counts the nodes that are in memory, and the places that they list.
func nodes(p *node, seen map[any]bool) int {
	if seen[p] {
		return 0
	}
	seen[p] = true
	n := 1
	if len(p.offs) > 0 && !seen[&p.offs[0]] {
		seen[&p.offs[0]] = true
		n += len(p.offs)
	}
	if p.body != nil {
		n += nodes(p.body, seen)
	}
	if len(p.kids) > 0 && !seen[&p.kids[0]] {
		for i := range p.kids {
			n += nodes(&p.kids[i], seen)
		}
	}
	return n
}

// TestNoAllocation: a cursor that is used again allocates nothing.
func TestNoAllocation(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	typ, _ := mustRead(t, "struct 2 1 0 vector 9 1 2 INT 1 100 contig 40 struct 2 1 0 INT 1 8 DOUBLE")
	typ.Commit()
	mem := make([]byte, 4096)
	buf := make([]byte, 600)
	var c, d Cursor
	typ.Over(&d, unsafe.Pointer(&mem[2048]), 1)
	n := testing.AllocsPerRun(10, func() {
		typ.Over(&c, unsafe.Pointer(&mem[0]), 2)
		c.Pack(buf, 5)
		c.Unpack(buf, 5)
		Copy(&d, &c, 0, 9, 100)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSpecialRecipes compares what random recipes seldom have.
func TestSpecialRecipes(t *testing.T) {
	many := func(name string, each func(i int) string) string {
		list := fmt.Sprintf("%s %d", name, fewPieces+3)
		for i := range fewPieces + 3 {
			list += each(i)
		}
		return list
	}
	for _, recipe := range []string{
		many("hindexed", func(i int) string { return fmt.Sprintf(" %d %d", i%3, 200*i) }) + " vector 3 1 2 INT",
		many("hindexed", func(i int) string { return fmt.Sprintf(" 2 %d", 100*i) }) + " vector 3 1 2 INT",
		many("hindexed", func(i int) string { return fmt.Sprintf(" 1 %d", -9*i) }) + " INT",
		"contig 9 struct 3 1 0 BYTE 1 4 INT 1 8 DOUBLE",
		"struct 2 1 0 contig 50 struct 2 1 0 INT 1 8 DOUBLE 1 1000 vector 7 1 2 INT",
	} {
		compare(t, recipe, rand.New(rand.NewPCG(1, 1)).IntN)
	}
}

// TestRunsBeyondTheList: runs are listed some at a time. What did not fit does not change those that did.
func TestRunsBeyondTheList(t *testing.T) {
	var offs []int64
	for i := range int64(33) {
		offs = append(offs, 20*i+i%2)
	}
	offs = append(offs, offs[31]+8) // beside the last one that fits
	typ, err := HindexedBlock(1, offs, Named(Double))
	if err != nil {
		t.Fatal(err)
	}
	mem := make([]byte, 800)
	var c Cursor
	typ.Over(&c, unsafe.Pointer(&mem[0]), 1)
	var got []int64
	var lengths int
	c.eachRun(0, 33*8+3, func(run []byte) bool {
		got = append(got, int64(uintptr(unsafe.Pointer(&run[0]))-uintptr(unsafe.Pointer(&mem[0]))))
		lengths += len(run)
		return true
	})
	if !slices.Equal(got, offs) || lengths != 33*8+3 {
		t.Errorf("the runs are at %d, with %d bytes, want %d", got, lengths, offs)
	}
}

// TestSharedUse: several goroutines may be the first to use a type.
func TestSharedUse(t *testing.T) {
	const users = 4
	for range 50 {
		v, err := Vector(16, 1, 2, Named(Int))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan int, users)
		for range users {
			go func() {
				var mem, buf [128]byte
				var c Cursor
				v.Over(&c, unsafe.Pointer(&mem), 1)
				c.Pack(buf[:c.Len()], 0)
				done <- c.Len()
			}()
		}
		for range users {
			if n := <-done; n != 64 {
				t.Errorf("%d bytes, want 64", n)
			}
		}
	}
}

// TestCommit: what is committed stays so, and a copy is what it is a copy of (5.1.9, 5.1.10).
func TestCommit(t *testing.T) {
	typ, err := Contiguous(3, Named(Int))
	if err != nil {
		t.Fatal(err)
	}
	before, err := Dup(typ)
	if err != nil {
		t.Fatal(err)
	}
	if typ.Committed() || before.Committed() || !Named(Int).Committed() {
		t.Error("a new type is committed, or a predefined one is not")
	}
	typ.Commit()
	typ.Commit()
	after, err := Dup(typ)
	if err != nil {
		t.Fatal(err)
	}
	if !typ.Committed() || !after.Committed() || before.Committed() {
		t.Error("a copy is not as its original was")
	}
}

// TestLargeContents: constructors with large counts have no addresses, and only what counts is large (5.1.13).
func TestLargeContents(t *testing.T) {
	for _, c := range []struct {
		recipe       string
		ints, counts []int64
	}{
		{"contig 3 INT", nil, []int64{3}},
		{"vector 3 1 2 INT", nil, []int64{3, 1, 2}},
		{"hvector 3 1 24 INT", nil, []int64{3, 1, 24}},
		{"hindexed 2 1 10 2 20 INT", nil, []int64{2, 1, 2, 10, 20}},
		{"hiblock 2 3 10 20 INT", nil, []int64{2, 3, 10, 20}},
		{"struct 2 1 10 INT 2 20 CHAR", nil, []int64{2, 1, 2, 10, 20}},
		{"resized 4 8 INT", nil, []int64{4, 8}},
		{"dup INT", nil, nil},
		{"subarray 2 C 4 6 2 3 1 2 INT", []int64{2, 12}, []int64{4, 6, 2, 3, 1, 2}},
		{"darray 2 1 1 F 7 c 2 2 INT", []int64{2, 1, 1, 18, 2, 2, 15}, []int64{7}},
	} {
		typ, _ := mustRead(t, c.recipe)
		typ = typ.Large()
		ints, addrs, counts, _, err := typ.Contents()
		if err != nil || !slices.Equal(ints, c.ints) || len(addrs) != 0 || !slices.Equal(counts, c.counts) {
			t.Errorf("%s: integers %d, addresses %d, counts %d, %v", c.recipe, ints, addrs, counts, err)
		}
		if _, ni, na, nc, _ := typ.Envelope(); ni != len(c.ints) || na != 0 || nc != len(c.counts) {
			t.Errorf("%s: the envelope tells of %d, %d, %d", c.recipe, ni, na, nc)
		}
	}
}

// TestSignatures: what matches has one Sig, and nothing else has (3.3.1).
func TestSignatures(t *testing.T) {
	sig := func(recipe string, count int64) Sig {
		typ, _ := mustRead(t, recipe)
		return typ.Sig(count)
	}
	ints := sig("INT", 6)
	for _, same := range []string{
		"contig 6 INT", "vector 3 2 7 INT", "hindexed 2 2 50 4 0 INT", "struct 2 3 80 INT 3 4 INT32_T",
		"subarray 1 C 9 6 2 INT", "contig 3 2INT", "resized -3 2 contig 6 INTEGER",
	} {
		if sig(same, 1) != ints {
			t.Errorf("%s has the signature %v, want %v", same, sig(same, 1), ints)
		}
	}
	other := []string{
		"contig 5 INT", "contig 7 INT", "contig 6 UNSIGNED", "contig 6 FLOAT", "contig 6 LONG", "contig 24 BYTE",
		"struct 2 5 0 INT 1 20 FLOAT", "struct 2 1 0 FLOAT 5 4 INT", "contig 0 INT", "contig 24 CHAR",
		"contig 24 SIGNED_CHAR", "contig 3 DOUBLE", "contig 3 C_FLOAT_COMPLEX", "contig 6 LOGICAL",
	}
	seen := map[Sig]string{ints: "6 INT"}
	for _, o := range other {
		s := sig(o, 1)
		if seen[s] != "" {
			t.Errorf("%s has the signature of %s", o, seen[s])
		}
		seen[s] = o
	}
	if s := sig("struct 2 1 0 INT 3 4 PACKED", 2); s.Hash != 0 || s.N != 8 {
		t.Errorf("a signature with packed data is %v", s)
	}
}

func TestFortranTypes(t *testing.T) {
	f90 := func(make func(p, r int64) (*Type, error), p, r int64) Basic {
		t.Helper()
		typ, err := make(p, r)
		if err != nil {
			t.Fatal(err)
		}
		if !typ.Predefined() || !typ.Committed() {
			t.Errorf("%d, %d: not predefined", p, r)
		}
		return typ.blocks[0].t.Basic()
	}
	integer := func(r, _ int64) (*Type, error) { return F90Integer(r) }
	for _, c := range []struct {
		make func(p, r int64) (*Type, error)
		p, r int64
		want Basic
	}{
		{F90Real, 3, 10, Real4},
		{F90Real, 6, undefined, Real4},
		{F90Real, 7, 30, Real8},
		{F90Real, undefined, 38, Real8},
		{F90Real, 15, 308, Real16},
		{F90Complex, 3, undefined, Complex8},
		{F90Complex, 7, 30, Complex16},
		{integer, 2, 0, Integer1},
		{integer, 3, 0, Integer2},
		{integer, 9, 0, Integer4},
		{integer, 18, 0, Integer8},
		{integer, 19, 0, Integer16},
	} {
		if got := f90(c.make, c.p, c.r); got != c.want {
			t.Errorf("precision %d, range %d: %v, want %v", c.p, c.r, got, c.want)
		}
	}
	typ, _ := F90Real(7, 30)
	if ints, _, _, types, err := typ.Contents(); err != nil || !slices.Equal(ints, []int64{7, 30}) || len(types) != 0 {
		t.Errorf("contents %d, %d types, %v", ints, len(types), err)
	}
	for class, size := range map[Class]int64{classInteger: 8, classReal: 16, classComplex: 32, classLogical: 1} {
		if typ, err := MatchSize(class, size); err != nil || typ.Size() != size || !typ.Predefined() {
			t.Errorf("class %d, %d bytes: %v", class, size, err)
		}
	}
}

func TestValueIndex(t *testing.T) {
	pair := func(value, index Basic) *Type {
		p, err := ValueIndex(Named(value), Named(index))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if got := pair(Double, Int); got != Named(DoubleInt) {
		t.Errorf("a double with an int is no DOUBLE_INT but of combiner %d", got.combiner)
	}
	p := pair(Int8, Int64)
	if lb, extent := p.Bounds(); p.Size() != 9 || lb != 0 || extent != 16 || !p.Predefined() {
		t.Errorf("size %d, bounds %d, %d", p.Size(), lb, extent)
	}
	var places []int64
	Walk(p, 1, func(_ Basic, at, _ int64) bool {
		places = append(places, at)
		return true
	})
	if !slices.Equal(places, []int64{0, 8}) {
		t.Errorf("value and index are at %d", places)
	}
	for _, parts := range [][2]Basic{{Double, Float}, {Complex, Int}, {Int, CDoubleComplex}, {Byte, Int}, {CBool, Int}} {
		if p, err := ValueIndex(Named(parts[0]), Named(parts[1])); p != nil || err != nil {
			t.Errorf("%v with the index %v: %v (%v), want none", parts[0], parts[1], p, err)
		}
	}
	by, ni, na, nc, nt := p.Envelope()
	_, _, _, types, err := p.Contents()
	if by != CombinerValueIndex || ni+na+nc != 0 || nt != 2 || err != nil || types[1] != Named(Int64) {
		t.Errorf("envelope %d %d %d %d %d, %v", by, ni, na, nc, nt, err)
	}
}
