package jobtest

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/golci/golci/mpi"
)

const rounds = 100

// shared is written by both threads of rank 0.
var shared int

// plantedWord is the first argument that makes the test binary a job whose rank 0 has a data race between two threads.
// With mendedWord after it there is none.
const (
	plantedWord = "planted"
	mendedWord  = "mended"
)

func plantedMain(args []string) {
	work := careless
	if slices.Contains(args, mendedWord) {
		work = careful
	}
	if err := mpi.Run(2, func(c *mpi.Comm) error { return twoThreads(c, work) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("done")
	os.Exit(0)
}

func twoThreads(c *mpi.Comm, work func(c *mpi.Comm, tag int)) error {
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
			mustNot(receive(c, token, 0, 1))
		}
		shared++
		mustNot(mpi.Send(c, token, 0, 1-tag))
		if tag == 0 {
			mustNot(receive(c, token, 0, 0))
		}
	}
}

func exchange(c *mpi.Comm, tag int) {
	_, err := mpi.Sendrecv(c, []int{1}, 1-c.Rank(), tag, []int{0}, 1-c.Rank(), tag)
	mustNot(err)
}

func receive(c *mpi.Comm, buf []int, from, tag int) error {
	_, err := mpi.Recv(c, buf, from, tag)
	return err
}

func mustNot(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
