package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestCancelRecv(t *testing.T) {
	for _, source := range []int{0, AnySource} {
		must(t, 1, func(c *Comm) error {
			r, err := Irecv(c, []int{0}, source, 7)
			if err != nil {
				return err
			}
			if err := r.Cancel(); err != nil {
				return err
			}
			st, err := r.Wait()
			if !errors.Is(err, ErrCancelled) || !st.Cancelled() {
				return fmt.Errorf("%+v %v", st, err)
			}
			// The message that comes later is for the next receive.
			if err := Send(c, []int{5}, 0, 7); err != nil {
				return err
			}
			in := []int{0}
			_, err = Recv(c, in, source, 7)
			if in[0] != 5 {
				return fmt.Errorf("got %v, %v", in, err)
			}
			return err
		})
	}
}

func TestCancelAfterMatch(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		in := []int{0}
		r, err := Irecv(c, in, 0, 7)
		if err != nil {
			return err
		}
		if err := Send(c, []int{5}, 0, 7); err != nil {
			return err
		}
		for !r.core().Ready() {
			c.Proc().Server().Poll()
		}
		if err := r.Cancel(); err != nil {
			return err
		}
		st, err := r.Wait()
		if err != nil || st.Cancelled() || in[0] != 5 {
			return fmt.Errorf("%+v %v %v", st, err, in)
		}
		return nil
	})
}

// TestCancelSend calls a synchronous send back whose receive never comes.
func TestCancelSend(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 1 {
			if _, err := Recv(c, []int{0}, 0, 1); err != nil { // answers the retraction meanwhile
				return err
			}
			if _, ok, err := c.Iprobe(0, 0); ok || err != nil {
				return fmt.Errorf("the message that was called back is still there: %v", err)
			}
			return nil
		}
		r, err := Issend(c, []int{1}, 1, 0)
		if err != nil {
			return err
		}
		if err := r.Cancel(); err != nil {
			return err
		}
		if st, err := r.Wait(); !errors.Is(err, ErrCancelled) || !st.Cancelled() {
			return fmt.Errorf("%+v %v", st, err)
		}
		return Send(c, []int{1}, 1, 1)
	})
}

func TestContexts(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		return everyWay(c, func(way int) error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel()
			_, err := RecvContext(ctx, c, []int{0}, 0, 10+way)
			if !errors.Is(err, ErrCancelled) || !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("receive: %v", err)
			}
			if _, err := RecvContext(ctx, c, []int{0}, 0, 10+way); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("receive after the end: %v", err)
			}
			if err := SendContext(ctx, c, []int{0}, 0, 10+way); !errors.Is(err, ErrCancelled) {
				return fmt.Errorf("send after the end: %v", err)
			}
			long, stop := context.WithCancel(context.Background())
			defer stop()
			if err := SendContext(long, c, []int{way}, 0, 20+way); err != nil {
				return err
			}
			in := []int{0}
			if _, err := RecvContext(long, c, in, 0, 20+way); err != nil || in[0] != way {
				return fmt.Errorf("receive: %v %v", in, err)
			}
			ctx2, cancel2 := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel2()
			err = SendContext(ctx2, c, make([]byte, 100_000), 0, 30+way)
			if !errors.Is(err, ErrCancelled) || !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("a long send that nobody takes: %v", err)
			}
			return nil
		})
	})
}

// TestCancelRace cancels receives at the moment their messages come: each message is received or left, never lost.
func TestCancelRace(t *testing.T) {
	const count = 300
	seed := source(t)
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			for i := range count {
				if err := Send(c, []int{i}, 1, 0); err != nil {
					return err
				}
			}
			return nil
		}
		rnd := random(seed, 0)
		for next := 0; next < count; {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rnd.IntN(40))*time.Microsecond)
			in := []int{0}
			_, err := RecvContext(ctx, c, in, 0, 0)
			cancel()
			if errors.Is(err, ErrCancelled) {
				continue
			}
			if err != nil || in[0] != next {
				return fmt.Errorf("got %d, want %d: %v", in[0], next, err)
			}
			next++
		}
		return nil
	})
}

func TestDone(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		in, never := []int{0}, []int{0}
		r, err := Irecv(c, in, 1-c.Rank(), 0)
		if err != nil {
			return err
		}
		q, err := Irecv(c, never, 1-c.Rank(), 1)
		if err != nil {
			return err
		}
		if err := Send(c, []int{5}, 1-c.Rank(), 0); err != nil {
			return err
		}
		select {
		case <-r.Done():
		case <-q.Done():
			return errors.New("the other request is done")
		}
		if _, err := r.Wait(); err != nil || in[0] != 5 {
			return fmt.Errorf("%v %v", in, err)
		}
		if err := q.Cancel(); err != nil {
			return err
		}
		<-q.Done()
		if _, err := q.Wait(); !errors.Is(err, ErrCancelled) {
			return err
		}
		var null Request
		<-null.Done()
		return inThread(c, func() error { // a watched request waited for by a light-weight thread
			r, err := Irecv(c, in, 1-c.Rank(), 2)
			if err != nil {
				return err
			}
			r.Done()
			if err := Send(c, []int{6}, 1-c.Rank(), 2); err != nil {
				return err
			}
			_, err = r.Wait()
			return err
		})
	})
}
