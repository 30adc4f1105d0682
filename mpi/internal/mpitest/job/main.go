// Job executes random programs of MPI on the ranks of a job, and prints the digest of each. Threads are of all kinds in
// turn. The arguments are the seed, and the number of programs.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/golci/golci/mpi"
	"github.com/golci/golci/mpi/internal/mpitest"
)

func main() {
	p, err := mpi.Init()
	if err == nil {
		if err = execute(p.World(), os.Args[1:]); err == nil {
			err = p.Finalize()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// execute carries out the programs that args name.
func execute(c *mpi.Comm, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%d arguments, want a seed and a number of programs", len(args))
	}
	seed, err := strconv.ParseUint(args[0], 10, 64)
	programs, bad := strconv.Atoi(args[1])
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	for i := range programs {
		p := mpitest.Make(seed+uint64(i), c.Size(), 2, 15)
		digest, err := mpitest.Execute(c, p, mpitest.Threads(i%3))
		if err != nil {
			return err
		}
		fmt.Printf("program %d rank %d digest %x\n", i, c.Rank(), digest)
	}
	return nil
}
