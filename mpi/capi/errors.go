//go:build linux

package main

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// classOf is the class of an error. The thread keeps the text, for the handler in C.
func classOf(err error) C.int {
	if err == nil {
		return C.MPI_SUCCESS
	}
	text := err.Error()
	C.told((*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)))
	if c := sentinel.Class(err); c != errs.Unknown {
		return C.int(c)
	}
	return C.MPI_ERR_OTHER
}

// recovered is deferred where C calls Go. A panic is an error of golci, and must not end the program without a handler.
// Memory of the program that is none is no error of golci, and ends the process.
func recovered(class *C.int) {
	if v := recover(); v != nil {
		fault(v, "")
		*class = classOf(fmt.Errorf("%w: panic: %v at %s", errs.Intern, v, debug.Stack()))
	}
}

// recoveredColl is recovered of a collective.
func recoveredColl(class *C.int, call *C.struct_coll) {
	if v := recover(); v != nil {
		fault(v, kindNames[call.kind])
		*class = classOf(fmt.Errorf("%w: panic: %v at %s", errs.Intern, v, debug.Stack()))
	}
}

// faults makes an access to memory that may not be used a panic of the calling thread, not the end of the process.
func faults() { debug.SetPanicOnFault(true) }

// fault names the function of MPI that has met memory which may not be used, and ends the process as Go has it. The copy
// may have held locks, so that nothing can go on. call is "" where the stack tells the function. Other panics are left.
func fault(v any, call string) {
	e, ok := v.(interface{ Addr() uintptr })
	if !ok {
		return
	}
	where := ""
	if p := proc.Load(); p != nil {
		where = fmt.Sprintf(" rank %d of %d:", p.World().Rank(), p.World().Size())
	}
	if call == "" {
		call = exported()
	}
	fmt.Fprintf(os.Stderr, "golci:%s MPI_%s has met an address that is no memory of the program, or may not be used so: %#x\n",
		where, call, e.Addr())
	panic(v)
}

// exported is the name of the function of MPI on the stack, as far as the exported function tells it.
func exported() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if name, ok := strings.CutPrefix(f.Function, "main.golci"); ok {
			return strings.TrimSuffix(name, "Bytes")
		}
		if !more {
			return "function"
		}
	}
}
