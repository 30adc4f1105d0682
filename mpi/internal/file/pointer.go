package file

import (
	"encoding/binary"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/op"
	"github.com/golci/golci/mpi/internal/win"
)

// pointer is the shared pointer of a file, in etypes: a word of a window at rank 0, which all ranks add to at once. So
// nothing of it is left behind by a job that dies.
type pointer struct{ w *win.Window }

// newPointer makes a pointer with a value, which is that of rank 0. Collective.
func newPointer(c *core.Comm, value int64) (*pointer, error) {
	size := int64(0)
	if c.Rank() == 0 {
		size = 8
	}
	w, err := win.Allocate(c, size, 8)
	if err != nil {
		return nil, err
	}
	if size > 0 {
		binary.NativeEndian.PutUint64(w.Memory(), uint64(value))
	}
	if err = c.Barrier(); err == nil {
		err = w.LockAll(0)
	}
	if err != nil {
		_ = w.Free() // the error above is the cause
		return nil, err
	}
	return &pointer{w}, nil
}

func (p *pointer) freePointer() error {
	if err := p.w.UnlockAll(); err != nil {
		return err
	}
	return p.w.Free()
}

// change combines the value with n, and gives the old one. It may wait for rank 0's memory.
func (p *pointer) change(n int64, o op.ID) (old int64, err error) {
	err = p.w.FetchAndOp(unsafe.Pointer(&n), unsafe.Pointer(&old), dtype.Named(dtype.Int64), 0, 0, o)
	if err == nil {
		err = p.w.Flush(0)
	}
	return old, err
}

func (p *pointer) addTo(n int64) (old int64, err error) { return p.change(n, op.Sum) }

func (p *pointer) setTo(n int64) error {
	_, err := p.change(n, op.Replace)
	return err
}
