package mpi

import (
	"context"

	"github.com/golci/golci/mpi/internal/core"
)

// Waitall waits until all of rs are done and makes them null (3.7.5). st takes their statuses. It is nil or as long as
// rs, else ErrCount. It may switch threads. The error joins those of the operations, each with its index, and
// ErrRequest for a request that has been waited for already.
func Waitall(rs []Request, st []Status) error {
	return core.Waitall(context.Background(), "Waitall", cores(rs), below(st))
}

// WaitallContext is Waitall that ends when ctx ends. It then ends the operations that are not done, as WaitContext
// does: with ErrCancelled, or with ErrPending for one that stays as it is. It returns in time, whatever other ranks
// do, but for a receive of a view whose bytes are under way: see WithContext.
func WaitallContext(ctx context.Context, rs []Request, st []Status) error {
	return core.Waitall(core.OrNone(ctx), "WaitallContext", cores(rs), below(st))
}

// Waitany waits until one of rs is done, makes it null, and gives its index and status (3.7.5). When all are null, the
// index is Undefined. It may switch threads. Errors as for Request.Wait.
func Waitany(rs []Request) (int, Status, error) { return waitany(context.Background(), "Waitany", rs) }

// WaitanyContext is Waitany that also returns when ctx ends. The index is then Undefined, and the error is ErrPending
// with the cause of ctx. The requests stay as they are.
func WaitanyContext(ctx context.Context, rs []Request) (int, Status, error) {
	return waitany(core.OrNone(ctx), "WaitanyContext", rs)
}

func waitany(ctx context.Context, what string, rs []Request) (int, Status, error) {
	i, st, err := core.Waitany(ctx, what, cores(rs))
	return i, face(st), err
}

// Waitsome waits until at least one of rs is done. It gives the indices and statuses of all that are done, and makes
// these null (3.7.5). When all are null the lists are nil. It may switch threads. Errors as for Waitall.
func Waitsome(rs []Request) ([]int, []Status, error) {
	return some(core.Waitsome(context.Background(), "Waitsome", cores(rs)))
}

// WaitsomeContext is Waitsome that also returns when ctx ends. The lists are then nil, and the error is ErrPending
// with the cause of ctx. The requests stay as they are.
func WaitsomeContext(ctx context.Context, rs []Request) ([]int, []Status, error) {
	return some(core.Waitsome(core.OrNone(ctx), "WaitsomeContext", cores(rs)))
}

// some is what a call returns that finds several requests done.
func some(is []int, list []core.Status, err error) ([]int, []Status, error) {
	if list == nil {
		return is, nil, err
	}
	sts := make([]Status, len(list))
	for i, st := range list {
		sts[i] = face(st)
	}
	return is, sts, err
}

// Testall polls once and reports whether all of rs are done. Only then they become null, and st takes their statuses
// (3.7.5). st is nil or as long as rs. It does not block. Errors as for Waitall.
func Testall(rs []Request, st []Status) (bool, error) { return core.Testall(cores(rs), below(st)) }

// Testany polls once and reports whether one of rs is done. It makes that null, and gives its index and status (3.7.5).
// When all are null it is true with index Undefined. It does not block. Errors as for Request.Wait.
func Testany(rs []Request) (int, Status, bool, error) {
	i, st, ok, err := core.Testany(cores(rs))
	return i, face(st), ok, err
}

// Testsome is Waitsome that polls once and does not block: the lists may be empty (3.7.5).
func Testsome(rs []Request) ([]int, []Status, error) { return some(core.Testsome(cores(rs))) }
