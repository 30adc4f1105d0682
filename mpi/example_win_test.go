package mpi_test

import (
	"errors"
	"fmt"

	"github.com/golci/golci/mpi"
)

// Each rank puts its number into the memory of the next one.
func ExampleWin() {
	run(3, func(c *mpi.Comm) error {
		w, err := mpi.AllocateWin[int](c, 1)
		if err != nil {
			return err
		}
		err = errors.Join(w.Fence(0), w.Put([]int{c.Rank()}, (c.Rank()+1)%c.Size(), 0), w.Fence(0))
		if err == nil && c.Rank() == 0 {
			fmt.Println("rank 0 has", w.Memory()[0])
		}
		return errors.Join(err, w.Free())
	})
	// Output: rank 0 has 2
}

// Ranks draw numbers from a counter of rank 0, each number once.
func ExampleWin_FetchAndOp() {
	run(4, func(c *mpi.Comm) error {
		w, err := mpi.AllocateWin[int64](c, 1)
		if err != nil {
			return err
		}
		var mine int64
		err = w.Locked(mpi.LockShared, 0, func() error {
			return w.FetchAndOp(1, &mine, 0, 0, mpi.Sum)
		})
		sum, err2 := mpi.AllreduceOne(c, mine, mpi.Sum)
		if c.Rank() == 0 {
			fmt.Println("the numbers add up to", sum)
		}
		return errors.Join(err, err2, w.Free())
	})
	// Output: the numbers add up to 6
}
