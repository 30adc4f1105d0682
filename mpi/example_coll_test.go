package mpi_test

import (
	"fmt"

	"github.com/golci/golci/mpi"
)

// run makes n ranks and prints what went wrong, if anything did.
func run(n int, f func(c *mpi.Comm) error) {
	if err := mpi.Run(n, f); err != nil {
		fmt.Println(err)
	}
}

// Rank 0 has read the settings; the others learn them.
func ExampleBcast() {
	run(3, func(c *mpi.Comm) error {
		settings := make([]float64, 2) // equally long everywhere
		if c.Rank() == 0 {
			copy(settings, []float64{0.5, 1e-9})
		}
		if err := mpi.Bcast(c, settings, 0); err != nil {
			return err
		}
		if c.Rank() == 2 {
			fmt.Println(settings)
		}
		return nil
	})
	// Output: [0.5 1e-09]
}

// Rank 0 deals the work out and collects the results.
func ExampleScatter() {
	run(4, func(c *mpi.Comm) error {
		var work, results []int
		if c.Rank() == 0 {
			work, results = []int{1, 2, 3, 4, 5, 6, 7, 8}, make([]int, 8)
		}
		mine := make([]int, 2)
		if err := mpi.Scatter(c, work, mine, 0); err != nil {
			return err
		}
		for i, x := range mine {
			mine[i] = x * x
		}
		if err := mpi.Gather(c, mine, results, 0); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(results)
		}
		return nil
	})
	// Output: [1 4 9 16 25 36 49 64]
}

// Parts of different lengths: rank r gives r numbers, and every rank gets all of them.
func ExampleAllgatherv() {
	run(3, func(c *mpi.Comm) error {
		mine := make([]int, c.Rank())
		for i := range mine {
			mine[i] = 10*c.Rank() + i
		}
		counts := []int{0, 1, 2}
		all := make([]int, 3)
		if err := mpi.Allgatherv(c, mine, all, counts, nil); err != nil {
			return err
		}
		if c.Rank() == 1 {
			fmt.Println(all)
		}
		return nil
	})
	// Output: [10 20 21]
}

// Each rank has a list of its own. A scan tells where it begins if they lie one behind the other.
func ExampleScan() {
	run(3, func(c *mpi.Comm) error {
		mine := make([]string, 2+c.Rank())
		end := make([]int, 1)
		if err := mpi.Scan(c, []int{len(mine)}, end, mpi.Sum); err != nil {
			return err
		}
		if c.Rank() == 2 {
			fmt.Println(end[0]-len(mine), "to", end[0])
		}
		return nil
	})
	// Output: 5 to 9
}

// Each rank has counted for all, and gets the sums of its own part: one number at rank 0, two at rank 1.
func ExampleReduceScatter() {
	run(2, func(c *mpi.Comm) error {
		counted := []int{1, 10, 100}
		counts := []int{1, 2}
		sums := make([]int, counts[c.Rank()])
		if err := mpi.ReduceScatter(c, counted, sums, counts, mpi.Sum); err != nil {
			return err
		}
		if c.Rank() == 1 {
			fmt.Println(sums)
		}
		return nil
	})
	// Output: [20 200]
}

// The largest value, and the rank that has it.
func ExampleMaxLoc() {
	run(4, func(c *mpi.Comm) error {
		values := []float64{2.5, 7.25, -1, 7}
		mine := []mpi.Loc[float64]{{Value: values[c.Rank()], Index: c.Rank()}}
		top := make([]mpi.Loc[float64], 1)
		if err := mpi.Reduce(c, mine, top, mpi.MaxLoc, 0); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Printf("%g at rank %d\n", top[0].Value, top[0].Index)
		}
		return nil
	})
	// Output: 7.25 at rank 1
}

// A reduction of one's own: the smallest interval that holds those of all ranks.
func ExampleFunc() {
	type interval struct{ Low, High int }
	hull := mpi.Func(func(a, b interval) interval {
		return interval{min(a.Low, b.Low), max(a.High, b.High)}
	}).Commutative()
	run(3, func(c *mpi.Comm) error {
		mine := []interval{{10 * c.Rank(), 10*c.Rank() + 5}}
		all := make([]interval, 1)
		if err := mpi.Allreduce(c, mine, all, hull); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(all[0])
		}
		return nil
	})
	// Output: {0 25}
}

// Six ranks as a grid of two rows and three columns: one communicator for each row.
func ExampleComm_Split() {
	run(6, func(c *mpi.Comm) error {
		row, err := c.Split(c.Rank()/3, c.Rank())
		if err != nil {
			return err
		}
		sum := make([]int, 1)
		if err := mpi.Allreduce(row, []int{c.Rank()}, sum, mpi.Sum); err != nil {
			return err
		}
		if c.Rank() == 3 {
			fmt.Printf("rank %d is rank %d of %d in its row, whose ranks sum to %d\n", c.Rank(), row.Rank(), row.Size(), sum[0])
		}
		return row.Free()
	})
	// Output: rank 3 is rank 0 of 3 in its row, whose ranks sum to 12
}

// Two threads of each rank use collectives at the same time, each on a communicator of its own.
func ExampleComm_Dup() {
	run(2, func(c *mpi.Comm) error {
		other, err := c.Dup()
		if err != nil {
			return err
		}
		sums := make([]int, 1)
		h, err := c.Proc().Go(func() {
			if err := mpi.Allreduce(other, []int{1}, sums, mpi.Sum); err != nil {
				panic(err)
			}
		})
		if err != nil {
			return err
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if err := h.Join(); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(sums[0])
		}
		return other.Free()
	})
	// Output: 2
}
