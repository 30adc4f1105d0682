package fult

import (
	"container/heap"
	"math"
	"time"

	"github.com/golci/golci/internal/platform/futex"
)

// timers is the heap of a worker's sleeping threads, earliest first. Owned by the worker.
type timers []*Thread

func (h timers) Len() int           { return len(h) }
func (h timers) Less(i, j int) bool { return h[i].wake < h[j].wake }
func (h timers) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *timers) Push(x any) { *h = append(*h, x.(*Thread)) }

// Pop implements heap.Interface.
func (h *timers) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}

// Sleep lets thread t sleep for at least d. Only t waits, and its worker goes on. A nil t stands for the calling thread.
// A plain goroutine sleeps by itself. It switches threads or blocks. Abort and Close unwind t.
func Sleep(t *Thread, d time.Duration) {
	if t = orCurrent(t); t == nil {
		time.Sleep(d)
		return
	}
	t.Sleep(d)
}

// Sleep blocks the thread for at least d. A Signal meanwhile stays for the next Wait. It switches threads.
func (t *Thread) Sleep(d time.Duration) {
	if t.ext != nil {
		t.ext.sleepFor(d)
		return
	}
	if d <= 0 {
		t.Yield()
		t.raisePrivate() // Yield may have taken a Signal
		return
	}
	w := t.w
	now := w.now()
	t.wake = now + min(d, math.MaxInt64-now)
	heap.Push(&w.timers, t)
	// fire clears wake. Any other return of park means a signal, which Sleep gives again at its end.
	signalled := false
	for {
		if t.parkThread() {
			t.cancelSleep()
			t.Wait()
		}
		if t.wake == 0 {
			break
		}
		signalled = true
	}
	if signalled {
		t.raisePrivate()
	}
}

// cancelSleep takes t out of the heap when Abort or Close ends it.
func (t *Thread) cancelSleep() {
	h := &t.w.timers
	for i, x := range *h {
		if x == t {
			heap.Remove(h, i)
			break
		}
	}
	t.wake = 0
}

// fireTimers makes all threads runnable whose sleep is over.
func (w *Worker) fireTimers(now time.Duration) (any bool) {
	for len(w.timers) != 0 && w.timers[0].wake <= now {
		t := heap.Pop(&w.timers).(*Thread)
		t.wake = 0
		t.raisePrivate()
		any = true
	}
	return any
}

// untilTimer returns the time for which the worker may sleep.
func (w *Worker) untilTimer(now time.Duration) time.Duration {
	switch {
	case len(w.timers) != 0:
		return max(0, w.timers[0].wake-now)
	case w.s.poller != nil:
		return longSleep
	}
	return futex.Forever
}
