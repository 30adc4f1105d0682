package argument

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/op"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// Operator is how a reduction combines. The zero Operator is invalid.
type Operator struct {
	Combiner
	Commutes bool // the order of operands does not matter; the algorithms keep it in any case
	User     bool // the combiner is a function of the program: it may panic

	ID op.ID // of a predefined one
}

// Combiner sets out[i] to low[i] op high[i]. The three are elements of one type and equally long. low holds what comes
// from lower ranks. out may be one of the others; if it is low, high is of no use afterwards.
type Combiner interface{ Into(out, low, high []byte) }

// And is the bitwise and of bytes.
type And struct{}

// Into implements Combiner.
func (And) Into(out, low, high []byte) {
	for i := range out {
		out[i] = low[i] & high[i]
	}
}

// ReduceLocal sets inout to in op inout, for elements e.
func ReduceLocal(o Operator, e *signature.Elem, in, inout []byte) error {
	var err error
	switch n := len(in); {
	case e.Err() != nil:
		err = e.Err()
	case o.Combiner == nil:
		err = fmt.Errorf("%w: the operation has no function", sentinel.ErrOp)
	case IsInPlace(in) || IsInPlace(inout):
		err = fmt.Errorf("%w: InPlace is no buffer here", sentinel.ErrBuffer)
	case len(inout) < n:
		err = fmt.Errorf("%w: %d bytes and %d", sentinel.ErrCount, n, len(inout))
	case Overlap(in, inout[:n]):
		err = fmt.Errorf("%w: the buffers overlap", sentinel.ErrBuffer)
	default:
		o.Into(inout[:n], in, inout[:n])
		return nil
	}
	return fmt.Errorf("mpi: ReduceLocal: %w", err)
}

// Overlap reports whether two runs of memory share a byte.
func Overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return x < y+uintptr(len(b)) && y < x+uintptr(len(a))
}
