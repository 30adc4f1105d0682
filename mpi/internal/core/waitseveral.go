package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// reqs is scratch for waits on several requests.
var reqs = sync.Pool{New: func() any { return new([]comm.Req) }}

// await blocks until those of rs are done that one wait at srv can be for. It uses up none. Requests that a view has
// started, that are watched, or that belong to another rank of this process are left out.
func await(srv *comm.Server, rs []Request) {
	buf := reqs.Get().(*[]comm.Req)
	list := (*buf)[:0]
	for i := range rs {
		if r := &rs[i]; r.ordinary() && r.c.Srv == srv && !r.op().Ready() {
			list = append(list, r.op())
		}
	}
	_ = srv.AwaitAll(list) // an error shows in Wait
	clear(list)
	*buf = list[:0]
	reqs.Put(buf)
}

// ordinary reports whether a wait for r is only a wait of its server.
func (r *Request) ordinary() bool { return !r.isIdle() && r.watched() == nil && r.c.until == nil }

// Waitall waits until all of rs are done and makes them null, for the function what. st takes their statuses unless it
// is nil. It ends when ctx does.
func Waitall(ctx context.Context, what string, rs []Request, st []Status) error {
	if err := statusesFor(what, rs, st); err != nil {
		return err
	}
	var errs []error
	plain := ctx.Done() == nil
	var d comm.Dropper
	for i := range rs {
		r := &rs[i]
		if plain && st == nil && r.dropDone(&d) {
			continue
		}
		if plain && r.ordinary() && !r.c.Srv.Linger(r.op(), nil) {
			await(r.c.Srv, rs[i:]) // one wake-up for all that is left
		}
		s, err := r.waitAt(ctx, what, i)
		if st != nil {
			st[i] = s
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// statusesFor tells that st is neither nil nor as long as rs.
func statusesFor(what string, rs []Request, st []Status) error {
	if st == nil || len(st) == len(rs) {
		return nil
	}
	return fmt.Errorf("mpi: %s: %w: %d statuses for %d requests", what, sentinel.ErrCount, len(st), len(rs))
}

// firstSettled gives the index of a request that is done, or Undefined. active tells whether any is not idle.
func firstSettled(rs []Request) (index int, active bool) {
	for i := range rs {
		if rs[i].isIdle() {
			continue
		}
		if rs[i].settled() {
			return i, true
		}
		active = true
	}
	return Undefined, active
}

// Waitany waits until one of rs is done, makes it null, and gives its index and status. It ends when ctx does.
func Waitany(ctx context.Context, what string, rs []Request) (int, Status, error) {
	i, err := AwaitAny(ctx, what, rs)
	if i < 0 {
		return Undefined, empty, err
	}
	st, err := rs[i].waitAt(context.Background(), what, i)
	return i, st, err
}

// Waitsome waits until at least one of rs is done, and gives all that are. It ends when ctx does.
func Waitsome(ctx context.Context, what string, rs []Request) ([]int, []Status, error) {
	if i, err := AwaitAny(ctx, what, rs); i < 0 {
		return nil, nil, err
	}
	return some(what, rs)
}

// AwaitAny blocks until one of rs is done, and gives its index. It uses up none. The index is Undefined if all are
// null, if ctx ends, and where the caller must not wait.
func AwaitAny(ctx context.Context, what string, rs []Request) (int, error) {
	for {
		i, active := firstSettled(rs)
		if !active {
			pollFor(rs)
		}
		if i >= 0 || !active {
			return i, nil
		}
		if ctx.Err() != nil {
			return Undefined, fmt.Errorf("mpi: %s: %w: %w", what, sentinel.ErrPending, context.Cause(ctx))
		}
		if err := blockAny(ctx, rs); err != nil {
			return Undefined, fmt.Errorf("mpi: %s: %w", what, err)
		}
	}
}

// blockAny blocks until one of rs, none of which is done, may be done, or a context has ended.
func blockAny(ctx context.Context, rs []Request) error {
	var srv *comm.Server
	var list []comm.Req
	ctxs := []context.Context{ctx}
	for i := range rs {
		r := &rs[i]
		if r.isIdle() {
			continue
		}
		if srv == nil {
			srv = r.c.Srv
		}
		if r.watched() != nil || r.c.Srv != srv { // it has a waiter already, or is of another rank of this process
			r.Done()
			ctxs = append(ctxs, r.watched())
			continue
		}
		list = append(list, r.op())
		switch u := r.c.until; {
		case u == nil || slices.Contains(ctxs, u):
		case u.Err() == nil:
			ctxs = append(ctxs, u)
		case r.settled(): // u has ended since the look before
			return nil
		}
	}
	return srv.AwaitAny(list, ctxs...)
}

// some takes the results of those requests that are done.
func some(what string, rs []Request) (is []int, sts []Status, err error) {
	var errs []error
	for i := range rs {
		if rs[i].isIdle() || !rs[i].settled() {
			continue
		}
		st, err := rs[i].waitAt(context.Background(), what, i)
		is, sts = append(is, i), append(sts, st)
		if err != nil {
			errs = append(errs, err)
		}
	}
	return is, sts, errors.Join(errs...)
}

// Testall polls once and reports whether all of rs are done. Only then they become null.
func Testall(rs []Request, st []Status) (bool, error) {
	if err := statusesFor("Testall", rs, st); err != nil {
		return false, err
	}
	pollFor(rs)
	for i := range rs {
		if !rs[i].isIdle() && !rs[i].settled() {
			return false, nil
		}
	}
	return true, Waitall(context.Background(), "Testall", rs, st)
}

// Testany polls once and reports whether one of rs is done, or all are null.
func Testany(rs []Request) (int, Status, bool, error) {
	pollFor(rs)
	i, active := firstSettled(rs)
	if i < 0 {
		return Undefined, empty, !active, nil
	}
	st, err := rs[i].waitAt(context.Background(), "Testany", i)
	return i, st, true, err
}

// Testsome polls once and gives all that are done.
func Testsome(rs []Request) ([]int, []Status, error) {
	pollFor(rs)
	return some("Testsome", rs)
}

// pollFor makes progress once for the rank of the requests, or in turn if none of them is pending.
func pollFor(rs []Request) {
	var some *Request
	for i := range rs {
		if !rs[i].isIdle() && !rs[i].settled() {
			rs[i].c.Srv.Poll()
			return
		}
		if rs[i].c != nil {
			some = &rs[i]
		}
	}
	some.pollInTurn()
}
