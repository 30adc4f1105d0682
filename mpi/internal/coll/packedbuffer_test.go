package coll

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/op"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// TestDenseOrNot: the short way takes the commonest calls. It leaves every other one to the longer way, which gives the
// error, if it is one. Both give the same result.
func TestDenseOrNot(t *testing.T) {
	i32, f32, pair := dtype.Named(dtype.Int32), dtype.Named(dtype.Float), dtype.Named(dtype.DoubleInt)
	strided, err := dtype.Vector(2, 1, 2, i32)
	if err != nil {
		t.Fatal(err)
	}
	strided.Commit()
	pairs, err := dtype.Contiguous(2, i32)
	if err != nil {
		t.Fatal(err)
	}
	pairs.Commit()
	twice, err := dtype.Contiguous(2, i32)
	if err != nil {
		t.Fatal(err)
	}
	empty, err := dtype.Contiguous(0, i32)
	if err != nil {
		t.Fatal(err)
	}
	empty.Commit()
	run(t, 2, func(c *testComm) error {
		var a, b, want [8]int32
		all := 4 * c.Size() // ints
		at := func(x *[8]int32, i int) unsafe.Pointer { return unsafe.Pointer(&x[i]) }
		side := func(x *[8]int32, n int64) argument.Side { return argument.Side{Mem: at(x, 0), N: n, T: i32} }
		sum := op.Predefined(op.Sum)
		for _, x := range []struct {
			what  string
			k     argument.Description
			dense bool
			err   error
		}{
			{
				"allreduce",
				argument.Description{Kind: argument.KindAllreduce, In: side(&a, 4), Out: side(&b, 4), Op: sum},
				true, nil,
			},
			{
				"allreduce in place",
				argument.Description{Kind: argument.KindAllreduce, In: argument.Side{Place: true}, Out: side(&b, 4), Op: sum},
				true, nil,
			},
			{
				"reduce",
				argument.Description{Kind: argument.KindReduce, In: side(&a, 4), Out: side(&b, 4), Op: sum, Root: 1},
				true, nil,
			},
			{"bcast", argument.Description{Kind: argument.KindBcast, Out: side(&b, 4)}, true, nil},
			{"allgather", argument.Description{Kind: argument.KindAllgather, In: side(&a, 4), Out: side(&b, 4)}, true, nil},
			{"alltoall", argument.Description{Kind: argument.KindAlltoall, In: side(&a, 4), Out: side(&b, 4)}, true, nil},
			{
				"a type of the program",
				argument.Description{Kind: argument.KindBcast, Out: argument.Side{Mem: at(&b, 0), N: 2, T: pairs}},
				true, nil,
			},
			{
				"nothing",
				argument.Description{
					Kind: argument.KindAllreduce, In: argument.Side{T: i32}, Out: argument.Side{T: i32}, Op: sum,
				},
				true, nil,
			},

			{"gather", argument.Description{Kind: argument.KindGather, In: side(&a, 4), Out: side(&b, 4)}, false, nil},
			{
				"holes",
				argument.Description{Kind: argument.KindBcast, Out: argument.Side{Mem: at(&b, 0), N: 2, T: strided}},
				false, nil,
			},
			{
				"other types",
				argument.Description{
					Kind: argument.KindAllgather, In: side(&a, 4), Out: argument.Side{Mem: at(&b, 0), N: 4, T: f32},
				},
				false,
				sentinel.ErrType,
			},
			{
				"a hole",
				argument.Description{Kind: argument.KindBcast, Out: argument.Side{Mem: at(&b, 0), N: 1, T: pair}},
				false, nil,
			},
			{
				"no commit",
				argument.Description{Kind: argument.KindBcast, Out: argument.Side{Mem: at(&b, 0), N: 1, T: twice}},
				false, sentinel.ErrType,
			},
			{
				"no bytes",
				argument.Description{Kind: argument.KindBcast, Out: argument.Side{Mem: at(&b, 0), N: 4, T: empty}},
				false, nil,
			},
			{
				"no type",
				argument.Description{Kind: argument.KindBcast, Out: argument.Side{Mem: at(&b, 0), N: 4}},
				false, sentinel.ErrType,
			},
			{
				"no memory",
				argument.Description{Kind: argument.KindAllreduce, In: argument.Side{N: 1, T: i32}, Out: side(&b, 1), Op: sum},
				false,
				sentinel.ErrBuffer,
			},
			{
				"less than nothing",
				argument.Description{Kind: argument.KindBcast, Out: side(&b, -1)},
				false, sentinel.ErrCount,
			},
			{
				"far too much",
				argument.Description{Kind: argument.KindAllgather, In: side(&a, 1), Out: side(&b, 1<<61)},
				false, sentinel.ErrCount,
			},
			{
				"too much for a number",
				argument.Description{Kind: argument.KindAlltoall, In: side(&a, 1<<62), Out: side(&b, 1<<62)},
				false,
				sentinel.ErrCount,
			},
			{
				"no such root",
				argument.Description{Kind: argument.KindBcast, Out: side(&b, 4), Root: 2},
				false, sentinel.ErrRoot,
			},
			{
				"no operation",
				argument.Description{Kind: argument.KindAllreduce, In: side(&a, 4), Out: side(&b, 4)},
				false, sentinel.ErrOp,
			},
			{
				"no such operation", argument.Description{
					Kind: argument.KindAllreduce, In: argument.Side{Mem: at(&a, 0), N: 1, T: f32},
					Out: argument.Side{Mem: at(&b, 0), N: 1, T: f32},
					Op:  op.Predefined(op.Band),
				}, false, sentinel.ErrOp,
			},
			{
				"overlap",
				argument.Description{
					Kind: argument.KindAllreduce, In: side(&a, 4), Out: argument.Side{Mem: at(&a, 3), N: 4, T: i32}, Op: sum,
				},
				false, sentinel.ErrBuffer,
			},
			{
				"more to itself",
				argument.Description{Kind: argument.KindAllgather, In: side(&a, 4), Out: side(&b, 3)},
				false, sentinel.ErrTruncate,
			},
			{
				"less to itself",
				argument.Description{Kind: argument.KindAlltoall, In: side(&a, 3), Out: side(&b, 4)},
				false, sentinel.ErrCount,
			},
			{
				"received in place",
				argument.Description{Kind: argument.KindAllgather, In: side(&a, 4), Out: argument.Side{Place: true}},
				false,
				sentinel.ErrBuffer,
			},
		} {
			x.k.What = x.what
			fill := func() {
				for i := range a {
					a[i], b[i] = int32(10*c.Rank()+i+1), int32(100*c.Rank()+i+1)
				}
			}
			fill()
			if x.err == nil { // the result of the longer way
				if err := c.forColl().doDatatypes(&x.k); err != nil {
					return fmt.Errorf("%s: %w", x.what, err)
				}
				want = b
				fill()
			}
			done, err := c.forColl().doDense(&x.k)
			if done != x.dense || err != nil {
				return fmt.Errorf("%s: done %t, %w", x.what, done, err)
			}
			if done && b != want {
				return fmt.Errorf("%s: %d, want %d", x.what, b[:all], want[:all])
			}
			if !done {
				if err := c.Do(&x.k); !errors.Is(err, x.err) {
					return fmt.Errorf("%s: %w, want %w", x.what, err, x.err)
				}
			}
		}
		return nil
	})
}

