package simd

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"testing"
	"unsafe"

	"github.com/golci/golci/internal/platform/invariants"
)

// use makes f the form in use until the test ends.
func use(t testing.TB, f *form) {
	before := chosen
	chosen = f
	t.Cleanup(func() { chosen = before })
}

// random is seeded by GOLCI_TEST_SEED, or by chance, and tells its seed when the test fails.
func random(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("GOLCI_TEST_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with GOLCI_TEST_SEED=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// bytesOf views s as bytes.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// fill has random bits, which hold all kinds of numbers, and among them many special ones.
func fill[T Number](r *rand.Rand, s []T) {
	for i := range bytesOf(s) {
		bytesOf(s)[i] = byte(r.Uint32())
	}
	for i := range s {
		switch p := any(&s[i]).(type) {
		case *float32:
			*p = special(r, *p, math.MaxFloat32, math.SmallestNonzeroFloat32)
		case *float64:
			*p = special(r, *p, math.MaxFloat64, math.SmallestNonzeroFloat64)
		default:
			if r.IntN(4) == 0 { // equal ones, and the ends of the range
				clear(bytesOf(s[i:][:1]))
				bytesOf(s[i:][:1])[unsafe.Sizeof(s[i])-1] = byte(r.IntN(2)) << 7
			}
		}
	}
}

func special[T float32 | float64](r *rand.Rand, otherwise, largest, smallest T) T {
	inf, zero := T(math.Inf(1)), T(0)
	nan, negative := T(math.NaN()), T(math.Copysign(0, -1))
	numbers := []T{zero, negative, inf, -inf, nan, -nan, largest, -largest, smallest, -smallest, 1, -1}
	if i := r.IntN(2 * len(numbers)); i < len(numbers) {
		return numbers[i]
	}
	return otherwise
}

// equal compares bits, except for those of NaNs.
func equal[T Number](a, b T) bool {
	return a != a && b != b || bytes.Equal(bytesOf([]T{a}), bytesOf([]T{b}))
}

// check has one call combine n elements, and compares with what one does for each element. With alias 1 dst is a,
// with 2 it is b.
func check[T Number](
	t *testing.T, name string, f func(dst, a, b []T), one func(a, b T) T, a, b []T, offset, n, alias int,
) {
	t.Helper()
	const guard = 5
	mem := [3][]T{}
	for i, from := range [][]T{make([]T, n), a, b} {
		mem[i] = make([]T, guard+offset+n+guard)
		for j := range mem[i] {
			mem[i][j] = 77
		}
		copy(mem[i][guard+offset:], from[:n])
	}
	to := alias % 3
	want := append([]T(nil), mem[to]...)
	for i := range n {
		want[guard+offset+i] = one(a[i], b[i])
	}
	view := func(i int) []T { return mem[i][guard+offset:][:n:n] }
	f(view(to), view(1), view(2))
	if bytes.Equal(bytesOf(mem[to]), bytesOf(want)) {
		want = nil
	}
	for i, w := range want {
		if got := mem[to][i]; !equal(got, w) {
			at := i - guard - offset
			t.Fatalf("%s %s[%T] of %d elements, alias %d, offset %d: element %d is %v, want %v",
				chosen.name, name, w, n, alias, offset, at, got, w)
		}
	}
	for i, from := range [][]T{nil, a, b} {
		if i != to && i > 0 && string(bytesOf(view(i))) != string(bytesOf(from[:n])) {
			t.Fatalf("%s %s[%T] of %d elements: an operand was changed", chosen.name, name, a[0], n)
		}
	}
}

// lengths go through all tails of all forms; where many is set, also through the limits of apply.
func lengths[T any](many bool) (all []int) {
	for n := range 131 {
		all = append(all, n)
	}
	if !many {
		return all
	}
	piece := maxBytes / int(unsafe.Sizeof(*new(T)))
	return append(all, piece+1, 2*piece-1, 2*piece, 2*piece+1, 3*piece+7)
}

func checkReal[T Real](t *testing.T, r *rand.Rand, many bool) {
	all := lengths[T](many)
	a, b := make([]T, all[len(all)-1]), make([]T, all[len(all)-1])
	fill(r, a)
	fill(r, b)
	for _, n := range all {
		for alias := range 3 {
			offset := r.IntN(5)
			check(t, "Sum", Sum[T], func(a, b T) T { return a + b }, a, b, offset, n, alias)
			check(t, "Prod", Prod[T], func(a, b T) T { return a * b }, a, b, offset, n, alias)
			check(t, "Min", Min[T], func(a, b T) T { return min(a, b) }, a, b, offset, n, alias)
			check(t, "Max", Max[T], func(a, b T) T { return max(a, b) }, a, b, offset, n, alias)
		}
	}
}

type (
	celsius float64
	count   int32
)

// TestForms compares all forms of the machine with Go's operators: every type, every tail, operands in place,
// unaligned, and all special numbers.
func TestForms(t *testing.T) {
	for _, f := range runnableForms() {
		t.Run(f.name, func(t *testing.T) {
			use(t, f)
			r := random(t)
			checkReal[float32](t, r, false)
			checkReal[float64](t, r, true)
			checkReal[int32](t, r, true)
			checkReal[int64](t, r, false)
			checkReal[uint32](t, r, false)
			checkReal[uint64](t, r, false)
			checkReal[int](t, r, false)
			checkReal[uint](t, r, false)
			checkReal[uintptr](t, r, false)
			checkReal[int8](t, r, false)
			checkReal[uint16](t, r, false)
			checkReal[celsius](t, r, false)
			checkReal[count](t, r, false)
		})
	}
}

// TestComplex has no kernels to compare, but the same contract.
func TestComplex(t *testing.T) {
	a, b := make([]complex128, 40), make([]complex128, 40)
	for i := range a {
		a[i], b[i] = complex(float64(i), 1), complex(2, -float64(i))
	}
	for alias := range 3 {
		check(t, "Sum", Sum[complex128], func(a, b complex128) complex128 { return a + b }, a, b, 1, len(a), alias)
		check(t, "Prod", Prod[complex128], func(a, b complex128) complex128 { return a * b }, a, b, 1, len(a), alias)
	}
}

// TestSpecial has every pair of special numbers meet, in every lane.
func TestSpecial(t *testing.T) {
	for _, f := range runnableForms() {
		t.Run(f.name, func(t *testing.T) {
			use(t, f)
			specials(t, math.Float32frombits(0x7F800001), math.SmallestNonzeroFloat32, math.MaxFloat32)
			specials(t, math.Float64frombits(0x7FF0000000000001), math.SmallestNonzeroFloat64, math.MaxFloat64)
		})
	}
}

func specials[T float32 | float64](t *testing.T, signalling, smallest, largest T) {
	inf, nan, negative := T(math.Inf(1)), T(math.NaN()), T(math.Copysign(0, -1))
	numbers := []T{0, negative, inf, -inf, nan, signalling, smallest, -smallest, largest, -largest, 1, -1, 2.5}
	var a, b []T
	for shift := range 16 {
		for _, x := range numbers {
			for i := range numbers {
				a, b = append(a, x), append(b, numbers[(i+shift)%len(numbers)])
			}
		}
	}
	check(t, "Sum", Sum[T], func(a, b T) T { return a + b }, a, b, 0, len(a), 0)
	check(t, "Prod", Prod[T], func(a, b T) T { return a * b }, a, b, 0, len(a), 0)
	check(t, "Min", Min[T], func(a, b T) T { return min(a, b) }, a, b, 0, len(a), 0)
	check(t, "Max", Max[T], func(a, b T) T { return max(a, b) }, a, b, 0, len(a), 0)
}

// FuzzForms has all forms combine the two halves of data.
func FuzzForms(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), byte(1))
	f.Add(make([]byte, 2*(8*16+24)), byte(0))
	f.Fuzz(func(t *testing.T, data []byte, offset byte) {
		for _, form := range runnableForms() {
			use(t, form)
			halves[float32](t, data, int(offset%8))
			halves[float64](t, data, int(offset%8))
			halves[int32](t, data, int(offset%8))
			halves[int64](t, data, int(offset%8))
		}
	})
}

