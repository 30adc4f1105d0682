//go:build linux

package main

/*
#include "files.h"
#include "info.h"
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/file"
	"github.com/golci/golci/mpi/internal/info"
)

// fileObject is a file of the program.
type fileObject struct {
	*file.File
	notes *C.struct_file_notes // memory of C, which reads and writes it
}

// files are those of the program.
var files handles[*fileObject]

// fileAt is the file of a handle.
func fileAt(handle C.uintptr_t) (*fileObject, error) {
	if f, ok := files.get(uintptr(handle)); ok {
		return f, nil
	}
	return nil, fmt.Errorf("%w: there is no file %#x", errs.File, handle)
}

//export golciFileNotes
func golciFileNotes(handle C.uintptr_t) *C.struct_file_notes {
	f, err := fileAt(handle)
	if err != nil {
		return nil
	}
	return f.notes
}

// copyOf is a copy of an info object; nil of MPI_INFO_NULL.
func copyOf(handle C.uintptr_t) (i *info.Info, class C.int) {
	if handle == C.null_info {
		return nil, C.MPI_SUCCESS
	}
	class = withInfo(handle, func(from *info.Info) error {
		i = from.Dup()
		return nil
	})
	return i, class
}

//export golciFileOpen
func golciFileOpen(comm C.int, name *C.char, mode C.int, hints C.uintptr_t, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	i, class := copyOf(hints)
	if class != C.MPI_SUCCESS {
		return class
	}
	f, err := file.Open(at(comm), C.GoString(name), file.Mode(mode), i)
	if err != nil {
		return classOf(err)
	}
	x := &fileObject{File: f, notes: (*C.struct_file_notes)(C.calloc(1, C.sizeof_struct_file_notes))}
	*made = C.uintptr_t(files.add(x))
	return C.MPI_SUCCESS
}

//export golciFileClose
func golciFileClose(handle C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	f, err := fileAt(handle)
	if err != nil {
		return classOf(err)
	}
	err = f.Close()
	files.drop(uintptr(handle))
	C.free(unsafe.Pointer(f.notes))
	return classOf(err)
}

//export golciFileDelete
func golciFileDelete(name *C.char) (class C.int) {
	defer recovered(&class)
	begun()
	return classOf(file.Delete(proc.Load(), C.GoString(name)))
}

//export golciFileGroup
func golciFileGroup(handle C.uintptr_t, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	f, err := fileAt(handle)
	if err != nil {
		return classOf(err)
	}
	g, err := f.Comm().Group()
	return groupHandle(g, err, made)
}

//export golciFileSetHints
func golciFileSetHints(handle, hints C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	f, err := fileAt(handle)
	if err != nil {
		return classOf(err)
	}
	i, class := copyOf(hints)
	if class == C.MPI_SUCCESS {
		class = classOf(f.SetHints(i))
	}
	return class
}

//export golciFileHints
func golciFileHints(handle C.uintptr_t, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	f, err := fileAt(handle)
	if err == nil {
		*made = newInfo(f.Hints())
	}
	return classOf(err)
}

//export golciFileSetView
func golciFileSetView(
	handle C.uintptr_t, disp C.int64_t, etype, filetype C.int, datarep *C.char, hints C.uintptr_t,
) (class C.int) {
	defer recovered(&class)
	begun()
	f, err := fileAt(handle)
	if err != nil {
		return classOf(err)
	}
	i, class := copyOf(hints)
	if class != C.MPI_SUCCESS {
		return class
	}
	return classOf(f.SetView(int64(disp), anyType(etype), anyType(filetype), C.GoString(datarep), i))
}

//export golciFileView
func golciFileView(handle C.uintptr_t, disp *C.MPI_Offset, datarep *C.char) (class C.int) {
	defer recovered(&class)
	begun()
	f, err := fileAt(handle)
	if err != nil {
		return classOf(err)
	}
	d, _, _, name := f.View()
	*disp = C.MPI_Offset(d)
	to := unsafe.Slice((*byte)(unsafe.Pointer(datarep)), len(name)+1)
	to[copy(to, name)] = 0
	return C.MPI_SUCCESS
}

//export golciFileExtent
func golciFileExtent(handle C.uintptr_t, datatype C.int, extent *C.MPI_Count) (class C.int) {
	defer recovered(&class)
	begun()
	f, err := fileAt(handle)
	if err != nil {
		return classOf(err)
	}
	n, err := f.TypeExtent(anyType(datatype))
	*extent = C.MPI_Count(n)
	return classOf(err)
}

//export golciFileWord
func golciFileWord(handle C.uintptr_t, word C.int, value C.int64_t, whence C.int, result *C.int64_t) (class C.int) {
	defer recovered(&class)
	begun()
	f, err := fileAt(handle)
	if err != nil {
		return classOf(err)
	}
	n, err := f.word(word, int64(value), file.Whence(whence))
	*result = C.int64_t(n)
	return classOf(err)
}

func (f *fileObject) word(word C.int, value int64, whence file.Whence) (int64, error) {
	switch word {
	case C.file_mode:
		return int64(f.Mode()), nil
	case C.file_atomic:
		if f.Atomicity() {
			return 1, nil
		}
		return 0, nil
	case C.file_size:
		return f.Size()
	case C.file_position:
		return f.Position(), nil
	case C.file_position_shared:
		return f.PositionShared()
	case C.file_offset:
		return f.ByteOffset(value)
	case C.file_set_atomic:
		return 0, f.SetAtomicity(value != 0)
	case C.file_set_size:
		return 0, f.SetSize(value)
	case C.file_reserve:
		return 0, f.Preallocate(value)
	case C.file_sync:
		return 0, f.Sync()
	case C.file_seek:
		return 0, f.SeekTo(value, whence)
	}
	return 0, f.SeekShared(value, whence)
}

//export golciFileAccess
func golciFileAccess(call *C.struct_file_call) (class C.int) {
	defer recovered(&class)
	begun()
	f, err := fileAt(call.file)
	if err != nil {
		return classOf(err)
	}
	datatype := C.uintptr_t(uintptr(unsafe.Pointer(call.datatype)))
	k := file.Call{
		What: C.GoString(call.name), Write: call.write != 0, Pointer: file.Pointer(call.pointer),
		Collective: call.collective != 0, Offset: int64(call.offset),
		Buf: core.Buf{Mem: call.mem, N: int64(call.count), T: windowType(datatype)},
	}
	if call.request != nil {
		r, err := f.Start(&k)
		if err == nil {
			*call.request = requests.add(r, -1)
		}
		return classOf(err)
	}
	var st core.Status
	switch call.half {
	case C.file_begin:
		return classOf(f.Begin(&k))
	case C.file_end:
		st, err = f.End(k)
	default:
		st, err = f.Do(&k)
	}
	if err == nil {
		fill(call.status, &st)
	}
	return classOf(err)
}
