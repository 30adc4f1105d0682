package mpi

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/win"
)

var byteType = dtype.Named(dtype.Byte)

// memoryOf is buf as bytes.
func memoryOf[T any](buf []T) win.Buf {
	return win.Buf{Mem: unsafe.Pointer(unsafe.SliceData(buf)), N: int64(len(buf)) * int64(sizeOf[T]()), T: byteType}
}

// place is n elements T at a rank, as bytes.
func place[T any](n, rank, disp int) win.Place {
	return win.Place{Rank: rank, Disp: int64(disp), N: int64(n) * int64(sizeOf[T]()), T: byteType}
}

// request is what an access gives that can be waited for.
func request(r core.Request, err error) (Request, error) { return Request(r), sentinel.AddTo(err) }

// Put copies buf to a rank's memory, from element disp on (12.3.1). buf must not be changed until the epoch ends or is
// flushed. It does not wait for the target. rank may be ProcNull: nothing happens. Errors, of all accesses: ErrWin;
// ErrRank; ErrDisp for a negative displacement; ErrRMASync if no epoch allows it; ErrRMARange if the target has no such
// elements. Some are found when the epoch ends.
func (w *Win[T]) Put(buf []T, rank, disp int) error {
	if w.null() {
		return w.goneError("Put")
	}
	return sentinel.AddTo(w.w.Put(memoryOf(buf), place[T](len(buf), rank, disp)))
}

// Get copies a rank's elements from disp on into buf (12.3.2), which must not be touched until the epoch ends or is
// flushed. Otherwise it is like Put.
func (w *Win[T]) Get(buf []T, rank, disp int) error {
	if w.null() {
		return w.goneError("Get")
	}
	return sentinel.AddTo(w.w.Get(memoryOf(buf), place[T](len(buf), rank, disp)))
}

// Rput is Put with a request (12.3.5). When that is done buf may be changed. It needs an epoch of Lock or LockAll.
func (w *Win[T]) Rput(buf []T, rank, disp int) (Request, error) {
	if w.null() {
		return Request{}, w.goneError("Rput")
	}
	return request(w.w.Rput(memoryOf(buf), place[T](len(buf), rank, disp)))
}

// Rget is Get with a request (12.3.5). When that is done buf has the elements. It needs an epoch of Lock or LockAll.
func (w *Win[T]) Rget(buf []T, rank, disp int) (Request, error) {
	if w.null() {
		return Request{}, w.goneError("Rget")
	}
	return request(w.w.Rget(memoryOf(buf), place[T](len(buf), rank, disp)))
}

// targetPart is part s of the window of a rank, beginning at element disp, for the function what.
func targetPart[T any](what string, s Strided, rank, disp int) (win.Place, error) {
	if s.endIndex() < 0 {
		return win.Place{}, fmt.Errorf("mpi: %s: %w: %+v at the target", what, ErrCount, s)
	}
	t, err := stridedType(s, int64(sizeOf[T]()))
	if err != nil {
		err = fmt.Errorf("mpi: %s: %w: %w", what, ErrCount, err)
	}
	return win.Place{Rank: rank, Disp: int64(disp), N: 1, T: t}, err
}

// PutStrided is Put of part from of buf to part to of a rank's memory, which begins at its element disp. Both parts
// have the same number of elements: ErrTruncate. ErrCount: from is not within buf, or to is no part. Otherwise it is
// like Put.
func (w *Win[T]) PutStrided(buf []T, from Strided, rank, disp int, to Strided) error {
	b, p, err := w.checkParts("Put", buf, from, rank, disp, to)
	if err != nil {
		return err
	}
	return sentinel.AddTo(w.w.Put(b, p))
}

// GetStrided is Get of part from of a rank's memory, which begins at its element disp, into part into of buf. Other
// elements of buf stay as they are. Errors as for PutStrided.
func (w *Win[T]) GetStrided(buf []T, into Strided, rank, disp int, from Strided) error {
	b, p, err := w.checkParts("Get", buf, into, rank, disp, from)
	if err != nil {
		return err
	}
	return sentinel.AddTo(w.w.Get(b, p))
}

// checkParts is a part of buf and one of a target.
func (w *Win[T]) checkParts(
	what string, buf []T, s Strided, rank, disp int, to Strided,
) (b win.Buf, p win.Place, err error) {
	if w.null() {
		return b, p, w.goneError(what)
	}
	if b, err = part(what, buf, s); err != nil {
		return b, p, err
	}
	p, err = targetPart[T](what, to, rank, disp)
	return b, p, err
}
