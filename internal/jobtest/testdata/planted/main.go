// Planted has a data race between two threads of one rank. With the argument "mended" it has none.
package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/golci/golci/mpi"
)

const rounds = 100

// shared is written by both threads of rank 0.
var shared int

func main() {
	if err := mpi.Run(2, rank); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("done")
}

func rank(c *mpi.Comm) error {
	work := careless
	if len(os.Args) > 1 {
		work = careful
	}
	// No thread goes on before the other has begun: what a thread does at its end may order it before one that begins
	// later.
	var begun sync.WaitGroup
	begun.Add(2)
	return c.Proc().Parallel(2, func(tag int) error {
		begun.Done()
		begun.Wait()
		work(c, tag)
		return nil
	})
}

// careless exchanges messages under its own tag, which do not order it with the other thread.
func careless(c *mpi.Comm, tag int) {
	for range rounds {
		if c.Rank() == 0 {
			shared++
		}
		exchange(c, tag)
	}
}

// careful has the two threads of rank 0 take turns: each waits for a message that the other has sent after its write.
func careful(c *mpi.Comm, tag int) {
	if c.Rank() != 0 {
		return
	}
	token := []int{0}
	for range rounds {
		if tag == 1 {
			check(receive(c, token, 0, 1))
		}
		shared++
		check(mpi.Send(c, token, 0, 1-tag))
		if tag == 0 {
			check(receive(c, token, 0, 0))
		}
	}
}

func exchange(c *mpi.Comm, tag int) {
	_, err := mpi.Sendrecv(c, []int{1}, 1-c.Rank(), tag, []int{0}, 1-c.Rank(), tag)
	check(err)
}

func receive(c *mpi.Comm, buf []int, from, tag int) error {
	_, err := mpi.Recv(c, buf, from, tag)
	return err
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
