package file

import (
	"fmt"

	"github.com/golci/golci/mpi"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/file"
)

// View is the part of a file that a rank sees (14.3). It is repeated up to the end of the file. The zero View is all.
type View struct{ sizes, parts, starts []int64 }

// Blocks shows length elements of each stride elements. A negative or larger length is an error of SetView.
func Blocks(length, stride int) View {
	return View{[]int64{int64(stride)}, []int64{int64(length)}, []int64{0}}
}

// Array shows a part of an array, the last dimension of which lies closest (5.1.3, MPI_Type_create_subarray). sizes are
// those of the array, parts those of the part, starts where the part begins. All have as many dimensions.
func Array(sizes, parts, starts []int) View { return View{wide(sizes), wide(parts), wide(starts)} }

func wide(list []int) []int64 {
	out := make([]int64, len(list))
	for i, n := range list {
		out[i] = int64(n)
	}
	return out
}

// SetView has this rank see v, which begins at element first of the file (14.3). All pointers are at the beginning
// then. Ranks may give different ones. Collective; it waits. Errors: mpi.ErrArgument for a part that is none.
func (f *File[T]) SetView(first int64, v View) error {
	t := f.unit
	if v.sizes != nil {
		if len(v.parts) != len(v.sizes) || len(v.starts) != len(v.sizes) {
			return fmt.Errorf("file: SetView: %s: %w: %d sizes, %d parts, %d starts", f.Name(), mpi.ErrArgument,
				len(v.sizes), len(v.parts), len(v.starts))
		}
		var err error
		if t, err = dtype.Subarray(v.sizes, v.parts, v.starts, dtype.OrderC, f.unit); err != nil {
			return fmt.Errorf("file: SetView: %s: %w: %w", f.Name(), mpi.ErrArgument, err)
		}
		t.Commit()
	}
	return f.f.SetView(first*f.size, f.unit, t, native, nil)
}

// Seek moves this rank's pointer as io.Seeker does, in elements of the view (14.4.3). It gives where the pointer is.
func (f *File[T]) Seek(offset int64, whence int) (int64, error) {
	w, err := seek(f.Name(), whence)
	if err == nil {
		err = f.f.SeekTo(offset, w)
	}
	return f.f.Position(), err
}

// SeekShared is Seek of the pointer that all ranks share (14.4.4). All ranks give the same. Collective; it waits.
func (f *File[T]) SeekShared(offset int64, whence int) error {
	w, err := seek(f.Name(), whence)
	if err != nil {
		return err
	}
	return f.f.SeekShared(offset, w)
}

// PositionShared is where the pointer is that all ranks share.
func (f *File[T]) PositionShared() (int64, error) { return f.f.PositionShared() }

// seek is where io.Seeker counts from.
func seek(name string, whence int) (file.Whence, error) {
	all := []file.Whence{file.SeekSet, file.SeekCurrent, file.SeekEnd} // as in package io
	if whence < 0 || whence >= len(all) {
		return 0, fmt.Errorf("file: Seek: %s: %w: whence %d", name, mpi.ErrArgument, whence)
	}
	return all[whence], nil
}
