//go:build linux

package main

import "sync"

// handles are objects of one kind that the program has handles of. A handle is firstHandle plus the place, below the
// generation of the place, as that of a request.
type handles[T any] struct {
	mu sync.Mutex
	// Under mu.
	slots []slot[T]
	idle  []int32 // free places
}

type slot[T any] struct {
	object T
	turn   uint16 // the generation
	used   bool
}

// add gives an object a handle.
func (h *handles[T]) add(object T) uintptr {
	h.mu.Lock()
	defer h.mu.Unlock()
	var i int
	if n := len(h.idle); n > 0 {
		i = int(h.idle[n-1])
		h.idle = h.idle[:n-1]
	} else {
		if i = len(h.slots); i == 1<<placeBits {
			panic("too many handles") // recovered
		}
		h.slots = append(h.slots, slot[T]{})
	}
	s := &h.slots[i]
	s.object, s.used = object, true
	return firstHandle + uintptr(s.turn)<<placeBits + uintptr(i)
}

// get gives the object of a handle; !ok: there is none.
func (h *handles[T]) get(handle uintptr) (object T, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.slot(handle); s != nil {
		return s.object, true
	}
	return object, false
}

// drop takes a handle away; !ok: there is no such one.
func (h *handles[T]) drop(handle uintptr) (object T, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.slot(handle)
	if s == nil {
		return object, false
	}
	object = s.object
	*s = slot[T]{turn: (s.turn + 1) % generations}
	h.idle = append(h.idle, int32((handle-firstHandle)&(1<<placeBits-1)))
	return object, true
}

// slot is the place of a handle, or nil. The caller holds mu.
func (h *handles[T]) slot(handle uintptr) *slot[T] {
	if handle < firstHandle {
		return nil
	}
	i := (handle - firstHandle) & (1<<placeBits - 1)
	if i >= uintptr(len(h.slots)) {
		return nil
	}
	s := &h.slots[i]
	if !s.used || firstHandle+uintptr(s.turn)<<placeBits+i != handle {
		return nil
	}
	return s
}
