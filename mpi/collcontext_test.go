package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestCollectiveContext: a collective on a view ends with the view's context, whatever it waits in, and the others
// get an error.
func TestCollectiveContext(t *testing.T) {
	big := make([]float64, 100_000) // ranks only read it
	calls := map[string]func(c *Comm) error{
		"Barrier":   (*Comm).Barrier,
		"Bcast":     func(c *Comm) error { return Bcast(c, make([]float64, 3), 1) },
		"long":      func(c *Comm) error { return Bcast(c, make([]float64, len(big)), 0) },
		"Reduce":    func(c *Comm) error { return Reduce(c, big, make([]float64, len(big)), Sum, 0) },
		"Allreduce": func(c *Comm) error { return Allreduce(c, one(), one(), Sum) },
		"Alltoall":  func(c *Comm) error { return Alltoall(c, big[:30], make([]float64, 30)) },
		"Dup":       func(c *Comm) error { return second(c.Dup()) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			must(t, 3, func(c *Comm) error {
				return everyWayInTurn(c, func(d *Comm) error {
					if d.Rank() == 1 { // it comes when rank 0 has given up
						if _, err := Recv(d, one(), 0, 1); err != nil {
							return err
						}
						err := d.Barrier()
						return errors.Join(wants(ErrCollective, err), wants(ErrCancelled, err))
					}
					if d.Rank() == 2 {
						err := call(d)
						for err == nil {
							err = d.Barrier()
						}
						return wants(ErrCollective, err)
					}
					ctx, cancel := context.WithCancelCause(context.Background())
					errs := make(chan error, 1)
					go func() { errs <- call(d.WithContext(ctx)) }()
					for !d.core().Calling() {
						d.Proc().Server().Poll()
					}
					cancel(errBoom)
					err := <-errs
					if !errors.Is(err, ErrCancelled) || !errors.Is(err, errBoom) {
						return fmt.Errorf("%s: %w", name, err)
					}
					if err := Send(d, one(), 1, 1); err != nil {
						return err
					}
					return wants(ErrCollective, d.Barrier())
				})
			})
		})
	}
}
