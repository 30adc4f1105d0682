//go:build linux

package main

/*
#include "calls.h"
#include "ops.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/op"
)

// Numbers of operations: predefined ones are less than firstOp, those of the program follow.
const (
	nullOp  = 0x20
	firstOp = 4096
)

// userOp is an operation of the program. It does not change.
type userOp struct {
	function unsafe.Pointer
	large    C.int
	commutes bool
}

// userOps are the operations of the program, by their handles.
var userOps = struct {
	mu   sync.Mutex
	m    map[uintptr]*userOp
	last uintptr // the handle that was given last
}{m: make(map[uintptr]*userOp), last: firstOp}

func findOp(handle uintptr) *userOp {
	userOps.mu.Lock()
	defer userOps.mu.Unlock()
	return userOps.m[handle]
}

// operation is that of a handle, for elements of a datatype. A function of the program is told the datatype by handle.
// What is under way keeps an operation that the program frees.
func operation(n uintptr, datatype C.MPI_Datatype) (*op.Op, error) {
	if n < firstOp {
		if o := op.Predefined(op.ID(n)); o != nil {
			return o, nil
		}
		return nil, fmt.Errorf("%w: there is no predefined operation %#x", errs.Op, n)
	}
	u := findOp(n)
	if u == nil {
		return nil, fmt.Errorf("%w: there is no operation %#x", errs.Op, n)
	}
	t := C.uintptr_t(uintptr(unsafe.Pointer(datatype)))
	return op.New(op.User{Commutes: u.commutes, Fn: func(in, inout unsafe.Pointer, n int64, _ *dtype.Type) error {
		C.op_call(u.function, u.large, C.uintptr_t(uintptr(in)), C.uintptr_t(uintptr(inout)), C.int64_t(n), t)
		return nil
	}})
}

//export golciOpCreate
func golciOpCreate(function unsafe.Pointer, large, commutes C.int, handle *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	if function == nil || handle == nil {
		return classOf(fmt.Errorf("%w: an operation needs a function, and a place for its handle", errs.Arg))
	}
	userOps.mu.Lock()
	defer userOps.mu.Unlock()
	userOps.last++
	userOps.m[userOps.last] = &userOp{function, large, commutes != 0}
	*handle = C.uintptr_t(userOps.last)
	return C.MPI_SUCCESS
}

//export golciOpFree
func golciOpFree(handle *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	if handle == nil {
		return classOf(fmt.Errorf("%w: no operation", errs.Arg))
	}
	userOps.mu.Lock()
	defer userOps.mu.Unlock()
	if userOps.m[uintptr(*handle)] == nil {
		return classOf(fmt.Errorf("%w: the program has no operation %#x", errs.Op, uintptr(*handle)))
	}
	delete(userOps.m, uintptr(*handle))
	*handle = nullOp
	return C.MPI_SUCCESS
}

//export golciOpCommutative
func golciOpCommutative(handle C.uintptr_t, commutes *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	if commutes == nil {
		return classOf(fmt.Errorf("%w: no place for the answer", errs.Arg))
	}
	o, err := operation(uintptr(handle), nil)
	if err != nil {
		return classOf(err)
	}
	*commutes = 0
	if o.Commutes() {
		*commutes = 1
	}
	return C.MPI_SUCCESS
}
