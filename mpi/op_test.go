package mpi

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

type celsius float64

// opCase is an operation beside the function of two elements that it stands for.
type opCase[T comparable] struct {
	name string
	op   Op[T]
	want func(a, b T) T
}

func integers[T Integer]() []opCase[T] {
	return append(reals[T](),
		opCase[T]{"Band", Band[T], func(a, b T) T { return a & b }},
		opCase[T]{"Bor", Bor[T], func(a, b T) T { return a | b }},
		opCase[T]{"Bxor", Bxor[T], func(a, b T) T { return a ^ b }})
}

func reals[T Real]() []opCase[T] {
	return append(numbers[T](),
		opCase[T]{"Min", Min[T], func(a, b T) T { return min(a, b) }},
		opCase[T]{"Max", Max[T], func(a, b T) T { return max(a, b) }})
}

func numbers[T Number]() []opCase[T] {
	return []opCase[T]{
		{"Sum", Sum[T], func(a, b T) T { return a + b }},
		{"Prod", Prod[T], func(a, b T) T { return a * b }},
		{"Func", Func(func(a, b T) T { return a - b }), func(a, b T) T { return a - b }},
	}
}

func logicals[T ~bool]() []opCase[T] {
	return []opCase[T]{
		{"Land", Land[T], func(a, b T) T { return a && b }},
		{"Lor", Lor[T], func(a, b T) T { return a || b }},
		{"Lxor", Lxor[T], func(a, b T) T { return a != b }},
	}
}

func locs[T Real]() []opCase[Loc[T]] {
	pick := func(a, b Loc[T], first bool) Loc[T] {
		if a.Value == b.Value {
			first = a.Index <= b.Index
		}
		if first {
			return a
		}
		return b
	}
	return []opCase[Loc[T]]{
		{"MinLoc", MinLoc[T], func(a, b Loc[T]) Loc[T] { return pick(a, b, a.Value < b.Value) }},
		{"MaxLoc", MaxLoc[T], func(a, b Loc[T]) Loc[T] { return pick(a, b, a.Value > b.Value) }},
	}
}

// TestOpsOfAllTypes compares every operation with a loop, on every type that it has. Vectors are short, or long enough
// for kernels. The result goes to a third buffer, or to the place of either.
func TestOpsOfAllTypes(t *testing.T) {
	type bits uint16
	type flag bool
	opsOf(t, integers[int]())
	opsOf(t, integers[int8]())
	opsOf(t, integers[int16]())
	opsOf(t, integers[int32]())
	opsOf(t, integers[int64]())
	opsOf(t, integers[uint]())
	opsOf(t, integers[uint8]())
	opsOf(t, integers[uint16]())
	opsOf(t, integers[uint32]())
	opsOf(t, integers[uint64]())
	opsOf(t, integers[uintptr]())
	opsOf(t, integers[bits]())
	opsOf(t, reals[float32]())
	opsOf(t, reals[float64]())
	opsOf(t, reals[celsius]())
	opsOf(t, numbers[complex64]())
	opsOf(t, numbers[complex128]())
	opsOf(t, logicals[bool]())
	opsOf(t, logicals[flag]())
	opsOf(t, locs[int8]())
	opsOf(t, locs[float32]())
	opsOf(t, locs[celsius]())
}

func opsOf[T comparable](t *testing.T, cases []opCase[T]) {
	rnd := random(source(t), 0)
	for _, k := range cases {
		for _, n := range []int{0, 1, 2, 7, 64, 1000} {
			low, high, want := make([]T, n), make([]T, n), make([]T, n)
			for i := range low {
				low[i], high[i] = valueOf[T](rnd.IntN(1000)), valueOf[T](rnd.IntN(1000))
				want[i] = k.want(low[i], high[i])
			}
			r := k.op.operator()
			for where, out := range map[string][]T{
				"a third": make([]T, n), "low": slices.Clone(low), "high": slices.Clone(high),
			} {
				a, b := slices.Clone(low), slices.Clone(high)
				switch where {
				case "low":
					a = out
				case "high":
					b = out
				}
				r.Into(bytesOf(out), bytesOf(a), bytesOf(b))
				if !slices.Equal(out, want) {
					t.Errorf("%s of %d %T into %s: %v, want %v", k.name, n, want, where, out, want)
				}
			}
			if r.Commutes != (k.name != "Func") {
				t.Errorf("%s: commutative is %v", k.name, r.Commutes)
			}
		}
	}
}

