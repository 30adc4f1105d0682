//go:build linux

package main

/*
#include "calls.h"
#include "comms.h"
#include "fork.h"
#include <stdio.h>
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/rank"
)

// proc is the process's part in its job; nil before golciInit.
var proc atomic.Pointer[core.Proc]

// Places of the predefined communicators in comms.
const (
	worldPlace = C.world_place
	selfPlace  = C.self_place
)

//export golciInit
func golciInit(rankOf, size *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	faults()
	var p *core.Proc
	c := rank.Config{Caller: "mpi", Processors: true, Exit: exit, QuitDump: C.quit_is_free() != 0}
	c.Attach = func(r *rank.Rank) (err error) {
		p, err = core.NewProcOfC(r)
		return err
	}
	if _, err := rank.Start(context.Background(), c); err != nil {
		return classOf(err)
	}
	p.Isolate()
	if err := p.JoinParent(); err != nil {
		return classOf(err)
	}
	comms[worldPlace].Store(p.World())
	comms[selfPlace].Store(p.Self())
	proc.Store(p)
	anchor()
	*rankOf, *size = C.int(p.World().Rank()), C.int(p.World().Size())
	return C.MPI_SUCCESS
}

// appNum is the number of this process's program among those of golci run, or of the call that has spawned it. The
// first call asks the launcher. 0: it does not tell.
var appNum = sync.OnceValue(func() int {
	n, err := proc.Load().AppNum()
	if err != nil {
		return 0
	}
	return n
})

//export golciUniverse
func golciUniverse() C.int { return C.int(proc.Load().Universe()) }

//export golciAppNum
func golciAppNum() C.int { return C.int(appNum()) }

// flushTime is how long the end of the process waits for the program's output. Another thread may hold a stream.
const flushTime = time.Second

// exit ends the process, with what the program has printed.
func exit(code int) {
	done := make(chan struct{})
	go func() {
		C.fflush(nil)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(flushTime):
	}
	os.Exit(code)
}

// golciFinalize does not tell of operations that are left over: programs need not complete them.
//
//export golciFinalize
func golciFinalize() (class C.int) {
	defer recovered(&class)
	begun()
	defer weigh()
	requests.awaitFreed()
	err := proc.Load().OfRank().Finalize(context.Background())
	if errors.Is(err, sentinel.ErrPending) {
		return C.MPI_SUCCESS
	}
	return classOf(err)
}

//export golciAbort
func golciAbort(code C.int, text *C.char, n C.int64_t) {
	why := unsafe.String((*byte)(unsafe.Pointer(text)), int(n))
	last := max(1, int(code)&255) // the operating system has eight bits, and 0 is no failure
	if p := proc.Load(); p != nil && p.OfRank().Ended() == nil {
		_ = p.OfRank().Abort(last, errors.New(why))
	} else {
		fmt.Fprintf(os.Stderr, "golci: the process ends: %s\n", why)
	}
	os.Exit(last)
}
