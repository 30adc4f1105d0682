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

// reportEvery is the time between two lines of a flood.
const reportEvery = time.Second

// flood sends from the lower rank of a pair to the upper one until ctx of either ends. Each rank tells its partner of the end
// once; the lower one then closes every thread's stream with a message one byte longer than the others.
func flood(ctx context.Context, c *mpi.Comm, o options, partner int, w io.Writer) error {
	f := &flow{c: c, partner: partner, size: o.size}
	watched := make(chan error, 1)
	go func() { watched <- f.watch(ctx, o.threads) }()
	done := make(chan struct{})
	counted := make(chan error, 1)
	go func() { counted <- f.count(done, w) }()
	work := f.send
	if c.Rank() > partner {
		work = f.recv
	}
	err := rank.Threads(c.Proc(), o.threads, func(_ *rank.Team, _ *fult.Thread, i int) error { return work(i) })
	close(done)
	return errors.Join(err, <-watched, <-counted)
}

// flow is one rank's side of a flood.
type flow struct {
	c       *mpi.Comm
	partner int
	size    int
	stop    atomic.Bool  // the senders shall end; set by watch
	got     atomic.Int64 // messages received, by all threads
}

// watch waits until ctx ends or the partner says that its own has, and passes that on, under the tag after the threads'.
func (f *flow) watch(ctx context.Context, tag int) error {
	word, err := mpi.Irecv(f.c, []byte(nil), f.partner, tag)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-word.Done():
	}
	f.stop.Store(true)
	err = mpi.Send(f.c, []byte(nil), f.partner, tag)
	_, e := word.Wait()
	return errors.Join(err, e)
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

// count prints what has been received, again and again until done, and then the total. The lower rank has nothing to say.
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
