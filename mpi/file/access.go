package file

import (
	"github.com/golci/golci/mpi"
	"github.com/golci/golci/mpi/internal/file"
)

// Reads give how many elements they have read. Fewer than there is room for are the end of the file: the error is
// io.EOF then. The buffer of an access that does not wait must be left alone until its request is done.

// ReadAt reads at element off of the view (14.4.2). It waits for this rank's part.
func (f *File[T]) ReadAt(buf []T, off int64) (int, error) {
	return f.doAccess(file.Call{What: "File_read_at", Pointer: file.At, Offset: off}, buf)
}

// IreadAt is ReadAt that does not wait.
func (f *File[T]) IreadAt(buf []T, off int64) (mpi.Request, error) {
	return f.startAccess(file.Call{What: "File_iread_at", Pointer: file.At, Offset: off}, buf)
}

// ReadAtAll is ReadAt of all ranks. Collective; it waits.
func (f *File[T]) ReadAtAll(buf []T, off int64) (int, error) {
	return f.doAccess(file.Call{What: "File_read_at_all", Pointer: file.At, Collective: true, Offset: off}, buf)
}

// IreadAtAll is ReadAtAll that does not wait.
func (f *File[T]) IreadAtAll(buf []T, off int64) (mpi.Request, error) {
	return f.startAccess(file.Call{What: "File_iread_at_all", Pointer: file.At, Collective: true, Offset: off}, buf)
}

// Read reads at this rank's pointer and moves it (14.4.3).
func (f *File[T]) Read(buf []T) (int, error) {
	return f.doAccess(file.Call{What: "File_read", Pointer: file.Individual}, buf)
}

// Iread is Read that does not wait.
func (f *File[T]) Iread(buf []T) (mpi.Request, error) {
	return f.startAccess(file.Call{What: "File_iread", Pointer: file.Individual}, buf)
}

// ReadAll is Read of all ranks. Collective; it waits.
func (f *File[T]) ReadAll(buf []T) (int, error) {
	return f.doAccess(file.Call{What: "File_read_all", Pointer: file.Individual, Collective: true}, buf)
}

// IreadAll is ReadAll that does not wait.
func (f *File[T]) IreadAll(buf []T) (mpi.Request, error) {
	return f.startAccess(file.Call{What: "File_iread_all", Pointer: file.Individual, Collective: true}, buf)
}

// ReadShared reads at the pointer that all ranks share, and moves it (14.4.4). All ranks have one view.
func (f *File[T]) ReadShared(buf []T) (int, error) {
	return f.doAccess(file.Call{What: "File_read_shared", Pointer: file.Shared}, buf)
}

// IreadShared is ReadShared that does not wait.
func (f *File[T]) IreadShared(buf []T) (mpi.Request, error) {
	return f.startAccess(file.Call{What: "File_iread_shared", Pointer: file.Shared}, buf)
}

// ReadOrdered is ReadShared of all ranks, one behind the other. Collective; it waits.
func (f *File[T]) ReadOrdered(buf []T) (int, error) {
	return f.doAccess(file.Call{What: "File_read_ordered", Pointer: file.Ordered}, buf)
}

// WriteAt writes at element off of the view (14.4.2). It waits for this rank's part.
func (f *File[T]) WriteAt(buf []T, off int64) (int, error) {
	return f.doAccess(file.Call{What: "File_write_at", Write: true, Pointer: file.At, Offset: off}, buf)
}

// IwriteAt is WriteAt that does not wait.
func (f *File[T]) IwriteAt(buf []T, off int64) (mpi.Request, error) {
	return f.startAccess(file.Call{What: "File_iwrite_at", Write: true, Pointer: file.At, Offset: off}, buf)
}

// WriteAtAll is WriteAt of all ranks. Collective; it waits.
func (f *File[T]) WriteAtAll(buf []T, off int64) (int, error) {
	k := file.Call{What: "File_write_at_all", Write: true, Pointer: file.At, Collective: true, Offset: off}
	return f.doAccess(k, buf)
}

// IwriteAtAll is WriteAtAll that does not wait.
func (f *File[T]) IwriteAtAll(buf []T, off int64) (mpi.Request, error) {
	k := file.Call{What: "File_iwrite_at_all", Write: true, Pointer: file.At, Collective: true, Offset: off}
	return f.startAccess(k, buf)
}

// Write writes at this rank's pointer and moves it (14.4.3).
func (f *File[T]) Write(buf []T) (int, error) {
	return f.doAccess(file.Call{What: "File_write", Write: true, Pointer: file.Individual}, buf)
}

// Iwrite is Write that does not wait.
func (f *File[T]) Iwrite(buf []T) (mpi.Request, error) {
	return f.startAccess(file.Call{What: "File_iwrite", Write: true, Pointer: file.Individual}, buf)
}

// WriteAll is Write of all ranks. Collective; it waits.
func (f *File[T]) WriteAll(buf []T) (int, error) {
	return f.doAccess(file.Call{What: "File_write_all", Write: true, Pointer: file.Individual, Collective: true}, buf)
}

// IwriteAll is WriteAll that does not wait.
func (f *File[T]) IwriteAll(buf []T) (mpi.Request, error) {
	return f.startAccess(file.Call{What: "File_iwrite_all", Write: true, Pointer: file.Individual, Collective: true}, buf)
}

// WriteShared writes at the pointer that all ranks share, and moves it (14.4.4). All ranks have one view.
func (f *File[T]) WriteShared(buf []T) (int, error) {
	return f.doAccess(file.Call{What: "File_write_shared", Write: true, Pointer: file.Shared}, buf)
}

// IwriteShared is WriteShared that does not wait.
func (f *File[T]) IwriteShared(buf []T) (mpi.Request, error) {
	return f.startAccess(file.Call{What: "File_iwrite_shared", Write: true, Pointer: file.Shared}, buf)
}

// WriteOrdered is WriteShared of all ranks, one behind the other. Collective; it waits.
func (f *File[T]) WriteOrdered(buf []T) (int, error) {
	return f.doAccess(file.Call{What: "File_write_ordered", Write: true, Pointer: file.Ordered}, buf)
}
