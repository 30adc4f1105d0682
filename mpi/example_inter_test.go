package mpi_test

import (
	"fmt"
	"log"

	"github.com/golci/golci/mpi"
)

// Two halves of a job talk by way of an inter-communicator.
func ExampleComm_CreateInter() {
	err := mpi.Run(4, func(world *mpi.Comm) error {
		half, err := world.Split(world.Rank()/2, 0)
		if err != nil {
			return err
		}
		both, err := half.CreateInter(0, world, 2-2*(world.Rank()/2), 1)
		if err != nil {
			return err
		}
		got := make([]int, 1)
		if err := mpi.Send(both, []int{world.Rank()}, both.Rank(), 0); err != nil {
			return err
		}
		if _, err := mpi.Recv(both, got, both.Rank(), 0); err != nil {
			return err
		}
		if world.Rank() == 3 {
			fmt.Println(got[0])
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 1
}

// A communicator of the odd ranks, which only they make.
func ExampleComm_CreateGroup() {
	err := mpi.Run(4, func(world *mpi.Comm) error {
		all, err := world.Group()
		if err != nil {
			return err
		}
		odd, err := all.Incl(1, 3)
		if err != nil || world.Rank()%2 == 0 {
			return err
		}
		c, err := world.CreateGroup(odd, 0)
		if err != nil {
			return err
		}
		if world.Rank() == 3 {
			fmt.Println(c.Rank(), "of", c.Size(), all.Difference(odd).WorldRanks())
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 1 of 2 [0 2]
}

// The first rank of one group sends a value to all ranks of the other group.
func ExampleComm_CreateInter_bcast() {
	err := mpi.Run(4, func(world *mpi.Comm) error {
		high := world.Rank() / 2
		half, err := world.Split(high, 0)
		if err != nil {
			return err
		}
		both, err := half.CreateInter(0, world, 2-2*high, 1)
		if err != nil {
			return err
		}
		buf, root := []int{0}, 0
		switch world.Rank() {
		case 0:
			buf[0], root = 7, mpi.Root
		case 1:
			root = mpi.ProcNull
		}
		if err := mpi.Bcast(both, buf, root); err != nil {
			return err
		}
		if world.Rank() == 3 {
			fmt.Println(buf[0])
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 7
}
