package fult

import (
	"runtime"
	"time"
)

// A thread that sleeps again and again outside of this package holds its worker up as much as one that is stuck, but
// the worker makes progress in between. The monitor finds it by its looks. One that finds the worker in a thread, and
// its OS thread asleep, begins a window with looks that are more frequent. If most of them find the same, the stack
// says what the thread blocks in. Else looks are rare again: a rank at rest is to stay at rest.

const (
	rareLooks     = time.Second // between looks outside of a window
	sleepWindow   = time.Second
	sleepLooks    = 10     // within it
	sleepMost     = 8      // so many of them find the thread asleep
	stacksAtSleep = 20_000 // with more goroutines nobody looks: to take their stacks stops the world for too long
)

// sleepWatch is the monitor's memory of how a worker has spent the current window.
type sleepWatch struct {
	since  time.Time // when the window began; zero: there is none
	looks  int
	asleep int // looks that have found the worker asleep in a thread
	vain   int // windows that were spent so, and stacks that did not show it
	skip   int // windows until stacks are taken again: each time twice as many
}

// noteLook notes what a look has found. At the end of a window that was spent asleep it tells how long that was.
func (x *sleepWatch) noteLook(now time.Time, asleep bool) (window time.Duration) {
	if x.since.IsZero() {
		if asleep {
			x.since = now
		}
		return 0
	}
	x.looks++
	if asleep {
		x.asleep++
	}
	window = now.Sub(x.since)
	if x.looks < sleepLooks || window < sleepWindow {
		return 0
	}
	if x.asleep*sleepLooks < x.looks*sleepMost {
		window = 0
	}
	*x = sleepWatch{vain: x.vain, skip: x.skip}
	return window
}

// isOpen tells whether a window has begun.
func (x *sleepWatch) isOpen() bool { return !x.since.IsZero() }

// isDue tells whether to take stacks after a window that was spent asleep.
func (x *sleepWatch) isDue() bool {
	if x.skip > 0 {
		x.skip--
		return false
	}
	x.skip = 1<<min(x.vain, 10) - 1
	x.vain++
	return true
}

// lookForSleep reports a thread of w that spends most of the time asleep. It is false if there is nothing to report.
func (s *Scheduler) lookForSleep(w *Worker, seen *sleepWatch, now time.Time, stacks func() *Stacks) bool {
	window := seen.noteLook(now, w.inThread() && inKernel(int(w.tid.Load())))
	if window == 0 || runtime.NumGoroutine() > stacksAtSleep || !seen.isDue() {
		return false
	}
	r := w.stuckReport(window, stacks())
	if !r.Thread || remedyFor(r.Stack) == "" {
		return false // it has woken up, or waits for the runtime
	}
	r.Asleep = true
	s.cfg.OnStuck(r)
	return true
}

// inThread tells whether w is in a thread. Any goroutine may call it.
func (w *Worker) inThread() bool {
	return w.parked.Load() == awake && peek(&w.curG) != peek(&w.loop.g)
}
