package realm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"
)

type sumArgs struct {
	X, Y int64
	To   uint32
}

var results [16]atomic.Int64

var sumTask = Register("sum", func(c *Ctx, a sumArgs) error {
	results[a.To].Store(a.X + a.Y + int64(c.Runtime().Rank()))
	return nil
})

var failTask = Register("fail", func(_ *Ctx, text string) error { return errors.New(text) })

var panicTask = Register("panic", func(_ *Ctx, text string) error { panic(text) })

// TestSpawn: tasks run on every rank, also after events of other ranks.
func TestSpawn(t *testing.T) {
	for n := 1; n <= 3; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			err := Run(n, func(rt *Runtime) error {
				if rt.Rank() != 0 {
					return nil
				}
				for dst := range n {
					before := rt.NewUserEvent()
					p := makeProcessor(dst, CPU, 0)
					e := Spawn(rt, p, sumTask, sumArgs{40, 2, uint32(dst)}, After(before.Event()))
					f := Spawn(rt, p, sumTask, sumArgs{1, 2, uint32(dst)}, After(e))
					if done, err := rt.HasTriggered(e); done || err != nil {
						t.Errorf("rank %d: triggered before its precondition: %v", dst, err)
					}
					if err := before.Trigger(NoEvent); err != nil {
						t.Error(err)
					}
					if err := rt.Wait(context.Background(), f); err != nil {
						t.Error(err)
					}
					if got := results[dst].Load(); got != 3+int64(dst) {
						t.Errorf("rank %d: result %d", dst, got)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestTaskFaults: an error or a panic poisons what depends on the task, with its cause and rank.
func TestTaskFaults(t *testing.T) {
	err := Run(2, func(rt *Runtime) error {
		if rt.Rank() != 0 {
			return nil
		}
		for dst := range 2 {
			p := makeProcessor(dst, CPU, 0)
			for _, task := range []Task[string]{failTask, panicTask} {
				e := Spawn(rt, p, task, "no luck")
				f := Spawn(rt, p, sumTask, sumArgs{To: 15, X: 7}, After(e))
				g := Spawn(rt, p, sumTask, sumArgs{To: 15, X: 8}, After(e), IgnoreFaults())
				err := rt.Wait(context.Background(), f)
				var pe *PoisonError
				if !errors.Is(err, ErrPoisoned) || !errors.As(err,
					&pe) || pe.Rank != dst || !strings.Contains(err.Error(), "no luck") {
					t.Errorf("%s on rank %d: %v", task.Name(), dst, err)
				}
				if err := rt.Wait(context.Background(), g); err != nil || results[15].Load() != 8+int64(dst) {
					t.Errorf("%s on rank %d, ignored: %v, %d", task.Name(), dst, err, results[15].Load())
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTaskWaits: a task that waits lets others run on its processor, and goes on afterwards.
func TestTaskWaits(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		var order []int
		p := rt.CPU(0)
		gate := rt.NewUserEvent()
		a := SpawnLocal(rt, p, func(c *Ctx) error {
			order = append(order, 1)
			err := c.Wait(gate.Event())
			order = append(order, 3)
			return err
		})
		b := SpawnLocal(rt, p, func(c *Ctx) error {
			order = append(order, 2)
			return gate.Trigger(NoEvent)
		})
		if err := rt.Wait(context.Background(), rt.Merge(a, b)); err != nil {
			return err
		}
		if fmt.Sprint(order) != "[1 2 3]" {
			t.Errorf("order %v", order)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTaskSize: a task takes three cache lines, the size class of 192 bytes.
func TestTaskSize(t *testing.T) {
	if n := unsafe.Sizeof(task{}); n > 192 {
		t.Errorf("%d bytes", n)
	}
}

// TestTaskFree: a task that is used again has nothing of its last use that would run or be read.
func TestTaskFree(t *testing.T) {
	err := Run(1, func(rt *Runtime) error {
		x := rt.newTask()
		x.local, x.large = func(*Ctx) error { return nil }, new(large)
		x.freeTask()
		if x.local != nil || x.large != nil {
			t.Error("the last use has left a function or arguments")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
