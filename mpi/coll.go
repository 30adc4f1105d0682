package mpi

import (
	"fmt"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/golci/golci/comm"
)

// Tags of collectives, in their own context. Calls on one communicator come in the same order on all ranks and messages of a
// pair are matched in order, so one tag for each kind is enough; that they differ turns a mismatch of calls into a
// hang that a dump explains, not into wrong data.
const (
	tagBarrier = iota
	tagBcast
	tagReduce
	tagAllreduce
	tagGather
	tagScatter
	tagAllgather
	tagAlltoall
)

// coll is one call of a collective on one rank.
type coll struct {
	c    *Comm
	what string
	tag  int
	rank int
	size int
}

// begin checks what all collectives check.
func (c *Comm) begin(what string, tag int, typ error) (coll, error) {
	if err := c.usable(what); err != nil {
		return coll{}, err
	}
	if typ != nil {
		return coll{}, c.opError(what, typ)
	}
	if !c.hinted.Load() {
		c.hintPartners()
	}
	return coll{c, what, tag, c.rank, len(c.group)}, nil
}

func (x coll) root(root int) error {
	if uint(root) >= uint(x.size) {
		return x.errorf(ErrRoot, "%d", root)
	}
	return nil
}

func (x coll) errorf(kind error, format string, args ...any) error {
	return fmt.Errorf("mpi: %s: %s: %w: %s", x.what, x.c.who(), kind, fmt.Sprintf(format, args...))
}

// send sends b to a rank; it waits.
func (x coll) send(to int, b []byte) error {
	if err := x.c.srv.Send(x.c.collCtx, int(x.c.group[to]), x.tag, b, comm.Standard); err != nil {
		return x.c.sendError(x.what, to, x.tag, len(b), err)
	}
	return nil
}

// recv receives exactly b from a rank; it waits.
func (x coll) recv(from int, b []byte) error {
	st, err := x.c.srv.Recv(x.c.collCtx, int(x.c.group[from]), x.tag, b)
	return x.got(st, err, from, b)
}

// got checks what a receive has brought: ranks that disagree about a length have made a mistake.
func (x coll) got(st comm.Status, err error, from int, b []byte) error {
	if err != nil {
		return x.c.recvError(x.what, from, x.tag, len(b), err)
	}
	if st.Bytes != int64(len(b)) {
		return x.errorf(ErrCount, "rank %d sent %d bytes, %d were expected", from, st.Bytes, len(b))
	}
	return nil
}

func (x coll) isend(to int, b []byte) (comm.Req, error) {
	r, err := x.c.srv.Isend(x.c.collCtx, int(x.c.group[to]), x.tag, b, comm.Standard)
	if err != nil {
		err = x.c.sendError(x.what, to, x.tag, len(b), err)
	}
	return r, err
}

func (x coll) irecv(from int, b []byte) (comm.Req, error) {
	r, err := x.c.srv.Irecv(x.c.collCtx, int(x.c.group[from]), x.tag, b)
	if err != nil {
		err = x.c.recvError(x.what, from, x.tag, len(b), err)
	}
	return r, err
}

// exchange sends out to one rank while it receives exactly in from another; it waits.
func (x coll) exchange(to int, out []byte, from int, in []byte) error {
	r, err := x.irecv(from, in)
	if err != nil {
		return err
	}
	if err := x.send(to, out); err != nil {
		x.c.srv.Cancel(r)
		_, _ = x.c.srv.Wait(r) // the send's error is the cause
		return err
	}
	st, err := x.c.srv.Wait(r)
	return x.got(st, err, from, in)
}

// scratch is memory that collectives work in, aligned for any element.
type scratch struct{ words []uint64 }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// borrow gives n bytes, with unknown content, and the scratch to give back.
func borrow(n int) ([]byte, *scratch) {
	s := scratches.Get().(*scratch)
	need := (n + 7) / 8
	if cap(s.words) < need {
		s.words = make([]uint64, 1<<bits.Len(uint(max(need, 8)-1)))
	}
	w := s.words[:cap(s.words)]
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), 8*len(w))[:n], s
}

func (s *scratch) release() { scratches.Put(s) }

// same reports whether two slices begin at the same place, so that one is the result in the other's place.
func same(a, b []byte) bool {
	return len(a) == 0 || unsafe.SliceData(a) == unsafe.SliceData(b)
}

// place copies a rank's own part, unless it is there already; parts that overlap otherwise are an error.
func (x coll) place(to, from []byte) error {
	if same(from, to) {
		return nil
	}
	if overlap(to, from) {
		return x.errorf(ErrBuffer, "send and receive buffer overlap")
	}
	copy(to, from)
	return nil
}

// lengthFor checks that a buffer of got elements takes want.
func (x coll) lengthFor(name string, got, want int) error {
	if got < want {
		return x.errorf(ErrCount, "the %s buffer has %d elements, %d are needed", name, got, want)
	}
	return nil
}

// part is the i-th of n nearly equal parts of b, in elements of size bytes.
func part(b []byte, i, n, size int) []byte {
	if size == 0 {
		return nil
	}
	e := len(b) / size
	return b[e*i/n*size : e*(i+1)/n*size]
}
