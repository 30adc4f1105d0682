//go:build linux

package main

/*
#include "calls.h"
#include "posts.h"
#include "vain.h"
*/
import "C"

import "github.com/golci/golci/mpi/internal/core"

// begun is called at the beginning of each function that C calls and that may look at requests, or wait. It starts the
// receives that wait in C, and has C answer no look before Go has looked again. What recovers from panics comes before
// it. Functions that only look, and those of the shortest way, call beginLook.
func begun() {
	if C.vain.on != 0 {
		C.vain.turn++
	}
	beginLook()
}

// startPosts starts the receives that wait in C, in their order.
func startPosts() {
	p := &C.posts
	waiting, room := p.post[:p.n], p.room
	p.n, p.room = 0, 0 // after a panic the handles are of no use any more
	for i := range waiting {
		e := &waiting[i]
		in := requests.find(e.request)
		in.Request, in.comm = started(e), e.place
		trackReceive(e.request, &in.Request)
	}
	if room != 0 {
		stock(waiting)
		p.room = room
	}
}

// started starts one. A receive that cannot be started is a request that has failed. What must not take the shortest way
// takes the other one, as bytes.
func started(e *C.struct_post) core.Request {
	c := direct(e.place, e.source, e.tag)
	if c == nil {
		c = at(e.place)
		r, err := c.IrecvBuf("Irecv", core.Buf{Mem: e.mem, N: int64(e.n)}, int(e.source), int(e.tag))
		if err != nil {
			return at(worldPlace).EndedWith(err)
		}
		return r
	}
	r, err := c.Srv.Irecv(c.Ctx, int(c.Near[e.source]), int(e.tag), bytesAt(e.mem, e.n), nil)
	if err != nil {
		return c.EndedWith(c.RecvError("Irecv", int(e.source), int(e.tag), int(e.n), err))
	}
	return c.Started(r)
}

// stock gives posts the handles of the requests that they are going to be.
func stock(posts []C.struct_post) {
	for i := range posts {
		posts[i].request = requests.add(core.Request{}, worldPlace)
	}
}

//export golciPosts
func golciPosts() (class C.int) {
	defer recovered(&class)
	p, world := &C.posts, at(worldPlace)
	if world.Near == nil { // element types are checked, which a receive in C does not tell
		return C.MPI_SUCCESS
	}
	p.tags, p.longest = core.TagUB, C.int64_t(world.Srv.EagerLimit())
	stock(p.post[:])
	p.room = C.posts_most
	return C.MPI_SUCCESS
}
