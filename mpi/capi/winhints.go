//go:build linux

package main

/*
#include "info.h"
#include "windows.h"
*/
import "C"

import (
	"sync"

	"github.com/golci/golci/mpi/internal/info"
)

// winHints are the hints of windows, with the values that they have at first (12.2.1). golci keeps its promises without
// them.
var winHints = [][2]string{
	{"no_locks", "false"},
	{"accumulate_ordering", "rar,raw,war,waw"},
	{"accumulate_ops", "same_op_no_op"},
	{"mpi_accumulate_granularity", "0"},
	{"same_size", "false"},
	{"same_disp_unit", "false"},
	{"alloc_shared_noncontig", "false"},
}

// hintsOfWindows keeps the hints of each window that has some.
type hintsOfWindows struct {
	mu  sync.Mutex
	all map[*window]*info.Info // under mu
}

// used gives the hints of a window. The caller holds mu.
func (h *hintsOfWindows) used(w *window) (*info.Info, error) {
	if i := h.all[w]; i != nil {
		return i, nil
	}
	i := new(info.Info)
	for _, p := range winHints {
		if err := i.Set(p[0], p[1]); err != nil {
			return nil, err
		}
	}
	return i, nil
}

var hintsOf = hintsOfWindows{all: make(map[*window]*info.Info)}

//export golciWinSetHints
func golciWinSetHints(handle, from C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	w, err := windowAt(handle)
	if err != nil || from == C.null_info {
		return classOf(err)
	}
	hintsOf.mu.Lock()
	defer hintsOf.mu.Unlock()
	kept, err := hintsOf.used(w)
	if err != nil {
		return classOf(err)
	}
	return withInfo(from, func(i *info.Info) error {
		for _, p := range winHints {
			if v, ok, err := i.Get(p[0]); ok && err == nil {
				if err := kept.Set(p[0], v); err != nil {
					return err
				}
			}
		}
		hintsOf.all[w] = kept
		return nil
	})
}

//export golciWinHints
func golciWinHints(handle C.uintptr_t, made *C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	w, err := windowAt(handle)
	if err != nil {
		return classOf(err)
	}
	hintsOf.mu.Lock()
	defer hintsOf.mu.Unlock()
	i, err := hintsOf.used(w)
	if err != nil {
		return classOf(err)
	}
	*made = newInfo(i.Dup())
	return C.MPI_SUCCESS
}

// isTrue tells that a hint of a window has the value true.
func (h *hintsOfWindows) isTrue(w *window, hint string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.all[w]
	if i == nil {
		return false
	}
	v, _, err := i.Get(hint)
	return err == nil && v == "true"
}

// forget drops the hints of a window that has been freed.
func (h *hintsOfWindows) forget(w *window) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, w)
}
