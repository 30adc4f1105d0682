//go:build linux

package main

/*
#include "calls.h"
#include "status.h"
#include "vain.h"
*/
import "C"

import (
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/mpi/internal/core"
)

// watched is what watch compares with; the thread that is in a call owns it.
var watched [C.vain_words]conduit.Word

// beginLook is begun for a function that does not poll and ends nothing, or only looks whether something is done. What
// was in vain before stays so.
func beginLook() {
	if C.vain.taken != 0 {
		freeTaken()
	}
	if C.posts.n != 0 {
		startPosts()
	}
}

// freeTaken ends the requests that C has ended.
func freeTaken() {
	v := &C.vain
	for _, handle := range v.take[:v.taken] {
		if p := requests.find(handle); p != nil {
			_, _ = p.Wait("Wait") // it is done, without an error
			requests.drop(p, &handle)
		}
	}
	v.taken = 0
}

// receives are the handles of receives that were not done, in their order. The thread that is in a call owns it.
var receives struct {
	handles    [C.vain_things]C.uintptr_t
	next, last uint
}

// endReceives has C end receives that are done, in their order, up to the first that is not.
func endReceives() {
	q := &receives
	for ; q.next != q.last; q.next++ {
		handle := q.handles[q.next%uint(len(q.handles))]
		t := entryOf(handle)
		if t.what != C.uint64_t(handle) {
			continue
		}
		p := requests.find(handle)
		if p == nil {
			continue
		}
		if !p.Ready() {
			return
		}
		if st, err := p.Peek(); err == nil && !st.Cancelled {
			fill(&t.status, &st)
			t.ended = 1
		}
	}
}

// entryOf is the entry of C for a request.
func entryOf(handle C.uintptr_t) *C.struct_thing {
	return &C.vain.thing[(uint64(handle)^uint64(handle)>>32)%C.vain_things]
}

// pollIfPending is for functions that need not poll. It takes in what has come, so that C can end receives.
func pollIfPending() {
	if C.vain.on != 0 && receives.next != receives.last && proc.Load().OfRank().Endpoint().Conduit().Pending() {
		poll()
		found()
	}
}

// trackRequest tells C that a request is not done, and in which word it will see that it is.
func trackRequest(handle C.uintptr_t, r *core.Request) {
	word, done := r.State()
	if C.vain.on == 0 || word == nil {
		return
	}
	t := entryOf(handle)
	t.what, t.tag, t.looks, t.ended = C.uint64_t(handle), 0, C.vain_looks, 0
	t.state, t.done = C.uintptr_t(uintptr(unsafe.Pointer(word))), C.uint32_t(done)
}

// forgetRequest is called when the request of a handle has ended.
func forgetRequest(handle C.uintptr_t) {
	if C.vain.on == 0 {
		return
	}
	if t := entryOf(handle); t.what == C.uint64_t(handle) {
		t.what, t.ended = 0, 0
	}
	if q := &receives; q.next != q.last && q.handles[q.next%uint(len(q.handles))] == handle {
		q.next++
	}
}

// beginWaitOrLook is begun of a function that waits or looks.
func beginWaitOrLook(wait C.int) {
	if wait != 0 {
		begun()
	} else {
		beginLook()
	}
}

// found is called by such a function when it has found something: the same poll may have ended other requests.
func found() {
	if C.vain.on == 0 {
		return
	}
	C.vain.turn++
	idle = false
	C.vain.n = -1
	if receives.last-receives.next > 1 {
		endReceives()
		watch(false)
	}
}

// trackReceive is trackRequest of a receive.
func trackReceive(handle C.uintptr_t, r *core.Request) {
	if C.vain.on == 0 {
		return
	}
	trackRequest(handle, r)
	if q := &receives; q.last-q.next < uint(len(q.handles)) {
		q.handles[q.last%uint(len(q.handles))] = handle
		q.last++
	}
}

// foundNothing is called by such a function when it has polled and what it looks for is not done. It tells C by which
// words that shows. If they are others than before, something has come meanwhile.
func foundNothing() {
	if C.vain.on == 0 || C.vain.spins != 0 {
		return
	}
	if idle && !watch(true) {
		C.vain.turn++
	}
	idle = true
}

// idle says that the last look has found nothing. The thread that is in a call owns it.
var idle bool

// watch tells C the words in which news show, and reports whether they are the same as before. idle is that of
// Endpoint.Watch.
func watch(idle bool) (same bool) {
	v := &C.vain
	words, quiet := proc.Load().OfRank().Endpoint().Watch(watched[:0], idle)
	if !quiet || len(words) > len(watched) {
		v.n = -1
		return false
	}
	same = int(v.n) == len(words)
	for i, x := range words {
		at := (*C.uint64_t)(unsafe.Pointer(x.At))
		if same = same && v.word[i].at == at && uint64(v.word[i].held) == x.Held; !same {
			v.word[i].at, v.word[i].held = at, C.uint64_t(x.Held)
		}
	}
	v.n = C.int(len(words))
	return same
}
