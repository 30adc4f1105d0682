package main

import (
	"errors"
	"os"

	"github.com/golci/golci/mpi"
)

// Tags: of a task and its result, and of the word that there are no more.
const (
	tagTask = iota
	tagResult
	tagEnd
)

// message is a task on its way to a worker, and then its result.
type message struct{ Task, Result int }

// work carries out tasks until rank 0 has no more. With crash the process dies in its second task.
func work(c *mpi.Comm, crash bool) error {
	var m [1]message
	for n := 1; ; n++ {
		st, err := mpi.Recv(c, m[:], 0, mpi.AnyTag)
		if err != nil || st.Tag == tagEnd {
			return err
		}
		if crash && n == 2 {
			self, err := os.FindProcess(os.Getpid())
			return errors.Join(err, self.Kill(), errors.New("it lives on"))
		}
		m[0].Result = m[0].Task * m[0].Task
		if err := mpi.Send(c, m[:], 0, tagResult); err != nil {
			return err
		}
	}
}
