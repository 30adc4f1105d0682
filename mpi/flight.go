package mpi

import (
	"slices"

	"github.com/golci/golci/comm"
)

// flight is a set of operations of a collective that are under way together.
type flight struct {
	*coll
	reqs []comm.Req
	peer []int    // of a receive, or the complement of that of a send
	buf  [][]byte // its bytes
	err  error    // why one could not be started
}

// flight begins the set of the call, which has one at a time.
func (x *coll) flight() *flight {
	f := &x.st.group
	f.coll = x
	return f
}

func (f *flight) recv(from int, b []byte) {
	if f.err == nil {
		r, err := f.irecv(from, b)
		f.add(r, err, from, b)
	}
}

func (f *flight) send(to int, b []byte) {
	if f.err == nil {
		r, err := f.isend(to, b)
		f.add(r, err, ^to, b)
	}
}

func (f *flight) add(r comm.Req, err error, peer int, b []byte) {
	if err != nil {
		f.err = err
		return
	}
	if !r.Null() {
		f.reqs, f.peer, f.buf = append(f.reqs, r), append(f.peer, peer), append(f.buf, b)
	}
}

// wait waits for all, or for the first error: then the others are dropped.
func (f *flight) wait() error {
	err := f.err
	for i, r := range f.reqs {
		switch p := f.peer[i]; {
		case err != nil:
			f.drop(r)
		case p < 0:
			err = f.sent(r, ^p, f.buf[i])
		default:
			err = f.received(r, p, f.buf[i])
		}
		if err != nil {
			f.fail(err) // before the waits for what is dropped
		}
	}
	return err
}

// end forgets the operations.
func (f *flight) end() {
	clear(f.reqs)
	clear(f.buf)
	f.reqs, f.peer, f.buf, f.err, f.coll = f.reqs[:0], f.peer[:0], f.buf[:0], nil, nil
}

// overlaps reports whether two parts share an element.
func (l layout) overlaps() bool {
	end, sorted := 0, true
	for i, c := range l.counts {
		if c > 0 {
			sorted = sorted && l.displs[i] >= end
			end = l.displs[i] + c
		}
	}
	if sorted {
		return false
	}
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
