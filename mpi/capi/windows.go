//go:build linux

package main

/*
#include "windows.h"
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/epoch"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/group"
	"github.com/golci/golci/mpi/internal/op"
	"github.com/golci/golci/mpi/internal/win"
)

// window is one of the program.
type window struct {
	*win.Window
	comm    C.int // the communicator that it was made of, for requests
	handler C.uintptr_t
	facts   *C.struct_win_facts // memory of C, which reads and writes it
	named   atomic.Pointer[namedGroup]
}

// namedGroup is the group that a call has named last, and its ranks in the window. They are never written.
type namedGroup struct {
	*group.Group
	ranks []int
}

// windows are those of the program.
var windows handles[*window]

// windowAt is the window of a handle.
func windowAt(handle C.uintptr_t) (*window, error) {
	if w, ok := windows.get(uintptr(handle)); ok {
		return w, nil
	}
	return nil, fmt.Errorf("%w: there is no window %#x", errs.Win, handle)
}

//export golciWinHandler
func golciWinHandler(handle C.uintptr_t) C.uintptr_t {
	w, err := windowAt(handle)
	if err != nil {
		return 0
	}
	return w.handler
}

//export golciWinSetHandler
func golciWinSetHandler(handle, handler C.uintptr_t) {
	if w, err := windowAt(handle); err == nil {
		w.handler = handler
	}
}

// fatal is MPI_ERRORS_ARE_FATAL, which windows have at first.
var fatal = C.uintptr_t(uintptr(unsafe.Pointer(C.MPI_ERRORS_ARE_FATAL)))

//export golciWinMake
func golciWinMake(
	maker C.int, base *unsafe.Pointer, size, unit C.int64_t, comm C.int, made *C.uintptr_t,
) (class C.int) {
	defer recovered(&class)
	begun()
	c := at(comm)
	var w *win.Window
	var err error
	switch maker {
	case C.win_create:
		w, err = win.Create(c, *base, int64(size), int64(unit))
	case C.win_allocate:
		w, err = win.Allocate(c, int64(size), int64(unit))
	case C.win_shared:
		w, err = win.AllocateShared(c, int64(size), int64(unit))
	default:
		w, err = win.NewDynamic(c)
	}
	if err != nil {
		return classOf(err)
	}
	if maker == C.win_allocate || maker == C.win_shared {
		*base = w.Address(c.Rank())
	}
	x := &window{Window: w, comm: comm, handler: fatal}
	x.facts = (*C.struct_win_facts)(C.calloc(1, C.sizeof_struct_win_facts))
	*x.facts = C.struct_win_facts{
		base: *base, size: C.MPI_Aint(w.Size()), unit: C.int(w.Unit()), flavor: C.int(w.Flavor()), model: C.MPI_WIN_UNIFIED,
	}
	*made = C.uintptr_t(windows.add(x))
	x.reachInC(uintptr(*made))
	return C.MPI_SUCCESS
}

//export golciWinFree
func golciWinFree(handle C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	w, err := windowAt(handle)
	if err == nil {
		err = w.Free()
	}
	if err == nil {
		leaveInC(uintptr(handle))
		windows.drop(uintptr(handle))
		hintsOf.forget(w)
		C.free(unsafe.Pointer(w.facts))
	}
	return classOf(err)
}

//export golciWinFacts
func golciWinFacts(handle C.uintptr_t) *C.struct_win_facts {
	w, err := windowAt(handle)
	if err != nil {
		return nil
	}
	return w.facts
}

//export golciWinAttach
func golciWinAttach(handle C.uintptr_t, base unsafe.Pointer, size C.int64_t) (class C.int) {
	defer recovered(&class)
	begun()
	w, err := windowAt(handle)
	if err == nil {
		err = w.Attach(base, int64(size))
	}
	return classOf(err)
}

//export golciWinDetach
func golciWinDetach(handle C.uintptr_t, base unsafe.Pointer) (class C.int) {
	defer recovered(&class)
	begun()
	w, err := windowAt(handle)
	if err == nil {
		err = w.Detach(base)
	}
	return classOf(err)
}

//export golciWinQuery
func golciWinQuery(handle C.uintptr_t, rank C.int, size, unit *C.int64_t, base *unsafe.Pointer) (class C.int) {
	defer recovered(&class)
	begun()
	w, err := windowAt(handle)
	if err != nil {
		return classOf(err)
	}
	mem, u, err := w.Query(int(rank))
	if err != nil {
		return classOf(err)
	}
	*size, *unit, *base = C.int64_t(len(mem)), C.int64_t(u), w.Address(int(rank))
	if len(mem) == 0 && hintsOf.isTrue(w, "alloc_shared_noncontig") {
		*base = nil
	}
	return C.MPI_SUCCESS
}

//export golciWinGroup
func golciWinGroup(handle C.uintptr_t, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	w, err := windowAt(handle)
	if err != nil {
		return classOf(err)
	}
	g, err := w.Comm().Group()
	return groupHandle(g, err, made)
}

// within are the ranks in the window of a group's processes; -1 for those that it does not have.
func (w *window) within(handle C.uintptr_t) ([]int, error) {
	g, err := groupAt(handle)
	if err != nil {
		return nil, err
	}
	if last := w.named.Load(); last != nil && last.Group == g {
		return last.ranks, nil
	}
	own, err := w.Comm().Group()
	if err != nil {
		return nil, err
	}
	ranks := make([]int, g.Size())
	for i, process := range g.List() {
		if r, ok := own.RankOf(process); ok {
			ranks[i] = r
		} else {
			ranks[i] = -1
		}
	}
	w.named.Store(&namedGroup{g, ranks})
	return ranks, nil
}

//export golciWinSync
func golciWinSync(handle C.uintptr_t, call, rank, kind, assert C.int, group C.uintptr_t, flag *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	w, err := windowAt(handle)
	if err != nil {
		return classOf(err)
	}
	var ranks []int
	if call == C.sync_start || call == C.sync_post {
		if ranks, err = w.within(group); err != nil {
			return classOf(err)
		}
	}
	return classOf(w.order(call, int(rank), epoch.LockType(kind), epoch.Assert(assert), ranks, flag))
}

// order makes a call of synchronisation.
func (w *window) order(call C.int, rank int, kind epoch.LockType, a epoch.Assert, ranks []int, flag *C.int) error {
	switch call {
	case C.sync_fence:
		return w.Fence(a)
	case C.sync_start:
		return w.Start(ranks, a)
	case C.sync_complete:
		return w.Complete()
	case C.sync_post:
		return w.Post(ranks, a)
	case C.sync_wait:
		return w.Wait()
	case C.sync_test:
		over, err := w.Test()
		if *flag = 0; over {
			*flag = 1
		}
		return err
	case C.sync_lock:
		return w.Lock(kind, rank, a)
	case C.sync_unlock:
		return w.Unlock(rank)
	case C.sync_lock_all:
		return w.LockAll(a)
	case C.sync_unlock_all:
		return w.UnlockAll()
	case C.sync_flush:
		return w.Flush(rank)
	case C.sync_flush_all:
		return w.FlushAll()
	}
	return w.Sync()
}

// windowType is the datatype of a handle; nil, which accesses refuse, if there is none.
func windowType(handle C.uintptr_t) *dtype.Type {
	if handle > 1<<31-1 {
		return nil
	}
	return anyType(C.int(handle))
}

// windowBuf is a buffer of an access.
func windowBuf(b *C.struct_win_buffer) win.Buf {
	return win.Buf{Mem: b.mem, N: int64(b.count), T: windowType(b.datatype)}
}

//export golciWinAccess
func golciWinAccess(call *C.struct_win_call) (class C.int) {
	defer recovered(&class)
	begun()
	w, err := windowAt(call.win)
	if err != nil {
		return classOf(err)
	}
	to := win.Place{
		Rank: int(call.rank), Disp: int64(call.disp), N: int64(call.target.count), T: windowType(call.target.datatype),
	}
	if call.request == nil {
		return classOf(w.access(call, to))
	}
	r, err := w.request(call, to)
	if err == nil {
		*call.request = requests.add(r, w.comm)
	}
	return classOf(err)
}

// windowOp is the number of an operation; 0, which accesses refuse, if it is not predefined.
func windowOp(number C.uintptr_t) op.ID {
	if number > C.uintptr_t(op.NoOp) {
		return 0
	}
	return op.ID(number)
}

func (w *window) access(call *C.struct_win_call, to win.Place) error {
	from := windowBuf(&call.origin)
	old := windowBuf(&call.result)
	switch call.access {
	case C.access_put:
		return w.Put(from, to)
	case C.access_get:
		return w.Get(from, to)
	case C.access_accumulate:
		return w.Accumulate(from, to, windowOp(call.op))
	case C.access_get_accumulate:
		return w.GetAccumulate(from, old, to, windowOp(call.op))
	case C.access_fetch:
		return w.FetchAndOp(from.Mem, old.Mem, to.T, to.Rank, to.Disp, windowOp(call.op))
	}
	return w.CompareAndSwap(from.Mem, call.compare.mem, old.Mem, to.T, to.Rank, to.Disp)
}

// request is access of the forms with a request.
func (w *window) request(call *C.struct_win_call, to win.Place) (core.Request, error) {
	from := windowBuf(&call.origin)
	switch call.access {
	case C.access_put:
		return w.Rput(from, to)
	case C.access_get:
		return w.Rget(from, to)
	case C.access_accumulate:
		return w.Raccumulate(from, to, windowOp(call.op))
	}
	old := windowBuf(&call.result)
	return w.RgetAccumulate(from, old, to, windowOp(call.op))
}
