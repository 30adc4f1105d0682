package file

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/errs"
)

// split is a split collective that has begun (14.4.5).
type split struct {
	call Call
	r    core.Request
}

// Begin starts a split collective (14.4.5). A file has one at a time: errs.IO.
func (f *File) Begin(k *Call) error {
	f.mu.Lock()
	busy := f.split != nil
	f.mu.Unlock()
	if busy {
		return f.fileErrorf(k.What, fmt.Errorf("%w: a split collective has begun already", errs.IO))
	}
	r, err := f.Start(k)
	if err == nil {
		f.mu.Lock()
		f.split = &split{*k, r}
		f.mu.Unlock()
	}
	return err
}

// End waits for the split collective that has begun: what tells its kind, of which the buffer and the offset do not
// count. errs.IO: there is none of that kind.
func (f *File) End(what Call) (core.Status, error) {
	f.mu.Lock()
	s := f.split
	if s != nil && s.call.Write == what.Write && s.call.Pointer == what.Pointer {
		f.split = nil
	} else {
		s = nil
	}
	f.mu.Unlock()
	if s == nil {
		return status(0), f.fileErrorf(what.What, fmt.Errorf("%w: no such split collective has begun", errs.IO))
	}
	return s.r.Wait(what.What)
}
