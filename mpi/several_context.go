package mpi

import (
	"context"
	"errors"
)

// WaitallContext is Waitall that ends when ctx ends. It then ends the operations that are not done, as WaitContext
// does: with ErrCancelled, or with ErrPending for one that stays as it is. It returns in time, whatever other ranks
// do, but for a receive of a view whose bytes are under way: see WithContext.
func WaitallContext(ctx context.Context, rs []Request, st []Status) error {
	if st != nil && len(st) != len(rs) {
		return statusesError("WaitallContext", len(rs), len(st))
	}
	ctx = orNone(ctx)
	var errs []error
	for i := range rs {
		s, c := empty, rs[i].c
		if c != nil {
			var err error
			if s, err = rs[i].waitContext(ctx); err != nil {
				errs = append(errs, c.opError(nth("WaitallContext", i), err))
			}
		}
		if st != nil {
			st[i] = s
		}
	}
	return errors.Join(errs...)
}

// WaitanyContext is Waitany that also returns when ctx ends. The index is then Undefined, and the error is ErrPending
// with the cause of ctx. The requests stay as they are.
func WaitanyContext(ctx context.Context, rs []Request) (int, Status, error) {
	return waitany(orNone(ctx), "WaitanyContext", rs)
}

// WaitsomeContext is Waitsome that also returns when ctx ends. The lists are then nil, and the error is ErrPending
// with the cause of ctx. The requests stay as they are.
func WaitsomeContext(ctx context.Context, rs []Request) ([]int, []Status, error) {
	return waitsome(orNone(ctx), "WaitsomeContext", rs)
}
