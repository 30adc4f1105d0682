// Hello sends a greeting from every rank to rank 0.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/golci/golci/mpi"
)

func main() {
	p, err := mpi.Init()
	if err == nil {
		if err = hello(p.World(), os.Stdout); err == nil {
			err = p.Finalize()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hello sends a greeting to rank 0, which writes all of them to w by rank.
func hello(c *mpi.Comm, w io.Writer) error {
	const tag = 0
	greeting := fmt.Sprintf("hello from rank %d of %d\n", c.Rank(), c.Size())
	if c.Rank() != 0 {
		return mpi.Send(c, []byte(greeting), 0, tag)
	}
	fmt.Fprint(w, greeting)
	for from := 1; from < c.Size(); from++ {
		text, _, err := mpi.RecvAlloc[byte](c, from, tag)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s", text)
	}
	return nil
}
