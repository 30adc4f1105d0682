package op

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
)

// place sets x[i] = 10·low[i] + high[i] in elements of 16 bytes, of which an int32 at 4 and one at 12 are data.
func place(in, inout unsafe.Pointer, n int64, _ *dtype.Type) error {
	a, b := slice[[4]int32](in, n), slice[[4]int32](inout, n)
	for i := range a {
		b[i][1], b[i][3] = 10*a[i][1]+b[i][1], 10*a[i][3]+b[i][3]
	}
	return nil
}

// TestUser: the function gets the operands in the order of ranks, wherever the result goes, and elements of a datatype
// with gaps, which stay as they are.
func TestUser(t *testing.T) {
	typ, err := dtype.Struct([]int64{1, 1}, []int64{4, 12}, []*dtype.Type{dtype.Named(dtype.Int), dtype.Named(dtype.Int)})
	if err == nil {
		typ, err = dtype.Resized(0, 16, typ)
	}
	if err != nil {
		t.Fatal(err)
	}
	typ.Commit()
	o, err := New(User{Fn: place})
	if err != nil || o.Commutes() || o.ID() != 0 || o.String() == "" {
		t.Fatalf("%v, %v", o, err)
	}
	c, err := o.For(typ)
	if err != nil {
		t.Fatal(err)
	}
	for where := range 3 {
		low, high, out := [2][4]int32{{7, 1, 7, 2}, {7, 3, 7, 4}}, [2][4]int32{{8, 5, 8, 6}, {8, 7, 8, 8}}, [2][4]int32{}
		to := []*[2][4]int32{&out, &low, &high}[where]
		gap := to[0][0]
		if err := c.Combine(unsafe.Pointer(to), unsafe.Pointer(&low), unsafe.Pointer(&high), 2); err != nil {
			t.Fatal(err)
		}
		if want := [2][4]int32{{gap, 15, gap, 26}, {gap, 37, gap, 48}}; *to != want {
			t.Errorf("the result in operand %d: %v, want %v", where, *to, want)
		}
		if where != 1 && low != [2][4]int32{{7, 1, 7, 2}, {7, 3, 7, 4}} {
			t.Errorf("the result in operand %d: what comes from lower ranks is now %v", where, low)
		}
	}
}

// TestUserErrors: an error of the function is that of the call. Without a function there is no operation, and without
// elements it is not called.
func TestUserErrors(t *testing.T) {
	if _, err := New(User{}); !errors.Is(err, errs.Arg) {
		t.Errorf("no function: %v", err)
	}
	broken := errors.New("broken")
	calls := 0
	o, err := New(User{Commutes: true, Fn: func(_, _ unsafe.Pointer, _ int64, got *dtype.Type) error {
		if calls++; got != dtype.Named(dtype.Int) {
			t.Error("it gets another datatype")
		}
		return broken
	}})
	if err != nil || !o.Commutes() {
		t.Fatal(err)
	}
	c, err := o.For(dtype.Named(dtype.Int))
	if err != nil {
		t.Fatal(err)
	}
	var x [3]int32
	p := func(i int) unsafe.Pointer { return unsafe.Pointer(&x[i]) }
	for _, n := range []int64{0, -1} {
		if err := c.Combine(p(0), p(1), p(2), n); err != nil {
			t.Errorf("%d elements: %v", n, err)
		}
	}
	if err := c.Combine(p(0), p(1), p(2), 1); !errors.Is(err, broken) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestDense: elements that lie in one piece are moved as such.
func TestDense(t *testing.T) {
	o, err := New(User{Fn: func(in, inout unsafe.Pointer, n int64, _ *dtype.Type) error {
		a, b := slice[int32](in, n), slice[int32](inout, n)
		for i := range a {
			b[i] = 100*a[i] + b[i]
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.For(dtype.Named(dtype.Int))
	if err != nil {
		t.Fatal(err)
	}
	low, high, out := [3]int32{1, 2, 3}, [3]int32{4, 5, 6}, [4]int32{9, 9, 9, 9}
	err = c.Combine(unsafe.Pointer(&out), unsafe.Pointer(&low), unsafe.Pointer(&high), 3)
	if err != nil || out != [4]int32{104, 205, 306, 9} || high != [3]int32{4, 5, 6} {
		t.Errorf("%v %v, %v", out, high, err)
	}
}

// TestNoAllocation: what is predefined allocates nothing when it combines.
func TestNoAllocation(t *testing.T) {
	var a, b [64]uint64
	for _, basic := range dtype.Basics() {
		for _, id := range []ID{Sum, Max, MinLoc, Band, Land, Replace} {
			c, err := Predefined(id).For(dtype.Named(basic))
			if err != nil {
				continue
			}
			if n := testing.AllocsPerRun(10, func() {
				if err := c.Combine(unsafe.Pointer(&a), unsafe.Pointer(&a), unsafe.Pointer(&b), 7); err != nil {
					t.Error(err)
				}
			}); n != 0 {
				t.Errorf("%v on %v: %v allocations", id, basic, n)
			}
		}
	}
}
