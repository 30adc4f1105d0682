package fult

import (
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestThreadThatSleepsIsReported: a worker whose thread sleeps in Go most of the time makes progress, and is reported
// once, with the line.
func TestThreadThatSleepsIsReported(t *testing.T) {
	t.Parallel()
	reports := make(chan StuckReport, 10)
	s := open(t, Config{coroutines: true, OnStuck: func(r StuckReport) { reports <- r }})
	var told atomic.Bool
	h := spawn(t, s, func(th *Thread) {
		for !told.Load() {
			sleepHere()
			th.Yield()
		}
	})
	r := <-reports
	told.Store(true)
	join(t, h)
	text := r.String()
	const most = "worker 0 has been asleep in thread 0.0 for most of 1"
	if !r.Asleep || r.Worker != 0 || !r.Thread || !strings.Contains(text, most) {
		t.Errorf("%+v: %s", r, text)
	}
	if !strings.Contains(text, "use fult.Sleep") || !strings.Contains(r.Stack, "fult.sleepHere") {
		t.Error(text)
	}
	if len(reports) != 0 {
		t.Errorf("reported again: %v", <-reports)
	}
}

//go:noinline
func sleepHere() { time.Sleep(10 * time.Millisecond) }

// TestInKernel: a thread that waits in the kernel is asleep, and one that runs, or is none, is not.
func TestInKernel(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if inKernel(unix.Gettid()) {
		t.Error("who asks is asleep")
	}
	if inKernel(0) || inKernel(1<<30) {
		t.Error("no thread is asleep")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tid, over := make(chan int), make(chan struct{})
	go func() {
		defer close(over)
		runtime.LockOSThread() // until it ends
		tid <- unix.Gettid()
		_, _ = unix.Read(int(r.Fd()), make([]byte, 1)) // ends with the pipe
	}()
	for id := <-tid; !inKernel(id); {
		runtime.Gosched()
	}
	w.Close()
	<-over
}
