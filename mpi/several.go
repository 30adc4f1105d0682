package mpi

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/golci/golci/comm"
)

// reqs is scratch for waits on several requests.
var reqs = sync.Pool{New: func() any { return new([]comm.Req) }}

// await blocks until all of rs are done and uses up none. Null requests do not count.
func await(rs []Request) {
	var srv *comm.Server
	buf := reqs.Get().(*[]comm.Req)
	list := (*buf)[:0]
	for i := range rs {
		r := &rs[i]
		if r.c == nil || r.req.Null() || r.req.Ready() || r.c.until != nil {
			continue // what a view has started is waited for one by one
		}
		if r.watch != nil {
			r.watch.wait(r.c.proc)
			continue
		}
		if srv != nil && srv != r.c.srv { // of another rank of this process
			_ = srv.AwaitAll(list) // an error shows in Wait
			list = list[:0]
		}
		srv = r.c.srv
		list = append(list, r.req)
	}
	if len(list) > 0 {
		_ = srv.AwaitAll(list)
	}
	clear(list)
	*buf = list[:0]
	reqs.Put(buf)
}

// Waitall waits until all of rs are done and makes them null (3.7.5). st, if not nil, takes their statuses and must
// be as long as rs, else ErrCount. It may switch threads. The error joins those of the operations, each with its index,
// and ErrRequest for a request that has been waited for already.
func Waitall(rs []Request, st []Status) error {
	if st != nil && len(st) != len(rs) {
		return statusesError("Waitall", len(rs), len(st))
	}
	var errs []error
	for i := range rs {
		r := &rs[i]
		if st == nil && r.drop() {
			continue
		}
		if r.c != nil && r.watch == nil && r.c.until == nil && !r.c.srv.Linger(r.req) {
			await(rs[i:]) // one wake-up for all that is left
		}
		s, err := r.waitAt("Waitall", i)
		if st != nil {
			st[i] = s
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// collect takes the results of requests that are done.
func collect(rs []Request, st []Status, what string) error {
	var errs []error
	for i := range rs {
		s, err := rs[i].waitAt(what, i)
		if st != nil {
			st[i] = s
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func statusesError(what string, rs, st int) error {
	return fmt.Errorf("mpi: %s: %w: %d statuses for %d requests", what, ErrCount, st, rs)
}

// firstSettled gives the index of a request that is done, or Undefined; active tells whether any is not null.
func firstSettled(rs []Request) (index int, active bool) {
	for i := range rs {
		if rs[i].c == nil {
			continue
		}
		if rs[i].settled() {
			return i, true
		}
		active = true
	}
	return Undefined, active
}

// Waitany waits until one of rs is done, makes it null, and gives its index and status (3.7.5). When all are null, the
// index is Undefined. It may switch threads. Errors as for Request.Wait.
func Waitany(rs []Request) (int, Status, error) { return waitany(context.Background(), "Waitany", rs) }

func waitany(ctx context.Context, what string, rs []Request) (int, Status, error) {
	i, err := awaitAny(ctx, what, rs)
	if i < 0 {
		return Undefined, empty, err
	}
	st, err := rs[i].waitAt(what, i)
	return i, st, err
}

// Waitsome waits until at least one of rs is done, and gives the indices and statuses of all that are; they become null
// (3.7.5). When all are null the lists are nil. It may switch threads. Errors as for Waitall.
func Waitsome(rs []Request) ([]int, []Status, error) {
	return waitsome(context.Background(), "Waitsome", rs)
}

func waitsome(ctx context.Context, what string, rs []Request) ([]int, []Status, error) {
	if i, err := awaitAny(ctx, what, rs); i < 0 {
		return nil, nil, err
	}
	return some(rs, what)
}

// awaitAny blocks until one of rs is done, and gives its index; Undefined if all are null, if ctx ends, and where
// that must not be waited for.
func awaitAny(ctx context.Context, what string, rs []Request) (int, error) {
	for {
		i, active := firstSettled(rs)
		if i >= 0 || !active {
			return i, nil
		}
		if ctx.Err() != nil {
			return Undefined, fmt.Errorf("mpi: %s: %w: %w", what, ErrPending, context.Cause(ctx))
		}
		if err := blockAny(ctx, rs); err != nil {
			return Undefined, fmt.Errorf("mpi: %s: %w", what, err)
		}
	}
}

// blockAny blocks until one of rs, none of which is done, may be done, or a context has ended.
func blockAny(ctx context.Context, rs []Request) error {
	var p *Proc
	var list []comm.Req
	ctxs := []context.Context{ctx}
	for i := range rs {
		r := &rs[i]
		if r.c == nil {
			continue
		}
		if r.watch != nil || p != nil && p != r.c.proc {
			selectAny(ctx, rs)
			return nil
		}
		p = r.c.proc
		list = append(list, r.req)
		switch u := r.c.until; {
		case u == nil || slices.Contains(ctxs, u):
		case u.Err() == nil:
			ctxs = append(ctxs, u)
		case r.settled(): // u has ended since the look before
			return nil
		}
	}
	return p.srv.AwaitAnyContext(list, ctxs...)
}

// selectAny is for requests that are watched, so that they have a waiter already, or belong to several ranks of this
// process.
func selectAny(ctx context.Context, rs []Request) {
	var p *Proc
	cases := []reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ctx.Done())}}
	for i := range rs {
		if rs[i].c != nil {
			p = rs[i].c.proc
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(rs[i].Done())})
		}
	}
	t := p.sched.Current()
	if t == nil {
		reflect.Select(cases)
		return
	}
	w := &watch{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		reflect.Select(cases)
	}()
	w.wait(p)
}

// some takes the results of those requests that are done.
func some(rs []Request, what string) (is []int, sts []Status, err error) {
	var errs []error
	for i := range rs {
		if rs[i].c == nil || !rs[i].settled() {
			continue
		}
		st, err := rs[i].waitAt(what, i)
		is, sts = append(is, i), append(sts, st)
		if err != nil {
			errs = append(errs, err)
		}
	}
	return is, sts, errors.Join(errs...)
}

// Testall polls once and reports whether all of rs are done. Only then they become null, and st, if not nil, takes
// their statuses (3.7.5). It does not block. Errors as for Waitall.
func Testall(rs []Request, st []Status) (bool, error) {
	if st != nil && len(st) != len(rs) {
		return false, statusesError("Testall", len(rs), len(st))
	}
	pollFor(rs)
	for i := range rs {
		if rs[i].c != nil && !rs[i].settled() {
			return false, nil
		}
	}
	return true, collect(rs, st, "Testall")
}

// Testany polls once and reports whether one of rs is done, which becomes null, with its index and status (3.7.5).
// When all are null it is true with index Undefined. It does not block. Errors as for Request.Wait.
func Testany(rs []Request) (int, Status, bool, error) {
	pollFor(rs)
	i, active := firstSettled(rs)
	if i < 0 {
		return Undefined, empty, !active, nil
	}
	st, err := rs[i].waitAt("Testany", i)
	return i, st, true, err
}

// Testsome is Waitsome that polls once and does not block: the lists may be empty (3.7.5).
func Testsome(rs []Request) ([]int, []Status, error) {
	pollFor(rs)
	return some(rs, "Testsome")
}

// pollFor makes progress once for the rank of the requests, if one of them is pending.
func pollFor(rs []Request) {
	for i := range rs {
		if rs[i].c != nil && !rs[i].settled() {
			rs[i].c.srv.Poll()
			return
		}
	}
}
