package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestViewEndsEveryCall: each waiting call of a view ends with its context, called from each kind of thread, and the
// communicator works afterwards.
func TestViewEndsEveryCall(t *testing.T) {
	big := make([]byte, 1<<20)
	calls := map[string]func(v *Comm, tag int) error{
		"Recv":     func(v *Comm, tag int) error { return second(Recv(v, one(), 1, tag)) },
		"wildcard": func(v *Comm, tag int) error { return second(Recv(v, one(), AnySource, tag)) },
		"RecvAlloc": func(v *Comm, tag int) error {
			_, _, err := RecvAlloc[int](v, 1, tag)
			return err
		},
		"RecvValue": func(v *Comm, tag int) error { _, _, err := RecvValue[string](v, 1, tag); return err },
		"Send":      func(v *Comm, tag int) error { return Send(v, big, 1, tag) },
		"Ssend":     func(v *Comm, tag int) error { return Ssend(v, one(), 1, tag) },
		"SendValue": func(v *Comm, tag int) error { return SendValue(v, big, 1, tag) },
		"Sendrecv":  func(v *Comm, tag int) error { return second(Sendrecv(v, one(), 1, tag, one(), 1, tag)) },
		"Probe":     func(v *Comm, tag int) error { return second(v.Probe(1, tag)) },
		"Mprobe":    func(v *Comm, tag int) error { return second(v.Mprobe(AnySource, tag)) },
		"Wait": func(v *Comm, tag int) error {
			r, err := Irecv(v, one(), 1, tag)
			if err == nil {
				_, err = r.Wait()
			}
			return err
		},
		"Done": func(v *Comm, tag int) error {
			r, err := Irecv(v, one(), 1, tag)
			if err == nil {
				r.Done()
				_, err = r.Wait()
			}
			return err
		},
		"Waitall": func(v *Comm, tag int) error {
			r, err := Irecv(v, one(), 1, tag)
			if err != nil {
				return err
			}
			q, err := Issend(v, one(), 1, tag)
			if err != nil {
				return err
			}
			return Waitall([]Request{r, q}, nil)
		},
		"Waitany": func(v *Comm, tag int) error {
			r, err := Irecv(v, one(), 1, tag)
			if err == nil {
				_, _, err = Waitany([]Request{{}, r})
			}
			return err
		},
		"Waitsome": func(v *Comm, tag int) error {
			r, err := Irecv(v, one(), 1, tag)
			if err == nil {
				_, _, err = Waitsome([]Request{r})
			}
			return err
		},
	}
	absent(t, func(c *Comm) error {
		return everyWay(c, func(way int) error {
			tag := 1000 * way
			for name, call := range calls {
				tag++
				ctx, cancel := soon()
				err := timedOut(name, call(c.WithContext(ctx), tag))
				if err == nil { // once more, on a context that has ended
					err = timedOut(name+" late", call(c.WithContext(ctx), tag))
				}
				cancel()
				if err != nil {
					return err
				}
			}
			return nil
		})
	}, func(*Comm) error { return nil })
}

// TestNilContext is an error.
func TestNilContext(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		var none context.Context
		r, err := Irecv(c, one(), 0, 0)
		if err != nil {
			return err
		}
		_, waited := r.WaitContext(none)
		_, _, anyErr := WaitanyContext(none, []Request{r})
		if err := r.Cancel(); err != nil {
			return err
		}
		_, cancelled := r.Wait()
		return errors.Join(
			wants(ErrArgument, SendContext(none, c, one(), 0, 0)),
			wants(ErrArgument, second(RecvContext(none, c, one(), 0, 0))),
			wants(ErrArgument, second(Recv(c.WithContext(none), one(), 0, 0))),
			wants(ErrArgument, waited), wants(ErrArgument, anyErr), wants(ErrCancelled, cancelled),
		)
	})
}

// TestWaitManyContext: waits for many end in time. What can be ended is, and the rest stays to be waited for.
func TestWaitManyContext(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		peer := 1 - c.Rank()
		r, e1 := Irecv(c, one(), peer, 1)
		q, e2 := Irecv(c, one(), peer, 2)
		if err := errors.Join(e1, e2); err != nil {
			return err
		}
		rs := []Request{r, q}
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		i, _, err := WaitanyContext(ctx, rs)
		is, _, err2 := WaitsomeContext(ctx, rs)
		if i != Undefined || is != nil || !errors.Is(err, ErrPending) || !errors.Is(err2, context.DeadlineExceeded) {
			return fmt.Errorf("%d %v, %v %v", i, err, is, err2)
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		if err := Send(c, one(), peer, 1); err != nil {
			return err
		}
		if i, _, err := WaitanyContext(context.Background(), rs); i != 0 || err != nil {
			return fmt.Errorf("%d %v", i, err)
		}
		st := make([]Status, 2)
		if err := timedOut("WaitallContext", WaitallContext(ctx, rs, st)); err != nil {
			return err
		}
		if !st[1].Cancelled() || !rs[1].Null() {
			return fmt.Errorf("%+v %v", st, rs)
		}
		return nil
	})
}
