package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// absent runs f at rank 0 while rank 1 does nothing for its rank: it does not poll. Then after runs at rank 1.
func absent(t *testing.T, f, after func(c *Comm) error, opts ...Option) {
	t.Helper()
	back := make(chan struct{})
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			defer close(back)
			return f(c)
		}
		<-back
		return after(c)
	}, opts...)
}

// soon is a context that ends by itself, and ended one that has.
func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 5*time.Millisecond)
}

// timedOut checks the error of a call whose context has ended.
func timedOut(what string, err error) error {
	if !errors.Is(err, ErrCancelled) || !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %v", what, err)
	}
	return nil
}

// TestSendContextInTime: a send with a time limit ends although its receiver does nothing. Its buffer is the caller's
// at once. The receiver gets the message as it was or not at all.
func TestSendContextInTime(t *testing.T) {
	for _, size := range []int{100_000, 8 << 20} {
		for _, conduit := range []string{"local", "udp"} {
			t.Run(fmt.Sprintf("%s, %d bytes", conduit, size), func(t *testing.T) {
				absent(t, func(c *Comm) error {
					ctx, cancel := soon()
					defer cancel()
					b := pattern(size, 0, 1, 3)
					if err := timedOut("SendContext", SendContext(ctx, c, b, 1, 3)); err != nil {
						return err
					}
					clear(b)
					return everyWay(c, func(way int) error {
						ctx, cancel := soon()
						defer cancel()
						return timedOut("Ssend", Ssend(c.WithContext(ctx), []int{1}, 1, 100+way))
					})
				}, func(c *Comm) error {
					b := make([]byte, size)
					ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
					defer cancel()
					if _, err := RecvContext(ctx, c, b, 0, 3); err != nil {
						return timedOut("RecvContext", err)
					}
					return checkPattern(b, 0, 1, 3)
				}, With("GOLCI_CONDUIT", conduit))
			})
		}
	}
}
