//go:build linux

package main

/*
#include "calls.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/golci/golci/internal/mpi/core"
	"github.com/golci/golci/internal/mpi/pure/errs"
)

// classes gives the errors of package core their classes. The cause of a collective's end goes before ErrCollective.
var classes = []struct {
	err   error
	class errs.Class
}{
	{core.ErrBuffer, errs.Buffer},
	{core.ErrCount, errs.Count},
	{core.ErrType, errs.Type},
	{core.ErrTag, errs.Tag},
	{core.ErrComm, errs.Comm},
	{core.ErrRank, errs.Rank},
	{core.ErrRequest, errs.Request},
	{core.ErrRoot, errs.Root},
	{core.ErrOp, errs.Op},
	{core.ErrArgument, errs.Arg},
	{core.ErrTruncate, errs.Truncate},
	{core.ErrMemory, errs.NoMem},
	{core.ErrPeer, errs.ProcAborted},
	{core.ErrAborted, errs.ProcAborted},
	{core.ErrPending, errs.Pending},
}

// classOf is the class of an error. The thread keeps the text, for the handler in C.
func classOf(err error) C.int {
	if err == nil {
		return C.MPI_SUCCESS
	}
	text := err.Error()
	C.told((*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)))
	for _, e := range classes {
		if errors.Is(err, e.err) {
			return C.int(e.class)
		}
	}
	if c := errs.Of(err); c != errs.Unknown {
		return C.int(c)
	}
	return C.MPI_ERR_OTHER
}

// recovered is deferred where C calls Go. A panic is an error of golci, and must not end the program without a handler.
func recovered(class *C.int) {
	if v := recover(); v != nil {
		*class = classOf(fmt.Errorf("%w: panic: %v at %s", errs.Intern, v, debug.Stack()))
	}
}
