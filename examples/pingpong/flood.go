package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

const reportEvery = time.Second

// flood sends from the lower rank of a pair to the upper one until ctx of either ends, which tells its partner. The
// lower rank then closes every thread's stream with a message one byte longer than the others.
func flood(ctx context.Context, c *mpi.Comm, o options, partner int, w io.Writer) error {
	f := &flow{c: c, partner: partner, size: o.size, word: o.threads}
	f.ctx, f.end = context.WithCancel(ctx)
	defer f.end()
	done, counted := make(chan struct{}), make(chan error, 1)
	go func() { counted <- f.count(done, w) }()
	work := f.send
	if c.Rank() > partner {
		work = f.recv
	}
	err := rank.Threads(c.Proc(), o.threads+2, func(_ *rank.Team, me *fult.Thread, i int) error {
		switch i {
		case o.threads:
			return f.listen()
		case o.threads + 1:
			return f.tell(me)
		default:
			return work(i)
		}
	})
	close(done)
	return errors.Join(err, <-counted)
}

// flow is one rank's side of a flood.
type flow struct {
	c       *mpi.Comm
	partner int
	size    int
	word    int             // tag of the word that the flood ends
	ctx     context.Context // of this flood
	end     func()          // ends ctx
	stop    atomic.Bool     // the senders shall end; set by tell
	got     atomic.Int64    // messages received, by all threads
}

// listen is the thread that waits for the partner's word.
func (f *flow) listen() error {
	defer f.end()
	_, err := mpi.Recv(f.c, []byte(nil), f.partner, f.word)
	return err
}

// tell is the thread that waits for the end, whoever wants it, and gives the partner the word.
func (f *flow) tell(me *fult.Thread) error {
	fult.Recv(me, f.ctx.Done())
	f.stop.Store(true)
	return mpi.Send(f.c, []byte(nil), f.partner, f.word)
}

// send is a thread of the lower rank.
func (f *flow) send(i int) error {
	buf := make([]byte, f.size+1)
	for round := 0; !f.stop.Load(); round++ {
		stamp(buf[:f.size], i+round)
		if err := mpi.Send(f.c, buf[:f.size], f.partner, i); err != nil {
			return err
		}
	}
	return mpi.Send(f.c, buf, f.partner, i)
}

// recv is a thread of the upper rank.
func (f *flow) recv(i int) error {
	buf := make([]byte, f.size+1)
	for round := 0; ; round++ {
		st, err := mpi.Recv(f.c, buf, f.partner, i)
		switch {
		case err != nil:
			return err
		case st.Bytes() == int64(f.size+1):
			return nil
		case st.Bytes() != int64(f.size) || !stamped(buf[:f.size], i+round):
			return fmt.Errorf("rank %d, thread %d, round %d: got a wrong message of %d bytes from rank %d",
				f.c.Rank(), i, round, st.Bytes(), f.partner)
		}
		f.got.Add(1)
	}
}

// count prints what has been received, again and again until done, and then the total. The lower rank prints nothing.
func (f *flow) count(done <-chan struct{}, w io.Writer) error {
	if f.c.Rank() < f.partner {
		return nil
	}
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	begin, at, before := time.Now(), time.Now(), int64(0)
	for {
		select {
		case <-done:
			total := f.got.Load()
			_, err := fmt.Fprintf(w, "rank %d to %d: %d messages in all, %.0f messages/s\n",
				f.partner, f.c.Rank(), total, float64(total)/time.Since(begin).Seconds())
			return err
		case now := <-tick.C:
			got := f.got.Load()
			fmt.Fprintf(w, "rank %d to %d: %.0f messages/s\n",
				f.partner, f.c.Rank(), float64(got-before)/now.Sub(at).Seconds())
			at, before = now, got
		}
	}
}
