package mpi

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
	"github.com/golci/golci/mpi/internal/win"
)

// Win is a window (12.2): memory of the ranks of a communicator that all of them reach by Put, Get and Accumulate, as
// elements T. Only types of fixed size without pointers may be elements: ErrType. Displacements count elements of the
// target's window. The methods may be called from any goroutine or thread, but epochs are of the rank: two callers
// that open and close them must agree.
//
// A call that accesses the window needs an epoch, which Fence, Start, Lock or LockAll opens: ErrRMASync. The data of
// accesses are there when the epoch ends or is flushed. Until then the slices given to them must not be changed, and
// those that receive must not be read.
type Win[T any] struct {
	w     *win.Window
	elem  *signature.Elem
	basic *dtype.Type // of accumulations; nil: T has none
}

// CreateWin makes a window of mem, which may be empty (12.2.1, MPI_Win_create). mem must be left to the window until
// Free. Its ranks may have windows of different lengths, of one type T. Collective over c; it waits, and may switch
// threads. If one rank fails, all do. Errors: ErrType, ErrComm, ErrContexts, and those of communication.
func CreateWin[T any](c *Comm, mem []T) (*Win[T], error) {
	return newWin[T]("Win_create", len(mem), func(size, unit int64) (*win.Window, error) {
		return win.Create(c.core(), unsafe.Pointer(unsafe.SliceData(mem)), size, unit)
	})
}

// AllocateWin makes a window of n new elements of this rank, which are zero (12.2.2, MPI_Win_allocate). Ranks of a node
// reach such memory by loads and stores, so it is faster than that of CreateWin. Errors: those of CreateWin, ErrCount,
// and ErrMemory if there is none.
func AllocateWin[T any](c *Comm, n int) (*Win[T], error) {
	return newWin[T]("Win_allocate", n, func(size, unit int64) (*win.Window, error) {
		return cleared(win.Allocate(c.core(), size, unit))
	})
}

// AllocateSharedWin is AllocateWin of memory that all ranks of c can load from and store to: see SharedQuery (12.2.3,
// MPI_Win_allocate_shared). The parts lie one behind the other in the order of the ranks. Errors: those of AllocateWin,
// and ErrRMAShared if the ranks do not share a node.
func AllocateSharedWin[T any](c *Comm, n int) (*Win[T], error) {
	return newWin[T]("Win_allocate_shared", n, func(size, unit int64) (*win.Window, error) {
		return cleared(win.AllocateShared(c.core(), size, unit))
	})
}

// NewDynamicWin makes a window without memory, to which Attach adds some (12.2.4, MPI_Win_create_dynamic). Its
// displacements are what Attach gives at the target. Errors are those of CreateWin.
func NewDynamicWin[T any](c *Comm) (*Win[T], error) {
	return newWin[T]("Win_create_dynamic", 0, func(_, _ int64) (*win.Window, error) {
		return win.NewDynamic(c.core())
	})
}

// newWin makes a window of n elements T by f, which is given bytes in all and bytes of an element. Where the elements
// may not travel all ranks see that alike, so none calls f.
func newWin[T any](what string, n int, f func(size, unit int64) (*win.Window, error)) (*Win[T], error) {
	size := sizeOf[T]()
	switch e := elemOf[T](); {
	case e.Err() != nil:
		return nil, fmt.Errorf("mpi: %s: %w", what, e.Err())
	case size == 0:
		return nil, fmt.Errorf("mpi: %s: %w: elements without bytes", what, ErrType)
	}
	bytes := int64(-1) // which f refuses on all ranks
	if n >= 0 && n <= 1<<47/size {
		bytes = int64(n) * int64(size)
	}
	w, err := f(bytes, int64(size))
	if err != nil {
		return nil, sentinel.AddTo(err)
	}
	return &Win[T]{w, elemOf[T](), basicOf[T]()}, nil
}

// cleared makes the memory of a window zero, and waits until that of all ranks is.
func cleared(w *win.Window, err error) (*win.Window, error) {
	if err != nil {
		return nil, err
	}
	clear(w.Memory())
	if err := w.Comm().Barrier(); err != nil {
		return nil, err
	}
	return w, nil
}

// Free ends the window (12.2.5). Collective; it waits until all ranks have called it. Memory that the window has made
// must not be used any more. Errors: ErrRMASync if an epoch is open, ErrWin, and those of communication.
func (w *Win[T]) Free() error {
	if w.null() {
		return w.goneError("Win_free")
	}
	return sentinel.AddTo(w.w.Free())
}

// null tells whether w is no window at all.
func (w *Win[T]) null() bool { return w == nil || w.w == nil }

func (w *Win[T]) goneError(what string) error { return fmt.Errorf("mpi: %s: %w: none", what, ErrWin) }

// Memory is this rank's part of the window; empty for a dynamic or freed one. Others may access it at any time within
// epochs that expose it, as 12.7 has it.
func (w *Win[T]) Memory() []T {
	if w.null() {
		return nil
	}
	return viewOf[T](w.w.Memory())
}

// Group is the ranks of the window (12.2.6, MPI_Win_get_group). Error: ErrWin.
func (w *Win[T]) Group() (Group, error) {
	if w.null() {
		return Group{}, w.goneError("Win_get_group")
	}
	g, err := groupFrom(w.w.Comm().Group())
	if err != nil { // its communicator is gone with it
		return Group{}, w.goneError("Win_get_group")
	}
	return g, nil
}

// SharedQuery is the part of a rank as this rank reaches it by loads and stores (12.2.3). For ProcNull it is that of
// the first rank with any. It is empty where memory is out of reach, which that of AllocateSharedWin never is. Errors:
// ErrRank; ErrRMAFlavor for a dynamic window; ErrWin.
func (w *Win[T]) SharedQuery(rank int) ([]T, error) {
	if w.null() {
		return nil, w.goneError("Win_shared_query")
	}
	mem, _, err := w.w.Query(rank)
	return viewOf[T](mem), sentinel.AddTo(err)
}

// Attach lets other ranks reach mem in a dynamic window (12.2.4). It gives the displacement of its first element, which
// the others must be told; the next elements of mem follow at sizes of T. It does not wait. Errors: ErrRMAFlavor for
// other windows, ErrRMAAttach for memory that is attached in part already, ErrWin.
func (w *Win[T]) Attach(mem []T) (disp int, err error) {
	if w.null() {
		return 0, w.goneError("Win_attach")
	}
	p := unsafe.Pointer(unsafe.SliceData(mem))
	err = w.w.Attach(p, int64(len(mem))*int64(sizeOf[T]()))
	return int(uintptr(p)), sentinel.AddTo(err)
}

// Detach ends what Attach began for mem, by its first element (12.2.4). Nobody may access it any more. Errors:
// ErrRMAFlavor; ErrRMAAttach if nothing is attached there; ErrWin.
func (w *Win[T]) Detach(mem []T) error {
	if w.null() {
		return w.goneError("Win_detach")
	}
	return sentinel.AddTo(w.w.Detach(unsafe.Pointer(unsafe.SliceData(mem))))
}
