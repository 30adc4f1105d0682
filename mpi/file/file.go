package file

import (
	"fmt"
	"io"
	"reflect"
	"unsafe"

	"github.com/golci/golci/mpi"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/file"
	"github.com/golci/golci/mpi/internal/info"
	"github.com/golci/golci/mpi/internal/signature"
)

// Mode is how a file is opened (14.2.1). Exactly one of ReadOnly, WriteOnly and ReadWrite is in it.
type Mode int

// Modes, to be combined by |.
const (
	ReadOnly      = Mode(file.RDONLY)
	WriteOnly     = Mode(file.WRONLY)
	ReadWrite     = Mode(file.RDWR)
	Create        = Mode(file.Create)        // there need not be such a file
	Exclusive     = Mode(file.Excl)          // with Create: there must not be such a file
	Append        = Mode(file.Append)        // all pointers begin at the end
	DeleteOnClose = Mode(file.DeleteOnClose) // Close deletes the file
	UniqueOpen    = Mode(file.UniqueOpen)    // nobody else has it open
	Sequential    = Mode(file.Sequential)    // only the shared pointer is used
)

// File is an open file of elements T. Any goroutine or thread may call its methods. Of the collective ones one at a
// time is called, in the same order on all ranks.
type File[T any] struct {
	f    *file.File
	unit *dtype.Type // an element
	size int64       // of it in bytes
}

// Option is given to Open.
type Option func(*info.Info) error

// Hint gives a hint (14.2.8). cb_nodes is how many ranks do the work of collective accesses. cb_buffer_size is how many
// bytes each of them moves at once. A key that is not known is kept.
func Hint(key, value string) Option { return func(i *info.Info) error { return i.Set(key, value) } }

// Open opens a file for all ranks of c (14.2.1, MPI_File_open). All give the same name and mode. Collective over c; it
// waits. Errors: mpi.ErrComm, mpi.ErrType for elements with pointers, those of the system.
func Open[T any](c *mpi.Comm, name string, mode Mode, options ...Option) (*File[T], error) {
	hints := new(info.Info)
	for _, o := range options {
		if err := o(hints); err != nil {
			return nil, fmt.Errorf("file: Open: %s: %w: %w", name, mpi.ErrArgument, err)
		}
	}
	t := reflect.TypeFor[T]()
	if err := signature.NewElem(t).Err(); err != nil {
		return nil, fmt.Errorf("file: Open: %s: %w", name, err)
	}
	unit, err := dtype.Contiguous(int64(t.Size()), dtype.Named(dtype.Byte))
	if err != nil {
		return nil, fmt.Errorf("file: Open: %s: %w: %w", name, mpi.ErrType, err)
	}
	unit.Commit()
	f, err := file.Open((*core.Comm)(c), name, file.Mode(mode), hints)
	if err != nil {
		return nil, of(err)
	}
	return begin(&File[T]{f: f, unit: unit, size: int64(t.Size())}, mode)
}

// begin shows the file as elements.
func begin[T any](f *File[T], mode Mode) (*File[T], error) {
	disp := int64(0)
	if mode&Sequential != 0 {
		disp = file.CurrentDisp
	}
	err := f.f.SetView(disp, f.unit, f.unit, native, nil)
	if err == nil && mode&Append != 0 && mode&Sequential == 0 {
		if err = f.f.SeekTo(0, file.SeekEnd); err == nil {
			err = f.f.SeekShared(0, file.SeekEnd)
		}
	}
	if err != nil {
		_ = f.f.Close() // the first error is the one to tell
		return nil, err
	}
	return f, nil
}

// native says that elements lie in the file as they lie in memory.
const native = "native"

// Close closes the file on all ranks (14.2.2). Collective; it waits for accesses under way. What was written reaches
// the file, but Sync alone brings it to the device.
func (f *File[T]) Close() error { return f.f.Close() }

// Delete deletes a file (14.2.3). It is local. Errors: those of the system.
func Delete(p *mpi.Proc, name string) error { return of(file.Delete((*core.Proc)(p), name)) }

// Name is what Open was given.
func (f *File[T]) Name() string { return f.f.Name() }

// Size is how many whole elements the file has, whatever the view (14.2.6). It is local.
func (f *File[T]) Size() (int64, error) {
	n, err := f.f.Size()
	return n / max(f.size, 1), err
}

// SetSize makes the file n elements long, whatever the view (14.2.4). Collective; it waits.
func (f *File[T]) SetSize(n int64) error { return f.f.SetSize(n * f.size) }

// Preallocate makes the file system keep room for n elements; a shorter file becomes so long (14.2.5). Collective.
func (f *File[T]) Preallocate(n int64) error { return f.f.Preallocate(n * f.size) }

// Sync brings what this rank has written to the device, and shows it what others have brought there (14.6.1).
// Collective; it waits.
func (f *File[T]) Sync() error { return f.f.Sync() }

// SetAtomicity says whether accesses of ranks that overlap are made one after the other (14.6.1). Collective. On
// systems without locks of open files it fails.
func (f *File[T]) SetAtomicity(on bool) error { return f.f.SetAtomicity(on) }

// Atomicity is what SetAtomicity was given.
func (f *File[T]) Atomicity() bool { return f.f.Atomicity() }

// buf is a buffer as bytes.
func (f *File[T]) buf(b []T) core.Buf {
	return core.Buf{
		Mem: unsafe.Pointer(unsafe.SliceData(b)), N: int64(len(b)) * f.size, T: dtype.Named(dtype.Byte),
	}
}

// doAccess makes an access. Less than b is io.EOF.
func (f *File[T]) doAccess(k file.Call, b []T) (n int, err error) {
	k.Buf = f.buf(b)
	st, err := f.f.Do(&k)
	n = int(st.Bytes / max(f.size, 1))
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

// startAccess starts an access.
func (f *File[T]) startAccess(k file.Call, b []T) (mpi.Request, error) {
	k.Buf = f.buf(b)
	r, err := f.f.Start(&k)
	return mpi.Request(r), err
}
