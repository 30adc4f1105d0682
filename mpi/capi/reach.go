//go:build linux

package main

/*
#include "reach.h"
#include <stdlib.h>

static void reach_set(struct reach *w, uintptr_t win) { __atomic_store_n(&w->win, win, __ATOMIC_RELEASE); }
*/
import "C"

import (
	"sync"
	"unsafe"
)

// reaching guards who has which place of C's windows.
var reaching sync.Mutex

// reachOf is C's place for the window of a handle.
func reachOf(handle uintptr) *C.struct_reach { return &C.reach[handle%C.reach_windows] }

// reachInC tells C where the memory of a window is, if C may reach it and the place is free.
func (w *window) reachInC(handle uintptr) {
	open, n := w.Open(), w.Comm().Size()
	if open == nil {
		return
	}
	reaching.Lock()
	defer reaching.Unlock()
	at := reachOf(handle)
	if at.win != 0 {
		return
	}
	at.part = (*C.struct_reach_part)(C.calloc(C.size_t(n), C.sizeof_struct_reach_part))
	parts := unsafe.Slice(at.part, n)
	for r := range parts {
		mem, unit := w.Reach(r)
		parts[r] = C.struct_reach_part{
			mem: (*C.char)(unsafe.Pointer(unsafe.SliceData(mem))), size: C.int64_t(len(mem)), unit: C.int64_t(unit),
		}
	}
	// The window keeps the word, and the table of windows keeps the window.
	*(*uintptr)(unsafe.Pointer(&at.open)) = uintptr(unsafe.Pointer(open))
	at.ranks, at.flushes = C.unsigned(n), 0
	C.reach_set(at, C.uintptr_t(handle))
}

// leaveInC is called before a window is freed.
func leaveInC(handle uintptr) {
	reaching.Lock()
	defer reaching.Unlock()
	if at := reachOf(handle); at.win == C.uintptr_t(handle) {
		C.reach_set(at, 0)
		C.free(unsafe.Pointer(at.part))
		at.part, at.open = nil, nil
	}
}
