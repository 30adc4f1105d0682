package fult

import "runtime"

// Abort ends the threads that wait, and those that will: each unwinds at its current or next wait, as by
// runtime.Goexit, so deferred functions run and what follows the wait does not. Join then returns ErrClosed. The waits
// are those of this package: of Mutex, Cond, Barrier, WaitGroup and Counter, Recv, Send, Join, Thread.Wait and Sleep.
//
// Abort leaves these to others: a thread in Thread.Pause, which whoever made it wait wakes; a thread in Blocking, which
// unwinds at its next wait after its function has returned; a thread that computes or yields; a waiter that is no
// thread of s. Workers go on, and threads may be started. Any goroutine, thread or poll function may call Abort. It
// does not block or switch threads.
func (s *Scheduler) Abort() {
	if s.aborted.Swap(true) {
		return
	}
	close(s.stop)
	// A thread looks at aborted before it rests. So one that did not see it is woken here, and looks again.
	for t := range s.Threads() {
		t.Signal()
	}
}

// unwindIfAborted ends the calling thread, t, after Abort.
func (t *Thread) unwindIfAborted() {
	if t.w.s.aborted.Load() {
		runtime.Goexit()
	}
}

// endOfThread is what Join returns for a thread that has ended by Goexit.
func (s *Scheduler) endOfThread() error {
	if s.aborted.Load() {
		return ErrClosed
	}
	return ErrGoexit
}
