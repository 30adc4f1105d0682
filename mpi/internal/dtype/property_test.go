package dtype

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"
)

// mostBasics bounds the naive maps of random types.
const mostBasics = 3000

// TestAgainstNaiveMap compares random types with type maps that are written out.
func TestAgainstNaiveMap(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rounds := 4000
	if testing.Short() {
		rounds = 400
	}
	r := rand.New(rand.NewPCG(seed, 0))
	c := &cook{pick: r.IntN}
	for range rounds {
		compare(t, c.recipe(r.IntN(5)), r.IntN)
		if t.Failed() {
			return
		}
	}
}

// FuzzType lets the fuzzer make the choices.
func FuzzType(f *testing.F) {
	f.Add([]byte{1, 2, 3})
	f.Add([]byte("a vector of structures of subarrays"))
	f.Fuzz(func(t *testing.T, data []byte) {
		pick := func(n int) int {
			if len(data) == 0 || n < 2 {
				return 0
			}
			v := int(data[0])
			data = data[1:]
			return v % n
		}
		c := &cook{pick: pick}
		compare(t, c.recipe(4), pick)
	})
}

// compare checks all that is known of a recipe's type against its naive map.
func compare(t *testing.T, recipe string, pick func(int) int) {
	t.Helper()
	typ, m, err := read(recipe)
	if err != nil {
		t.Fatalf("%s: %v", recipe, err)
	}
	if m.huge || len(m.entries) > mostBasics {
		return
	}
	compareBounds(t, recipe, typ, m)
	compareCounts(t, recipe, typ, m, pick)
	compareBytes(t, recipe, typ, m, pick)
	rebuilt := rebuild(t, typ)
	compareBounds(t, "contents of "+recipe, rebuilt, m)
	compareBytes(t, "contents of "+recipe, rebuilt, m, pick)
}

func compareBounds(t *testing.T, recipe string, typ *Type, m *naive) {
	t.Helper()
	lb, extent := typ.Bounds()
	wantLB, _ := m.bounds()
	trueLB, trueExtent := typ.TrueBounds()
	wantTrueLB, wantTrueUB := m.trueBounds()
	got := [...]int64{typ.Size(), lb, extent, trueLB, trueExtent, typ.Basics(), typ.Align()}
	want := [...]int64{
		m.size(), wantLB, m.extent(), wantTrueLB, wantTrueUB - wantTrueLB, int64(len(m.entries)), max(m.align, 1),
	}
	if got != want {
		t.Errorf("%s: size, lb, extent, true lb, true extent, basics, align are %d, want %d", recipe, got, want)
	}
	if typ.Dense() != m.dense() {
		t.Errorf("%s: dense is %t", recipe, typ.Dense())
	}
}

// dense tells that the entries follow one another, and the next element them.
func (m *naive) dense() bool {
	at := int64(0)
	for _, e := range m.entries {
		if e.at != at {
			return false
		}
		at += e.b.fact().size
	}
	return at == m.extent()
}

// compareCounts looks at what needs the basics: their list, signatures, and how many so many bytes are.
func compareCounts(t *testing.T, recipe string, typ *Type, m *naive, pick func(int) int) {
	t.Helper()
	var list []entry
	Walk(typ, 1, func(b Basic, at, n int64) bool {
		for i := range n {
			list = append(list, entry{b, at + i*b.fact().size})
		}
		return true
	})
	if !slices.Equal(list, m.entries) {
		t.Errorf("%s: the entries are %v, want %v", recipe, list, m.entries)
	}
	size, n := m.size(), int64(len(m.entries))
	for range 8 {
		bytes := int64(pick(int(3*size + 2)))
		got, whole := typ.Elements(bytes)
		want, wantWhole := m.elements(bytes)
		if size == 0 {
			want, wantWhole = 0, bytes == 0
		}
		if got != want || whole != wantWhole {
			t.Errorf("%s: %d bytes are %d basics (whole: %t), want %d (%t)", recipe, bytes, got, whole, want, wantWhole)
		}
		if back, ok := typ.BytesOf(got); whole && (back != bytes || !ok) {
			t.Errorf("%s: %d basics are %d bytes (%t), want %d", recipe, got, back, ok, bytes)
		}
		if count, ok := typ.Count(bytes); ok && count*size != bytes || !ok && size > 0 && bytes%size == 0 {
			t.Errorf("%s: %d bytes are %d elements (%t), each has %d", recipe, bytes, count, ok, size)
		}
	}
	if got, want := typ.Sig(3), m.sig(3*n); got != want {
		t.Errorf("%s: the signature of 3 elements is %v, want %v", recipe, got, want)
	}
	prefix := int64(pick(int(3*n + 2)))
	if got, want := typ.sigPrefix(3, prefix), m.sig(min(prefix, 3*n)); got != want {
		t.Errorf("%s: the signature of the first %d basics is %v, want %v", recipe, prefix, got, want)
	}
}

