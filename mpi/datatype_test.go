package mpi

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

// padded has bytes between its fields, and behind the last one.
type padded struct {
	A int8
	B float64
	C [3]int16
	D bool
}

func TestTypeOf(t *testing.T) {
	d, err := TypeOf[padded]()
	if want := 1 + 8 + 6 + 1; err != nil || d.Size() != want {
		t.Fatalf("%d bytes of a struct travel, want %d; %v", d.Size(), want, err)
	}
	e, err := ElementOf[padded]()
	if want := int(unsafe.Sizeof(padded{})); err != nil || e.Size() != want {
		t.Fatalf("%d bytes of an element travel, want %d; %v", e.Size(), want, err)
	}
	if _, err := TypeOf[string](); !errors.Is(err, ErrType) {
		t.Errorf("strings: %v", err)
	}
	if _, err := ElementOf[*int](); !errors.Is(err, ErrType) {
		t.Errorf("pointers: %v", err)
	}
	in := []padded{{1, 2, [3]int16{3, 4, 5}, true}, {6, 7, [3]int16{8, 9, 10}, false}}
	b, err := d.Pack([]byte("x"), in, 2)
	if err != nil || len(b) != 1+2*d.Size() {
		t.Fatalf("packed %d bytes, %v", len(b), err)
	}
	out := make([]padded, 2)
	rest, err := d.Unpack(append(b[1:], 'y'), out, 2)
	if err != nil || !slices.Equal(in, out) || !bytes.Equal(rest, []byte("y")) {
		t.Errorf("unpacked %v, %q is left, %v", out, rest, err)
	}
	if _, err := d.Unpack(b[2:], out, 2); !errors.Is(err, ErrArgument) {
		t.Errorf("too few bytes: %v", err)
	}
}

// parts are datatypes of int32, and the elements that they name of 0, 1, 2 and so on, for 2 of each.
func typedParts() map[string]struct {
	make func(d Datatype[int32]) (Datatype[int32], error)
	want []int32
} {
	type part = struct {
		make func(d Datatype[int32]) (Datatype[int32], error)
		want []int32
	}
	return map[string]part{
		"contiguous": {
			func(d Datatype[int32]) (Datatype[int32], error) { return d.Contiguous(3) },
			[]int32{0, 1, 2, 3, 4, 5},
		},
		"vector": {
			func(d Datatype[int32]) (Datatype[int32], error) { return d.Vector(Strided{2, 1, 3}) },
			[]int32{0, 3, 4, 7},
		},
		"indexed": {func(d Datatype[int32]) (Datatype[int32], error) {
			return d.Indexed([]int{2, 1}, []int{5, 1})
		}, []int32{5, 6, 1, 11, 12, 7}},
		"blocks": {
			func(d Datatype[int32]) (Datatype[int32], error) { return d.IndexedBlock(2, []int{4, 0}) },
			[]int32{4, 5, 0, 1, 10, 11, 6, 7},
		},
		"subarray": {func(d Datatype[int32]) (Datatype[int32], error) {
			return d.Subarray([]int{3, 4}, []int{2, 2}, []int{1, 1})
		}, []int32{5, 6, 9, 10, 17, 18, 21, 22}},
		"resized": {func(d Datatype[int32]) (Datatype[int32], error) {
			v, err := d.Vector(Strided{3, 1, 4})
			if err != nil {
				return v, err
			}
			return v.Resized(1)
		}, []int32{0, 4, 8, 1, 5, 9}},
	}
}

// TestTyped: the elements that a datatype names travel in its order, into a slice and into the same datatype.
func TestTyped(t *testing.T) {
	for _, check := range []string{"types", "off"} {
		must(t, 1, func(c *Comm) error {
			for name, p := range typedParts() {
				if err := tryTyped(c, p.make, p.want); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return nil
		}, With("GOLCI_CHECK", check))
	}
}

func tryTyped(c *Comm, f func(d Datatype[int32]) (Datatype[int32], error), want []int32) error {
	d, err := ElementOf[int32]()
	if err == nil {
		d, err = f(d)
	}
	if err != nil {
		return err
	}
	all := make([]int32, 24)
	for i := range all {
		all[i] = int32(i)
	}
	row, back := make([]int32, len(want)), slices.Repeat([]int32{-1}, 24)
	r, err := IsendTyped(c, all, d, 2, 0, 1)
	if _, bad := Recv(c, row, 0, 1); err != nil || bad != nil || !slices.Equal(row, want) {
		return fmt.Errorf("received %v, want %v; %w", row, want, errors.Join(err, bad))
	}
	_, err = r.Wait()
	q, bad := IrecvTyped(c, back, d, 2, 0, 2)
	if err := errors.Join(err, bad, SendTyped(c, all, d, 2, 0, 2)); err != nil {
		return err
	}
	if _, err := q.Wait(); err != nil {
		return err
	}
	for i, got := range back {
		if slices.Contains(want, int32(i)) != (got == int32(i)) || got != int32(i) && got != -1 {
			return fmt.Errorf("element %d is %d, of %v", i, got, want)
		}
	}
	if err := SendTyped(c, all[:want[len(want)-1]], d, 2, 0, 3); !errors.Is(err, ErrCount) {
		return fmt.Errorf("a short slice: %w", errors.Join(err, errors.New("no ErrCount")))
	}
	return nil
}

func TestTypedWrong(t *testing.T) {
	var none Datatype[int]
	d, err := ElementOf[int]()
	if err != nil {
		t.Fatal(err)
	}
	must(t, 1, func(c *Comm) error {
		if err := SendTyped(c, make([]int, 1), none, 1, 0, 0); !errors.Is(err, ErrType) {
			return fmt.Errorf("the zero Datatype: %w", err)
		}
		if err := SendTyped(c, make([]int, 1), d, -1, 0, 0); !errors.Is(err, ErrCount) {
			return fmt.Errorf("count -1: %w", err)
		}
		if _, err := RecvTyped(c, make([]int, 1), d, 2, 0, 0); !errors.Is(err, ErrCount) {
			return fmt.Errorf("2 in a slice of 1: %w", err)
		}
		return nil
	})
	for _, f := range []func() (Datatype[int], error){
		func() (Datatype[int], error) { return d.Contiguous(-1) },
		func() (Datatype[int], error) { return none.Contiguous(1) },
		func() (Datatype[int], error) { return d.Indexed([]int{1}, nil) },
		func() (Datatype[int], error) { return d.Subarray([]int{2}, []int{3}, []int{0}) },
	} {
		if _, err := f(); err == nil {
			t.Error("no error")
		}
	}
	before, err := d.Indexed([]int{1}, []int{-1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := before.Pack(nil, make([]int, 3), 1); !errors.Is(err, ErrCount) {
		t.Errorf("before the slice: %v", err)
	}
	still, err := d.Resized(0)
	for count, want := range map[int]error{-1: ErrCount, 1 << 61: ErrCount, 1 << 55: ErrMemory} {
		if _, bad := still.Pack(nil, make([]int, 1), count); err != nil || !errors.Is(bad, want) {
			t.Errorf("%d times one place: %v", count, errors.Join(err, bad))
		}
	}
}
