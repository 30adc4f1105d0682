package mpi_test

import (
	"fmt"
	"log"

	"github.com/golci/golci/mpi"
)

// The ranks of each machine get a communicator of their own, and one rank of each machine takes part in another.
func ExampleComm_SplitHardware() {
	err := mpi.Run(4, func(c *mpi.Comm) error {
		near, err := c.SplitHardware(mpi.SharedMemory, c.Rank())
		if err != nil {
			return err
		}
		color := mpi.Undefined
		if near.Rank() == 0 {
			color = 0
		}
		leaders, err := c.Split(color, c.Rank())
		if err != nil {
			return err
		}
		if leaders != nil {
			fmt.Printf("%d machine, %d ranks on the first\n", leaders.Size(), near.Size())
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 1 machine, 4 ranks on the first
}
