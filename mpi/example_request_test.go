package mpi_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/golci/golci/mpi"
)

// Persistent requests keep the arguments of sends and receives that a loop makes again and again.
func ExampleSendInit() {
	err := mpi.Run(2, func(c *mpi.Comm) error {
		peer := 1 - c.Rank()
		out, in := []int{c.Rank()}, []int{0}
		recv, err := mpi.RecvInit(c, in, peer, 0)
		send, err2 := mpi.SendInit(c, out, peer, 0)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		rs := []mpi.Request{recv, send}
		for range 3 {
			if err := errors.Join(mpi.StartAll(rs), mpi.Waitall(rs, nil)); err != nil {
				return err
			}
			out[0] += in[0]
		}
		if c.Rank() == 0 {
			fmt.Println(out[0])
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 4
}

// A rank handles what comes from the others in the order in which it comes.
func ExampleCompletions() {
	err := mpi.Run(4, func(c *mpi.Comm) error {
		if c.Rank() > 0 {
			return mpi.Send(c, []int{c.Rank()}, 0, 0)
		}
		in, rs := make([]int, 4), make([]mpi.Request, 4)
		for i := 1; i < 4; i++ {
			var err error
			if rs[i], err = mpi.Irecv(c, in[i:i+1], i, 0); err != nil {
				return err
			}
		}
		sum := 0
		for i, r := range mpi.Completions(rs) {
			if r.Err != nil {
				return r.Err
			}
			sum += in[i]
		}
		fmt.Println(sum)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 6
}
