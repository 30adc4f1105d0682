// Command mixed is the Go rank of a job whose other ranks are programs in C and Python: they add up their ranks, and
// each sends the next one a number.
package main

import (
	"fmt"
	"os"

	"github.com/golci/golci/mpi"
)

func main() {
	p, err := mpi.Init()
	if err == nil {
		if err = exchange(p.World()); err == nil {
			err = p.Finalize()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func exchange(c *mpi.Comm) error {
	sum, from, n := []int32{0}, []int32{0}, c.Size()
	if err := mpi.Allreduce(c, []int32{int32(c.Rank()) + 1}, sum, mpi.Sum); err != nil {
		return err
	}
	before, next := (c.Rank()+n-1)%n, (c.Rank()+1)%n
	if _, err := mpi.Sendrecv(c, []int32{int32(10 * c.Rank())}, next, 4, from, before, 4); err != nil {
		return err
	}
	fmt.Printf("Go: sum %d, from the rank before %d\n", sum[0], from[0])
	return nil
}