// TestDenseTypes: ranks whose elements are of different types learn of it, by messages and by the shared segment.
func TestDenseTypes(t *testing.T) {
	for way, warm := range map[string]int{"messages": 2, "memory": 20} {
		var wrong atomic.Int32
		run(t, 2, func(c *testComm) error {
			var a, b [4]int32
			k := argument.Description{Kind: argument.KindAllreduce, What: "Allreduce", Op: op.Predefined(op.Sum)}
			call := func(of dtype.Basic) error {
				k.In = argument.Side{Mem: unsafe.Pointer(&a), N: 4, T: dtype.Named(of)}
				k.Out = argument.Side{Mem: unsafe.Pointer(&b), N: 4, T: dtype.Named(of)}
				done, err := c.forColl().doDense(&k)
				if !done {
					return errors.New("not done")
				}
				return err
			}
			for range warm {
				if err := call(dtype.Int32); err != nil {
					return err
				}
			}
			err := call([]dtype.Basic{dtype.Int32, dtype.Float}[c.Rank()])
			if errors.Is(err, sentinel.ErrType) {
				wrong.Add(1)
				return nil
			}
			return err
		}, "GOLCI_COLLECTIVES", way)
		if wrong.Load() == 0 {
			t.Errorf("%s: neither rank has an error", way)
		}
	}
}