// valueOf makes a T of n: equal values are frequent, and no NaN.
func valueOf[T any](n int) (x T) {
	fill := reflect.ValueOf(&x).Elem()
	if fill.Kind() == reflect.Struct { // Loc
		fill.FieldByName("Index").SetInt(int64(n))
		fill, n = fill.FieldByName("Value"), n%4
	}
	switch {
	case fill.CanInt():
		fill.SetInt(int64(n))
	case fill.CanUint():
		fill.SetUint(uint64(n))
	case fill.CanFloat():
		fill.SetFloat(float64(n) / 8)
	case fill.CanComplex():
		fill.SetComplex(complex(float64(n), 1))
	default:
		fill.SetBool(n%2 == 1)
	}
	return x
}

// TestMinOfNaN: a NaN wins in Min and Max, and the lower zero is the negative one.
func TestMinOfNaN(t *testing.T) {
	must(t, 3, func(c *Comm) error {
		v := []float64{0, math.Copysign(0, -1)}[c.Rank()%2]
		low, err := AllreduceOne(c, v, Min)
		if err != nil || !math.Signbit(low) {
			return fmt.Errorf("the minimum of the zeros is %v, %w", low, err)
		}
		if c.Rank() == 1 {
			v = math.NaN()
		}
		high, err := AllreduceOne(c, v, Max)
		if err != nil || !math.IsNaN(high) {
			return fmt.Errorf("the maximum with a NaN is %v, %w", high, err)
		}
		return nil
	})
}

// TestWrongOps: an operation on elements that it does not have is an error of the compiler, in the line where it is.
func TestWrongOps(t *testing.T) {
	const dir = "testdata/wrongops"
	src, err := os.ReadFile(dir + "/main.go")
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]string{}
	for i, line := range strings.Split(string(src), "\n") {
		if _, text, ok := strings.Cut(line, "// ERROR "); ok {
			want[i+1] = text
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-o", os.DevNull, "./"+dir).CombinedOutput()
	if err == nil || len(want) < 10 {
		t.Fatalf("it compiles; %d lines are marked", len(want))
	}
	for _, line := range strings.Split(string(out), "\n") {
		_, at, ok := strings.Cut(line, "main.go:")
		if !ok {
			continue
		}
		number, text, _ := strings.Cut(at, ":")
		n, _ := strconv.Atoi(number)
		if want[n] == "" || !strings.Contains(text, want[n]) {
			t.Errorf("line %d: %s; want %q", n, text, want[n])
		}
		delete(want, n)
	}
	for n, text := range want {
		t.Errorf("line %d compiles; want %q", n, text)
	}
}

// TestOpAllocations: naming an operation and carrying it out allocates nothing, in generic code either.
func TestOpAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	must(t, 1, func(c *Comm) error {
		in, out := make([]celsius, 100), make([]celsius, 100)
		pairs, best := make([]Loc[celsius], 10), make([]Loc[celsius], 10)
		yes, all := make([]bool, 10), make([]bool, 10)
		user := Func(func(a, b celsius) celsius { return a - b })
		var err error
		n := testing.AllocsPerRun(100, func() {
			err = errorOf(err, Allreduce(c, in, out, Sum), largest(c, in, out), Allreduce(c, pairs, best, MinLoc),
				Allreduce(c, yes, all, Land), Allreduce(c, in, out, user), Reduce(c, in, out, Prod, 0))
			Op[celsius](Min[celsius]).operator().Into(bytesOf(out), bytesOf(in), bytesOf(out))
			Op[Loc[celsius]](MaxLoc[celsius]).operator().Into(bytesOf(best), bytesOf(pairs), bytesOf(best))
			user.operator().Into(bytesOf(out), bytesOf(in), bytesOf(out))
		})
		if n != 0 && err == nil {
			return fmt.Errorf("%v allocations", n)
		}
		return err
	})
}

func largest[T Real](c *Comm, in, out []T) error { return Allreduce(c, in, out, Max) }

// errorOf is the first error, without allocating.
func errorOf(err error, errs ...error) error {
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return err
}
