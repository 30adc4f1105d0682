//go:build linux

package main

/*
#include "calls.h"
#include "status.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/errs"
)

// A request of the program has a place. Its handle is firstHandle plus the place, below the generation of the place. So
// the handle of a request that is done is not soon that of another one.
const (
	firstHandle = 4096
	placeBits   = 21
	generations = 512

	chunkBits = 10
	chunkSize = 1 << chunkBits
)

// place is where a request lives. The holder of its handle uses it: two threads must not use one request at once.
type place struct {
	core.Request
	handle C.uintptr_t // 0 of a free place
	comm   C.int       // whose handler deals with errors
	turn   uint16      // the generation
}

// requests are all of the process.
var requests table

// table has the places of requests. Chunks are made at need and stay.
type table struct {
	chunks [1 << (placeBits - chunkBits)]atomic.Pointer[[chunkSize]place]
	mu     sync.Mutex
	// Under mu.
	idle  []int32 // free places
	used  int     // places that were ever in use
	freed []core.Request
}

// add gives r a handle.
func (t *table) add(r core.Request, comm C.int) C.uintptr_t {
	i, p := t.take()
	p.Request, p.comm = r, comm
	p.handle = firstHandle + C.uintptr_t(p.turn)<<placeBits + C.uintptr_t(i)
	return p.handle
}

// left is the place of a send that had left when it was started. Each search makes one, since all such sends have one
// handle.
func left() *place {
	return &place{Request: at(worldPlace).Started(comm.Req{}), handle: C.done_request}
}

// take gives a free place and its number.
func (t *table) take() (i int, p *place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.idle); n > 0 {
		i = int(t.idle[n-1])
		t.idle = t.idle[:n-1]
	} else {
		i = t.used
		if i == 1<<placeBits {
			panic("too many requests") // 64 MiB of them; recovered
		}
		if t.used++; i%chunkSize == 0 {
			t.chunks[i>>chunkBits].Store(new([chunkSize]place))
		}
	}
	return i, &t.chunks[i>>chunkBits].Load()[i%chunkSize]
}

// find is the place of a handle; nil if there is no such request.
func (t *table) find(handle C.uintptr_t) *place {
	if handle < firstHandle {
		if handle == C.done_request {
			return left()
		}
		return nil
	}
	i := int(handle-firstHandle) & (1<<placeBits - 1)
	chunk := t.chunks[i>>chunkBits].Load()
	if chunk == nil || chunk[i%chunkSize].handle != handle {
		return nil
	}
	return &chunk[i%chunkSize]
}

// drop frees the place of a request that is done, and makes its handle null.
func (t *table) drop(p *place, handle *C.uintptr_t) {
	*handle = nullRequest
	if p.handle == C.done_request {
		return
	}
	forgetRequest(p.handle)
	i := int32(p.handle-firstHandle) & (1<<placeBits - 1)
	p.Request, p.handle, p.turn = core.Request{}, 0, (p.turn+1)%generations
	t.mu.Lock()
	t.idle = append(t.idle, i)
	t.mu.Unlock()
}

// free drops a request that goes on without a handle. Now and then those that are done meanwhile are let go.
func (t *table) free(p *place, handle *C.uintptr_t) {
	r := p.Request
	t.drop(p, handle)
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.freed[:0]
	for _, f := range append(t.freed, r) {
		if f.Ready() {
			_, _ = f.Wait("Request_free") // nobody is told of its error
		} else {
			left = append(left, f)
		}
	}
	t.freed = left
}

// awaitFreed waits for sends and receives without a handle: they must not end with the job.
func (t *table) awaitFreed() {
	t.mu.Lock()
	freed := t.freed
	t.freed = nil
	t.mu.Unlock()
	for i := range freed {
		_, _ = freed[i].Wait("Finalize")
	}
}

// nullRequest is MPI_REQUEST_NULL.
const nullRequest = C.null_request

// unknown is the error of a handle that is no request.
func unknown(handle C.uintptr_t) error {
	return fmt.Errorf("%w: there is no request %#x", errs.Request, handle)
}

// poll makes progress once.
func poll() { proc.Load().Server().Poll() }
