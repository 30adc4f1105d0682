package main

import (
	"fmt"
	"io"
	"time"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

// bounce makes every thread pass a message to and fro; rank 0 prints the messages per second of all pairs together.
func bounce(c *mpi.Comm, o options, partner int, w io.Writer) error {
	if err := c.Barrier(); err != nil {
		return err
	}
	begin := time.Now()
	if partner != mpi.ProcNull {
		err := rank.Threads(c.Proc(), o.threads, func(_ *rank.Team, _ *fult.Thread, i int) error {
			return bounceThread(c, o, partner, i)
		})
		if err != nil {
			return err
		}
	}
	return report(c, o, time.Since(begin), w)
}

// bounceThread is thread i of a rank. The thread of the lower rank serves.
func bounceThread(c *mpi.Comm, o options, partner, i int) error {
	buf := make([]byte, o.size)
	for round := range o.count {
		if c.Rank() < partner {
			stamp(buf, i+round)
			if err := mpi.Send(c, buf, partner, i); err != nil {
				return err
			}
		}
		clear(buf)
		st, err := mpi.Recv(c, buf, partner, i)
		if err != nil {
			return err
		}
		if st.Bytes() != int64(o.size) || !stamped(buf, i+round) {
			return fmt.Errorf("rank %d, thread %d, round %d: got a wrong message of %d bytes from rank %d",
				c.Rank(), i, round, st.Bytes(), partner)
		}
		if c.Rank() > partner {
			if err := mpi.Send(c, buf, partner, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// stamp marks both ends of a message, so that one of another round or thread is noticed.
func stamp(buf []byte, mark int) {
	if len(buf) > 0 {
		buf[0], buf[len(buf)-1] = byte(mark), byte(mark)
	}
}

func stamped(buf []byte, mark int) bool {
	return len(buf) == 0 || buf[0] == byte(mark) && buf[len(buf)-1] == byte(mark)
}

// report collects the times of the ranks. The slowest counts.
func report(c *mpi.Comm, o options, took time.Duration, w io.Writer) error {
	var slowest [1]float64
	if err := mpi.Reduce(c, []float64{took.Seconds()}, slowest[:], mpi.Max, 0); err != nil {
		return err
	}
	if c.Rank() != 0 {
		return nil
	}
	pairs := c.Size() / 2
	messages := float64(2*pairs) * float64(o.threads) * float64(o.count)
	_, err := fmt.Fprintf(w, "%d pairs of ranks, %d threads each, %d bytes: %.0f messages/s\n",
		pairs, o.threads, o.size, messages/slowest[0])
	return err
}
