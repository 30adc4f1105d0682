// Workers has rank 0 hand out tasks to the other ranks, and goes on without workers that die:
//
//	golci run -survive -n 4 ./examples/workers -crash 2
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/golci/golci/mpi"
)

var (
	tasks = flag.Int("tasks", 100, "number of `tasks`")
	crash = flag.Int("crash", 0, "`rank` of a worker that kills itself while it has a task; 0: none")
)

func main() {
	flag.Parse()
	p, err := mpi.Init()
	if err != nil {
		log.Fatal(err)
	}
	if err := run(p.World(), *tasks, *crash, os.Stdout); err != nil {
		log.Fatal(p.Abort(1, err))
	}
	if err := p.Finalize(); err != nil {
		log.Fatal(err)
	}
}

// run returns when all tasks are done and the living ranks know of each other. Rank 0 writes the result to w.
func run(c *mpi.Comm, tasks, crash int, w io.Writer) error {
	if c.Size() < 2 {
		return errors.New("there are no workers: start at least two ranks")
	}
	var err error
	if c.Rank() == 0 {
		m := newMaster(c, tasks)
		if err = m.run(); err == nil {
			_, err = fmt.Fprintf(w, "%d tasks, sum %d, %d of %d workers have died\n", tasks, m.sum, len(m.dead), c.Size()-1)
		}
	} else {
		err = work(c, c.Rank() == crash)
	}
	if err != nil {
		return err
	}
	rest, err := c.Shrink() // so that Finalize does not wait for the dead
	if err != nil {
		return err
	}
	return rest.Free()
}
