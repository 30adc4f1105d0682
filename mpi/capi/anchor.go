//go:build linux

package main

import (
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// A thread of the program needs one of Go's processors for each call. While the thread computes, Go's monitor takes the
// processor away, and then goes to sleep itself if no other is busy. The next call has to wake it, which takes some
// 15 us. The anchor is a goroutine that keeps one processor busy, so the monitor stays awake: a call takes an idle
// processor, in 1 us. It sleeps in the kernel, so it needs no core.
//
// anchorNap is how long it sleeps at once. The monitor takes the processor of a system call that lasts 10 ms.
const anchorNap = 8 * time.Millisecond

// anchored is set from the beginning to the end of the process's part in its job.
var anchored atomic.Bool

// anchor starts the anchor, and sees to idle processors: one for the anchor, one for the calling thread.
func anchor() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2)
	}
	anchored.Store(true)
	go func() {
		for anchored.Load() {
			nap := syscall.NsecToTimespec(int64(anchorNap))
			_ = syscall.Nanosleep(&nap, nil) // its end comes early at a signal
			runtime.Gosched()                // else the monitor takes the goroutine for one that never yields
		}
	}()
}

// weigh ends the anchor, within anchorNap.
func weigh() { anchored.Store(false) }
