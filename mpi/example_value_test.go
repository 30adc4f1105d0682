package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golci/golci/mpi"
)

// Rank 0 reads a configuration and gives it to all.
func ExampleBcastValue() {
	type config struct {
		Name  string
		Steps map[string]int
	}
	err := mpi.Run(3, func(c *mpi.Comm) error {
		var mine config
		if c.Rank() == 0 {
			mine = config{"run 7", map[string]int{"warm up": 10}}
		}
		got, err := mpi.BcastValue(c, mine, 0)
		if c.Rank() == 2 {
			fmt.Println(got.Name, got.Steps)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// run 7 map[warm up:10]
	// <nil>
}

// All ranks learn how long the slowest took, and what each has to say.
func ExampleAllreduceOne() {
	err := mpi.Run(3, func(c *mpi.Comm) error {
		slowest, err := mpi.AllreduceOne(c, 1.5*float64(c.Rank()), mpi.Max)
		if err != nil {
			return err
		}
		words, err := mpi.AllgatherValue(c, fmt.Sprint("rank ", c.Rank()))
		if c.Rank() == 0 {
			fmt.Println(slowest, words)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 3 [rank 0 rank 1 rank 2]
	// <nil>
}

// Each rank finds a number of results; all get all of them.
func ExampleAllgathervAlloc() {
	err := mpi.Run(3, func(c *mpi.Comm) error {
		all, counts, err := mpi.AllgathervAlloc(c, make([]int, c.Rank()))
		if c.Rank() == 0 {
			fmt.Println(len(all), counts)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 3 [0 1 2]
	// <nil>
}

// Each rank finds a number of results; rank 0 gets all of them.
func ExampleGathervAlloc() {
	err := mpi.Run(3, func(c *mpi.Comm) error {
		all, counts, err := mpi.GathervAlloc(c, slices.Repeat([]int{c.Rank()}, c.Rank()), 0)
		if c.Rank() == 0 {
			fmt.Println(all, counts)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [1 2 2] [0 1 2]
	// <nil>
}

// Each rank sends r numbers to rank r, which does not know how many come.
func ExampleAlltoallvAlloc() {
	err := mpi.Run(3, func(c *mpi.Comm) error {
		got, counts, err := mpi.AlltoallvAlloc(c, slices.Repeat([]int{c.Rank()}, 3), []int{0, 1, 2})
		if c.Rank() == 2 {
			fmt.Println(got, counts)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [0 0 1 1 2 2] [2 2 2]
	// <nil>
}

// Each rank has counted words; all get the counts of all.
func ExampleAllreduceValue() {
	err := mpi.Run(3, func(c *mpi.Comm) error {
		words := map[string]int{"the": 1 + c.Rank(), fmt.Sprint("rank ", c.Rank()): 1}
		all, err := mpi.AllreduceValue(c, words, func(a, b map[string]int) map[string]int {
			for word, n := range b {
				a[word] += n
			}
			return a
		})
		if c.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// map[rank 0:1 rank 1:1 rank 2:1 the:6]
	// <nil>
}

// A receive that waits for no longer than a context allows. So do all calls on the view.
func ExampleComm_WithContext() {
	err := mpi.Run(1, func(c *mpi.Comm) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		_, err := mpi.Recv(c.WithContext(ctx), []int{0}, mpi.AnySource, mpi.AnyTag)
		fmt.Println(errors.Is(err, mpi.ErrCancelled), errors.Is(err, context.DeadlineExceeded))
		return nil
	})
	fmt.Println(err)
	// Output:
	// true true
	// <nil>
}