func (m *naive) elements(bytes int64) (n int64, whole bool) {
	for bytes > 0 && len(m.entries) > 0 {
		s := m.entries[n%int64(len(m.entries))].b.fact().size
		if bytes < s {
			return n, false
		}
		n, bytes = n+1, bytes-s
	}
	return n, true
}

// sig is the signature of a structure of the first n basics, over and over.
func (m *naive) sig(n int64) Sig {
	types, ones := make([]*Type, n), make([]int64, n)
	for i := range types {
		types[i], ones[i] = Named(m.entries[i%len(m.entries)].b), 1
	}
	s, err := Struct(ones, make([]int64, n), types)
	if err != nil {
		panic(err)
	}
	return s.Sig(1)
}

// memory is bytes around a base.
type memory struct {
	bytes []byte
	zero  int64 // where the base is
}

// newMemory has room for count elements, and no more.
func newMemory(m *naive, count int64) *memory {
	lb, ub := m.trueBounds()
	last := (count - 1) * m.extent()
	low, high := min(lb, lb+last, 0), max(ub, ub+last, 0)
	mem := &memory{make([]byte, high-low+1), -low}
	for i := range mem.bytes {
		mem.bytes[i] = byte(uint64(i) * 2654435761 >> 13)
	}
	return mem
}

func (m *memory) base() unsafe.Pointer { return unsafe.Pointer(&m.bytes[m.zero]) }

// packed is count elements, packed by the map; seen has how often each byte was met.
func (m *naive) packed(mem *memory, count int64) (out []byte, seen []byte) {
	seen = make([]byte, len(mem.bytes))
	for i := range count {
		for _, e := range m.entries {
			at := mem.zero + i*m.extent() + e.at
			size := e.b.fact().size
			out = append(out, mem.bytes[at:at+size]...)
			for k := range size {
				seen[at+k] = min(seen[at+k]+1, 2)
			}
		}
	}
	return out, seen
}

// compareBytes packs and unpacks, in one piece and in many.
func compareBytes(t *testing.T, recipe string, typ *Type, m *naive, pick func(int) int) {
	t.Helper()
	count := int64(pick(4))
	mem := newMemory(m, max(count, 1))
	want, seen := m.packed(mem, count)
	var c Cursor
	typ.Over(&c, mem.base(), count)
	if c.Len() != len(want) {
		t.Fatalf("%s: %d elements are %d bytes, want %d", recipe, count, c.Len(), len(want))
	}
	got := make([]byte, len(want))
	c.Pack(got, 0)
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: %d elements packed differ", recipe, count)
	}
	clear(got)
	cuts := pieces(len(want), pick)
	for _, p := range cuts {
		c.Pack(got[p[0]:p[1]], p[0])
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: %d elements packed in the pieces %v differ", recipe, count, cuts)
	}
	compareRuns(t, recipe, &c, want, pick)
	compareCopy(t, recipe, &c, want, pick)
	if !slices.Contains(seen, 2) {
		compareUnpacked(t, recipe, typ, mem, want, seen, count, cuts)
	}
}

// pieces cuts n bytes, in any order.
func pieces(n int, pick func(int) int) (cuts [][2]int) {
	for from := 0; from < n; {
		to := min(n, from+1+pick(1+pick(n)))
		cuts = append(cuts, [2]int{from, to})
		from = to
	}
	for i := range cuts {
		k := pick(i + 1)
		cuts[i], cuts[k] = cuts[k], cuts[i]
	}
	return cuts
}

// compareUnpacked unpacks other bytes piece by piece: those of the type change, and no others.
func compareUnpacked(t *testing.T, recipe string, typ *Type, mem *memory, packed, seen []byte, count int64,
	cuts [][2]int,
) {
	t.Helper()
	other := &memory{slices.Clone(mem.bytes), mem.zero}
	var c Cursor
	typ.Over(&c, other.base(), count)
	for i := range packed {
		packed[i] = ^packed[i]
	}
	for _, p := range cuts {
		c.Unpack(packed[p[0]:p[1]], p[0])
	}
	for i, s := range seen {
		if want := mem.bytes[i] ^ -s; other.bytes[i] != want {
			t.Fatalf("%s: byte %d is %#x after unpacking, want %#x", recipe, int64(i)-mem.zero, other.bytes[i], want)
		}
	}
}

