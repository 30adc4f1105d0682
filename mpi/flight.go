package mpi

import (
	"errors"
	"slices"
	"sync"

	"github.com/golci/golci/comm"
)

// flight is a set of operations of a collective that are under way together.
type flight struct {
	coll
	reqs []comm.Req
	from []int    // source of a receive, -1 for a send
	into [][]byte // buffer of a receive
	err  error    // why one could not be started
}

var flights = sync.Pool{New: func() any { return new(flight) }}

func (x coll) flight() *flight {
	f := flights.Get().(*flight)
	f.coll = x
	return f
}

func (f *flight) recv(from int, b []byte) {
	if f.err != nil {
		return
	}
	r, err := f.irecv(from, b)
	f.add(r, err, from, b)
}

func (f *flight) send(to int, b []byte) {
	if f.err != nil {
		return
	}
	r, err := f.isend(to, b)
	f.add(r, err, -1, nil)
}

func (f *flight) add(r comm.Req, err error, from int, b []byte) {
	if err != nil {
		f.err = err
		return
	}
	f.reqs, f.from, f.into = append(f.reqs, r), append(f.from, from), append(f.into, b)
}

// wait waits for all; if one could not be started the others are cancelled.
func (f *flight) wait() error {
	if f.err != nil {
		for _, r := range f.reqs {
			f.c.srv.Cancel(r)
		}
	}
	var errs []error
	if err := errors.Join(f.err, f.c.srv.AwaitAll(f.reqs)); err != nil {
		errs = append(errs, err)
	}
	for i, r := range f.reqs {
		st, err := f.c.srv.Wait(r)
		switch {
		case f.err != nil:
		case f.from[i] < 0 && err != nil:
			errs = append(errs, f.c.opError(f.what, err))
		case f.from[i] >= 0:
			if err := f.got(st, err, f.from[i], f.into[i]); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// end gives the flight's memory back.
func (f *flight) end() {
	clear(f.reqs)
	clear(f.into)
	f.reqs, f.from, f.into, f.err, f.coll = f.reqs[:0], f.from[:0], f.into[:0], nil, coll{}
	flights.Put(f)
}

// overlaps reports whether two parts share an element.
func (l layout) overlaps() bool {
	var order []int
	for i, c := range l.counts {
		if c > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return l.displs[a] - l.displs[b] })
	for k := 1; k < len(order); k++ {
		if a := order[k-1]; l.displs[a]+l.counts[a] > l.displs[order[k]] {
			return true
		}
	}
	return false
}
