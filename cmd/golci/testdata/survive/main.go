// Survive loses rank 2 and adds up the numbers of the others.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/golci/golci/mpi"
)

func main() {
	p, err := mpi.Init()
	if err == nil {
		err = errors.Join(survive(p.World()), p.Finalize())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func survive(c *mpi.Comm) error {
	if c.Rank() == 2 {
		self, err := os.FindProcess(os.Getpid())
		return errors.Join(err, self.Kill(), c.Barrier())
	}
	_, err := mpi.AllreduceOne(c, 1, mpi.Sum)
	if !errors.Is(err, mpi.ErrPeer) && !errors.Is(err, mpi.ErrRevoked) {
		return fmt.Errorf("no death has been noticed: %w", err)
	}
	if err := c.Revoke(); err != nil {
		return err
	}
	rest, err := c.Shrink()
	if err != nil {
		return err
	}
	sum, err := mpi.AllreduceOne(rest, 1, mpi.Sum)
	if rest.Rank() == 0 {
		fmt.Println(sum, "went on")
	}
	return err
}
