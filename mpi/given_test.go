package mpi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/op"
)

// every is a datatype of n numbers, of which each lies step numbers behind the one before.
func every(t testing.TB, n, step int64) *dtype.Type {
	v, err := dtype.Vector(n, 1, step, dtype.Named(dtype.Int64))
	if err != nil {
		t.Fatal(err)
	}
	v.Commit()
	return v
}

// TestGivenTypes: buffers with holes have the same result as buffers without them, and the holes stay as they are.
func TestGivenTypes(t *testing.T) {
	r := rand.New(rand.NewPCG(source(t), 0))
	for range 6 {
		n, step, ranks := int64(1+r.IntN(40)), int64(2+r.IntN(3)), 1+r.IntN(5)
		wide, tight := every(t, n, step), every(t, n, 1)
		must(t, ranks, func(c *Comm) error {
			in := make([]int64, n*step)
			for i := range in {
				in[i] = int64(c.Rank()*1000 + i)
			}
			out := slices.Repeat([]int64{-1}, int(n)*ranks)
			k := argument.Description{Kind: argument.KindAllgather, What: "Allgather"}
			k.In = argument.Side{Mem: unsafe.Pointer(&in[0]), N: 1, T: wide}
			k.Out = argument.Side{Mem: unsafe.Pointer(&out[0]), N: 1, T: tight}
			if err := c.core().Do(&k); err != nil {
				return err
			}
			for i, v := range out {
				if want := int64(i/int(n)*1000) + int64(i)%n*step; v != want {
					return fmt.Errorf("Allgather: number %d is %d, want %d", i, v, want)
				}
			}
			sum := slices.Repeat([]int64{-1}, int(n*step))
			k = argument.Description{Kind: argument.KindAllreduce, What: "Allreduce", Op: lastOf(t, n)}
			k.In = argument.Side{Mem: unsafe.Pointer(&in[0]), N: 1, T: wide}
			k.Out = argument.Side{Mem: unsafe.Pointer(&sum[0]), N: 1, T: wide}
			if err := c.core().Do(&k); err != nil {
				return err
			}
			for i, v := range sum {
				want := int64(-1)
				if int64(i)%step == 0 {
					want = int64((ranks-1)*1000 + i)
				}
				if v != want {
					return fmt.Errorf("Allreduce: number %d is %d, want %d", i, v, want)
				}
			}
			k.In.Mem = k.Out.Mem
			k.Kind, k.In.T, k.Out.T, k.Op = argument.KindAllreduce, tight, tight, op.Predefined(op.Sum)
			if err := c.core().Do(&k); !errors.Is(err, ErrOp) && !errors.Is(err, ErrBuffer) {
				return fmt.Errorf("one buffer for both: %w", err)
			}
			return c.Barrier() // the calls before have no number
		})
	}
}

// lastOf is an operation that gives what comes from the higher rank.
func lastOf(t testing.TB, n int64) *op.Op {
	o, err := op.New(op.User{Fn: func(_, _ unsafe.Pointer, _ int64, d *dtype.Type) error {
		if d.Basics() != n {
			return ErrType
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return o
}
