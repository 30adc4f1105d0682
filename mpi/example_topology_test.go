package mpi_test

import (
	"fmt"
	"log"

	"github.com/golci/golci/mpi"
)

// Ranks on a ring learn what their neighbours have.
func ExampleNeighborAllgather() {
	err := mpi.Run(4, func(world *mpi.Comm) error {
		ring, err := world.CreateCart([]int{4}, []bool{true}, true)
		if err != nil {
			return err
		}
		near := make([]int, 2)
		if err := mpi.NeighborAllgather(ring, []int{10 * ring.Rank()}, near); err != nil {
			return err
		}
		if ring.Rank() == 0 {
			fmt.Println(near)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [30 10]
}

// Each rank knows where its messages go, and learns where messages come from.
func ExampleComm_CreateDistGraph() {
	err := mpi.Run(3, func(world *mpi.Comm) error {
		r := world.Rank()
		graph, err := world.CreateDistGraph([]mpi.Edge{{From: r, To: 0}}, false)
		if err != nil {
			return err
		}
		from, to, err := graph.Neighbors()
		if r == 0 {
			fmt.Println(from, to)
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [0 1 2] [0]
}

// A library keeps a counter with each communicator that it is called with.
func ExampleNewKey() {
	calls := mpi.NewKey[int](nil, nil)
	err := mpi.Run(1, func(c *mpi.Comm) error {
		for range 3 {
			n, _, err := calls.Get(c)
			if err != nil {
				return err
			}
			if err := calls.Set(c, n+1); err != nil {
				return err
			}
		}
		n, _, err := calls.Get(c)
		fmt.Println(n)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 3
}

// A library makes its own communicator without being given one.
func ExampleProc_OpenSession() {
	err := mpi.Run(2, func(c *mpi.Comm) error {
		s, err := c.Proc().OpenSession()
		if err != nil {
			return err
		}
		all, err := s.Group(mpi.WorldSet)
		if err != nil {
			return err
		}
		own, err := s.CreateComm(all, "example.org/library")
		if err != nil {
			return err
		}
		if own.Rank() == 1 {
			fmt.Println("rank 1 of", own.Size())
		}
		if err := own.Free(); err != nil {
			return err
		}
		return s.Close()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: rank 1 of 2
}
