package mpi

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
)

// Strided is a part of a slice (5.1.2, MPI_Type_vector): Count blocks of Block elements each. A block begins Stride
// elements behind the one before, the first one at the beginning of the slice. In a matrix with rows of n elements,
// Strided{rows, 1, n} is a column, and Strided{rows, columns, n} a sub-matrix; the slice begins at its first element.
// Count and Block are not negative. Stride is at least Block.
type Strided struct{ Count, Block, Stride int }

// endIndex is how many elements the slice must have; -1: s is no part of any.
func (s Strided) endIndex() int {
	switch {
	case s.Count < 0 || s.Block < 0 || s.Stride < s.Block:
		return -1
	case s.Count == 0 || s.Block == 0:
		return 0
	case s.Stride > 0 && s.Count-1 > (1<<62-s.Block)/s.Stride:
		return -1
	}
	return (s.Count-1)*s.Stride + s.Block
}

// stridedTypes are datatypes that were made lately, since programs use the same parts again and again. Any of them may
// be replaced at any time.
var stridedTypes [64]atomic.Pointer[madeStrided]

// madeStrided is the datatype of a part of a slice. It does not change.
type madeStrided struct {
	part Strided
	size int64 // of an element
	t    *dtype.Type
}

// stridedType is the datatype of s, for elements of size bytes.
func stridedType(s Strided, size int64) (*dtype.Type, error) {
	place := &stridedTypes[uint(s.Count*31+s.Block*7+s.Stride)*0x9E3779B1>>8%uint(len(stridedTypes))]
	if m := place.Load(); m != nil && m.part == s && m.size == size {
		return m.t, nil
	}
	t, err := dtype.Hvector(int64(s.Count), int64(s.Block)*size, int64(s.Stride)*size, dtype.Named(dtype.Byte))
	if err != nil {
		return nil, err
	}
	t.Commit()
	place.Store(&madeStrided{s, size, t})
	return t, nil
}

// part is the part s of buf, for the function what.
func part[T any](what string, buf []T, s Strided) (core.Buf, error) {
	if n := s.endIndex(); n < 0 || n > len(buf) {
		return core.Buf{}, fmt.Errorf("mpi: %s: %w: %+v of %d elements", what, ErrCount, s, len(buf))
	}
	t, err := stridedType(s, int64(sizeOf[T]()))
	if err != nil {
		return core.Buf{}, fmt.Errorf("mpi: %s: %w: %w", what, ErrCount, err)
	}
	return core.Buf{Mem: unsafe.Pointer(unsafe.SliceData(buf)), N: 1, T: t, Of: elemOf[T]()}, nil
}

// SendStrided is Send of part s of buf. The receiver may have another part, or a slice of as many elements.
// Errors: those of Send, and ErrCount if s is not within buf.
func SendStrided[T any](c *Comm, buf []T, s Strided, dest, tag int) error {
	if isShort(buf, s) && c.direct(dest, tag, any((*T)(nil))) {
		return sendShort(c, buf, s, dest, tag)
	}
	b, err := part("SendStrided", buf, s)
	if err != nil {
		return err
	}
	return c.core().SendBuf("SendStrided", b, dest, tag, comm.Standard)
}

// IsendStrided is Isend of part s of buf, which must not be changed until the request is done. Errors as for
// SendStrided.
func IsendStrided[T any](c *Comm, buf []T, s Strided, dest, tag int) (Request, error) {
	b, err := part("IsendStrided", buf, s)
	if err != nil {
		return Request{}, err
	}
	r, err := c.core().IsendBuf("IsendStrided", b, dest, tag, comm.Standard)
	return Request(r), err
}

// RecvStrided is Recv into part s of buf. Other elements stay as they are. Errors: those of Recv, and ErrCount if s is
// not within buf.
func RecvStrided[T any](c *Comm, buf []T, s Strided, source, tag int) (Status, error) {
	if isShort(buf, s) && c.direct(source, tag, any((*T)(nil))) {
		return recvShort(c, buf, s, source, tag)
	}
	b, err := part("RecvStrided", buf, s)
	if err != nil {
		return Status{}, err
	}
	return status(c.core().RecvBuf("RecvStrided", b, source, tag))
}

// IrecvStrided is Irecv into part s of buf, which must not be touched until the request is done. Errors as for
// RecvStrided; truncation shows when the request is waited for.
func IrecvStrided[T any](c *Comm, buf []T, s Strided, source, tag int) (Request, error) {
	b, err := part("IrecvStrided", buf, s)
	if err != nil {
		return Request{}, err
	}
	r, err := c.core().IrecvBuf("IrecvStrided", b, source, tag)
	return Request(r), err
}
