package mpi

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/dtype"
)

// Part is a buffer of any element type, or a part of it, for collectives whose parts differ in type.
type Part struct {
	mem unsafe.Pointer
	t   *dtype.Type
	err error
}

// PartOf is all of buf.
func PartOf[T any](buf []T) Part { return StridedPart(buf, Strided{1, len(buf), len(buf)}) }

// StridedPart is the part s of buf. The call that uses it gives ErrCount if s is not within buf.
func StridedPart[T any](buf []T, s Strided) Part {
	if err := elemOf[T]().Err(); err != nil {
		return Part{err: err}
	}
	b, err := part("StridedPart", buf, s)
	return Part{b.Mem, b.T, err}
}

// Alltoallw is Alltoallv with parts of different types (6.8, MPI_Alltoallw): send[i] goes to rank i, recv[i] comes from
// rank i. A part that is received must be as long as the one that is sent. send may be nil on all ranks that give
// InPlace there in MPI: the parts of recv then go to their ranks, and are replaced. It waits, and may switch threads.
// Errors: ErrCount for another number of parts than ranks, ErrType, ErrTruncate, ErrComm, and those of communication.
func Alltoallw(c *Comm, send, recv []Part) error {
	k, err := allCollw(c, "Alltoallw", send, recv)
	if err != nil {
		return err
	}
	return c.core().Do(k)
}

// Ialltoallw is Alltoallw that does not wait (6.12.6). Errors as for Alltoallw.
func Ialltoallw(c *Comm, send, recv []Part) (Request, error) {
	k, err := allCollw(c, "Ialltoallw", send, recv)
	if err != nil {
		return Request{}, err
	}
	return startColl(c, k)
}

// allCollw is an exchange between all ranks, or between the two groups of an inter-communicator.
func allCollw(c *Comm, what string, send, recv []Part) (*argument.Description, error) {
	n := c.Size()
	if c.Inter() {
		n, _ = c.RemoteSize()
	}
	k := &argument.Description{Kind: argument.KindAlltoallw, What: what}
	var err error
	if k.In.Place = send == nil && !c.Inter(); !k.In.Place {
		k.In, err = sideOf("send", send, n)
	}
	if err == nil {
		k.Out, err = sideOf("receive", recv, n)
	}
	if err != nil {
		return nil, fmt.Errorf("mpi: %s: %w", what, err)
	}
	return k, nil
}

// sideOf is n parts as a buffer.
func sideOf(name string, parts []Part, n int) (s argument.Side, err error) {
	if len(parts) != n {
		return s, fmt.Errorf("%w: the %s buffer has %d parts, not %d", ErrCount, name, len(parts), n)
	}
	s.Parts = argument.Parts{Counts: make([]int, n), Displs: make([]int, n)}
	s.Mixed = &argument.MixedParts{Types: make([]*dtype.Type, n), Mems: make([]unsafe.Pointer, n)}
	for i, p := range parts {
		switch {
		case p.err != nil:
			return s, fmt.Errorf("part %d of the %s buffer: %w", i, name, p.err)
		case p.t == nil: // the zero Part
			continue
		}
		s.Mixed.Types[i], s.Mixed.Mems[i], s.Parts.Counts[i] = p.t, p.mem, 1
	}
	return s, nil
}