// compareRuns: the runs of a part have its bytes, and adjacent ones are one.
func compareRuns(t *testing.T, recipe string, c *Cursor, want []byte, pick func(int) int) {
	t.Helper()
	from := pick(len(want) + 1)
	to := from + pick(len(want)-from+1)
	var got []byte
	var end unsafe.Pointer
	c.eachRun(int64(from), int64(to-from), func(mem []byte) bool {
		if unsafe.Pointer(&mem[0]) == end {
			t.Errorf("%s: two runs are one", recipe)
		}
		end = unsafe.Add(unsafe.Pointer(&mem[0]), len(mem))
		got = append(got, mem...)
		return true
	})
	if !bytes.Equal(got, want[from:to]) {
		t.Fatalf("%s: the runs of bytes %d to %d have other bytes", recipe, from, to)
	}
	calls := 0
	c.eachRun(0, int64(len(want)), func([]byte) bool { calls++; return false })
	if calls > 1 {
		t.Errorf("%s: %d calls after the first one said no", recipe, calls-1)
	}
}

// compareCopy copies to elements of another type, and looks at them as packed bytes.
func compareCopy(t *testing.T, recipe string, src *Cursor, want []byte, pick func(int) int) {
	t.Helper()
	other := []string{"vector 700 1 2 DOUBLE", "contig 1 BYTE", "hvector 40 300 301 BYTE", "struct 2 3 8 INT 1 0 INT"}
	typ, m := mustRead(t, other[pick(len(other))])
	count := int64(len(want))/typ.Size() + 1
	mem := newMemory(m, count)
	var dst Cursor
	typ.Over(&dst, mem.base(), count)
	from := pick(len(want) + 1)
	n := pick(len(want) - from + 1)
	at := pick(dst.Len() - n + 1)
	Copy(&dst, src, int64(at), int64(from), int64(n))
	got := make([]byte, n)
	dst.Pack(got, at)
	if !bytes.Equal(got, want[from:from+n]) {
		t.Fatalf("%s: %d bytes from %d on, copied to %d of another type, differ", recipe, n, from, at)
	}
}

// rebuild makes a type once more, of the contents of it and of its components.
func rebuild(t *testing.T, typ *Type) *Type {
	t.Helper()
	by, ni, na, nc, nt := typ.Envelope()
	ints, addrs, counts, types, err := typ.Contents()
	if by == CombinerNamed {
		if err == nil || ni+na+nc+nt != 0 {
			t.Errorf("%v has contents", typ.Basic())
		}
		return Named(typ.Basic())
	}
	if err != nil || ni != len(ints) || na != len(addrs) || nc != 0 || len(counts) != 0 || nt != len(types) {
		t.Fatalf("the envelope tells of %d, %d, %d, %d, and there are %d, %d, %d, %d (%v)",
			ni, na, nc, nt, len(ints), len(addrs), len(counts), len(types), err)
	}
	for i := range types {
		types[i] = rebuild(t, types[i])
	}
	again, err := construct(by, ints, addrs, types)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func construct(by Combiner, i, a []int64, ts []*Type) (*Type, error) {
	switch by {
	case CombinerDup:
		return Dup(ts[0])
	case CombinerContiguous:
		return Contiguous(i[0], ts[0])
	case CombinerVector:
		return Vector(i[0], i[1], i[2], ts[0])
	case CombinerHvector:
		return Hvector(i[0], i[1], a[0], ts[0])
	case CombinerIndexed:
		return Indexed(i[1:1+i[0]], i[1+i[0]:], ts[0])
	case CombinerHindexed:
		return Hindexed(i[1:], a, ts[0])
	case CombinerIndexedBlock:
		return IndexedBlock(i[1], i[2:], ts[0])
	case CombinerHindexedBlock:
		return HindexedBlock(i[1], a, ts[0])
	case CombinerStruct:
		return Struct(i[1:], a, ts)
	case CombinerResized:
		return Resized(a[0], a[1], ts[0])
	case CombinerSubarray:
		n := i[0]
		return Subarray(i[1:1+n], i[1+n:1+2*n], i[1+2*n:1+3*n], Order(i[1+3*n]), ts[0])
	case CombinerDarray:
		n := i[2]
		list := func(k int64) []int64 { return i[3+k*n : 3+(k+1)*n] }
		var how []Distribution
		for _, d := range list(1) {
			how = append(how, Distribution(d))
		}
		return Darray(i[0], i[1], list(0), how, list(2), list(3), Order(i[3+4*n]), ts[0])
	}
	return nil, fmt.Errorf("combiner %d", by)
}