func halves[T Real](t *testing.T, data []byte, offset int) {
	n := len(data) / 2 / int(unsafe.Sizeof(*new(T)))
	if n == 0 {
		return
	}
	a, b := make([]T, n), make([]T, n)
	copy(bytesOf(a), data)
	copy(bytesOf(b), data[len(data)/2:])
	for alias := range 3 {
		check(t, "Sum", Sum[T], func(a, b T) T { return a + b }, a, b, offset, n, alias)
		check(t, "Prod", Prod[T], func(a, b T) T { return a * b }, a, b, offset, n, alias)
		check(t, "Min", Min[T], func(a, b T) T { return min(a, b) }, a, b, offset, n, alias)
		check(t, "Max", Max[T], func(a, b T) T { return max(a, b) }, a, b, offset, n, alias)
	}
}

// TestTables: a form has a kernel for each operation and type of 32 and 64 bits; what it may lack is listed.
func TestTables(t *testing.T) {
	lacks := map[string]bool{
		"NEON prod int64": true, "NEON prod int": true,
		"NEON prod uint64": true, "NEON prod uint": true, "NEON prod uintptr": true,
	}
	signed := []reflect.Kind{reflect.Float32, reflect.Float64, reflect.Int32, reflect.Int64, reflect.Int}
	unsigned := []reflect.Kind{reflect.Uint32, reflect.Uint64, reflect.Uint, reflect.Uintptr}
	for _, f := range runnableForms()[1:] {
		for op, name := range map[operation]string{opSum: "sum", opProd: "prod", opMin: "min", opMax: "max"} {
			kinds := signed
			if op == opSum || op == opProd {
				kinds = append(kinds[:len(kinds):len(kinds)], unsigned...)
			}
			for _, k := range kinds {
				full := fmt.Sprintf("%s %s %s", f.name, name, k)
				if (f.kernels[op][k] == nil) != lacks[full] {
					t.Errorf("%s: kernel is nil: %v", full, f.kernels[op][k] == nil)
				}
			}
		}
	}
}

// TestChosen: the best form of the machine is in use, but the loops in Go under the race detector.
func TestChosen(t *testing.T) {
	all := runnableForms()
	want := all[len(all)-1].name
	if invariants.Race {
		want = "scalar"
	}
	if all[0].name != "scalar" || Chosen() != want {
		t.Errorf("%s is in use, want %s", Chosen(), want)
	}
}

func TestAllocations(t *testing.T) {
	if invariants.Race {
		t.Skip("allocations differ under the race detector")
	}
	a, b, c := make([]float64, 100), make([]celsius, 100), make([]int8, 100)
	if n := testing.AllocsPerRun(100, func() {
		Sum(a, a, a)
		Max(b, b, b)
		Prod(c, c, c)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
