// Ring passes a token from rank to rank; each rank adds its own number.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/golci/golci/mpi"
)

func main() {
	p, err := mpi.Init()
	if err != nil {
		log.Fatal(err)
	}
	if err := ring(p.World(), os.Stdout); err != nil {
		log.Fatal(p.Abort(1, err)) // ends the other ranks, too
	}
	if err := p.Finalize(); err != nil {
		log.Fatal(err)
	}
}

// ring returns when the token has come by this rank. Rank 0 writes the sum to w.
func ring(c *mpi.Comm, w io.Writer) error {
	const tag = 0
	right := (c.Rank() + 1) % c.Size()
	left := (c.Rank() + c.Size() - 1) % c.Size()
	token := []int{0}
	if c.Rank() == 0 {
		var sum [1]int
		if _, err := mpi.Sendrecv(c, token, right, tag, sum[:], left, tag); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "%d ranks, sum %d\n", c.Size(), sum[0])
		return err
	}
	if _, err := mpi.Recv(c, token, left, tag); err != nil {
		return err
	}
	token[0] += c.Rank()
	return mpi.Send(c, token, right, tag)
}
