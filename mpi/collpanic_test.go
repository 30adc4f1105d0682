package mpi

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// reductions are calls with an operation, short and long, at all ranks.
var reductions = map[string]func(c *Comm, op Op[int]) error{
	"Reduce":         func(c *Comm, op Op[int]) error { return Reduce(c, one(), one(), op, c.Size()-1) },
	"long Reduce":    func(c *Comm, op Op[int]) error { return Reduce(c, make([]int, 50_000), make([]int, 50_000), op, 0) },
	"Allreduce":      func(c *Comm, op Op[int]) error { return Allreduce(c, one(), one(), op) },
	"long Allreduce": func(c *Comm, op Op[int]) error { return Allreduce(c, make([]int, 50_000), make([]int, 50_000), op) },
}

// TestOperationPanics: a panic of an operation goes on at the rank where it is, after the collective has failed on all.
func TestOperationPanics(t *testing.T) {
	for name, call := range reductions {
		for n := 2; n <= 4; n++ {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				must(t, n, func(c *Comm) error {
					return everyWayInTurn(c, func(d *Comm) error { return panicsOnce(d, call) })
				})
			})
		}
	}
}

func panicsOnce(c *Comm, call func(c *Comm, op Op[int]) error) error {
	type boom struct{}
	op := VectorFunc(func(_, _ []int) { panic(boom{}) }).Commutative()
	v, err := func() (v any, err error) {
		defer func() { v = recover() }()
		return nil, call(c, op)
	}()
	if v != nil && v != (boom{}) {
		return fmt.Errorf("panic %v", v)
	}
	for i := 0; v == nil && err == nil && i < 1000; i++ { // a rank that only sends may return before the notice comes
		err = c.Barrier()
	}
	if v == nil && !errors.Is(err, ErrOp) {
		return fmt.Errorf("no panic, and error %v", err)
	}
	if err := c.Barrier(); !errors.Is(err, ErrCollective) || !errors.Is(err, ErrOp) {
		return fmt.Errorf("after it: %v", err)
	}
	return nil
}

// TestOperationEndsGoroutine: where an operation ends its goroutine, the collective has failed, too.
func TestOperationEndsGoroutine(t *testing.T) {
	for name, call := range reductions {
		t.Run(name, func(t *testing.T) {
			must(t, 2, func(c *Comm) error {
				d, err := c.Dup()
				if err != nil {
					return err
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					_ = call(d, VectorFunc(func(_, _ []int) { runtime.Goexit() }).Commutative())
				}()
				<-ended
				for i := 0; err == nil && i < 1000; i++ {
					err = d.Barrier()
				}
				if !errors.Is(err, ErrCollective) || !errors.Is(err, ErrOp) {
					return fmt.Errorf("after it: %v", err)
				}
				return reduces(c, 1, 2, Sum)
			})
		})
	}
}
