package core

import (
	"context"
	"fmt"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/dtype"
)

// TestStartsInAnyOrder (6.13): persistent collectives are made in one order, and each rank starts them in its own.
func TestStartsInAnyOrder(t *testing.T) {
	run(t, 3, func(c *Comm) error {
		var words [4]int32
		rs := make([]Request, len(words)+1)
		for i := range words {
			r, err := c.CollInit(&argument.Description{
				Kind: argument.KindBcast, What: "Bcast_init", Root: i % 3,
				Out: argument.Side{Mem: unsafe.Pointer(&words[i]), N: 1, T: dtype.Named(dtype.Int32)},
			})
			if err != nil {
				return err
			}
			rs[i] = r
		}
		barrier, err := c.CollInit(&argument.Description{Kind: argument.KindBarrier, What: "Barrier_init"})
		if err != nil {
			return err
		}
		rs[len(words)] = barrier
		for round := range 3 {
			for i := range words {
				words[i] = int32(-1 - c.Rank())
				if c.Rank() == i%3 {
					words[i] = int32(100*round + i)
				}
			}
			for k := range rs {
				i := (k*(c.Rank()+1) + c.Rank()) % len(rs) // 1, 2 and 3 have no factor in common with 5
				if err := rs[i].Start("Start"); err != nil {
					return err
				}
			}
			if err := Waitall(context.Background(), "Waitall", rs, nil); err != nil {
				return err
			}
			for i, w := range words {
				if w != int32(100*round+i) {
					return fmt.Errorf("round %d: word %d is %d", round, i, w)
				}
			}
		}
		for i := range rs {
			own := rs[i].persistentState().comm
			if err := rs[i].Free(); err != nil {
				return err
			}
			if !own.origin().Freed.Load() {
				return fmt.Errorf("the communicator of request %d stays", i)
			}
		}
		return nil
	})
}
