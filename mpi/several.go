package mpi

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/golci/golci/comm"
)

// reqs is scratch for waits on several requests.
var reqs = sync.Pool{New: func() any { return new([]comm.Req) }}

// await blocks until all of rs are done, or any one, and uses up none. Null requests do not count.
func await(rs []Request, all bool) {
	var srv *comm.Server
	buf := reqs.Get().(*[]comm.Req)
	list := (*buf)[:0]
	for i := range rs {
		r := &rs[i]
		if r.c == nil || r.req.Null() || r.req.Ready() {
			continue
		}
		if r.watch != nil && all {
			r.watch.wait(r.c.proc)
			continue
		}
		if srv != nil && srv != r.c.srv { // of another rank of this process
			if all {
				_ = srv.AwaitAll(list) // an error shows in Wait
				list = list[:0]
			}
		}
		srv = r.c.srv
		list = append(list, r.req)
	}
	if len(list) > 0 {
		if all {
			_ = srv.AwaitAll(list)
		} else {
			_ = srv.AwaitAny(list)
		}
	}
	clear(list)
	*buf = list[:0]
	reqs.Put(buf)
}

// Waitall waits until all of rs are done and makes them null (3.7.5). st, if not nil, takes their statuses and must be as
// long as rs. It may switch threads. The error joins those of the operations, each with its index.
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
		if r.c != nil && r.watch == nil && !r.c.srv.Linger(r.req) {
			await(rs[i:], true) // one wake-up for all that is left
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
// index is Undefined. It may switch threads.
func Waitany(rs []Request) (int, Status, error) {
	for {
		i, active := firstSettled(rs)
		if i >= 0 {
			st, err := rs[i].waitAt("Waitany", i)
			return i, st, err
		}
		if !active {
			return Undefined, empty, nil
		}
		if err := awaitAny(rs); err != nil {
			return Undefined, empty, fmt.Errorf("mpi: Waitany: %w", err)
		}
	}
}

// awaitAny blocks until one of rs, none of which is done, may be done. It returns an error where that must not be waited
// for.
func awaitAny(rs []Request) error {
	var p *Proc
	for i := range rs {
		r := &rs[i]
		if r.c == nil {
			continue
		}
		if r.watch != nil || p != nil && p != r.c.proc {
			selectAny(rs)
			return nil
		}
		p = r.c.proc
	}
	if err := p.srv.MayWait("wait for any of several"); err != nil {
		return err
	}
	await(rs, false)
	return nil
}

// selectAny is for requests that are watched, so that they have a waiter already, or belong to several ranks of this
// process.
func selectAny(rs []Request) {
	var p *Proc
	var cases []reflect.SelectCase
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

// Waitsome waits until at least one of rs is done, and gives the indices and statuses of all that are; they become null
// (3.7.5). When all are null the lists are nil. It may switch threads. The error joins those of the operations.
func Waitsome(rs []Request) ([]int, []Status, error) {
	for {
		i, active := firstSettled(rs)
		if i >= 0 {
			return some(rs, "Waitsome")
		}
		if !active {
			return nil, nil, nil
		}
		if err := awaitAny(rs); err != nil {
			return nil, nil, fmt.Errorf("mpi: Waitsome: %w", err)
		}
	}
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

// Testall polls once and reports whether all of rs are done; only then they become null and st, if not nil, takes their
// statuses (3.7.5). It does not block.
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

// Testany polls once and reports whether one of rs is done, which becomes null, with its index and status (3.7.5). When all
// are null it is true with index Undefined. It does not block.
func Testany(rs []Request) (int, Status, bool, error) {
	pollFor(rs)
	i, active := firstSettled(rs)
	if i < 0 {
		return Undefined, empty, !active, nil
	}
	st, err := rs[i].waitAt("Testany", i)
	return i, st, true, err
}

// Testsome is Waitsome that polls once and does not block: the lists may be empty.
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
