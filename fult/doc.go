// Package fult schedules light-weight threads on a few OS threads by bits: a thread that may run is one bit that is
// set, a signal sets it, and a worker takes 64 of them with one exchange. (The scheduler of the LCI paper, Fult.)
//
// A [Scheduler] has a few [Worker]s, each a goroutine locked to an OS thread. A [Thread] is a coroutine of one worker;
// it never moves once it has started. It gives up its worker only in a call of this package (Wait, Yield, Sleep, and
// what is built on them). A call that blocks in the kernel, on a channel or on a Go mutex blocks the whole worker: use
// [Blocking], [Recv], [Send], and the [Mutex] of this package instead. A thread must not call runtime.LockOSThread.
//
// Whatever can block takes a [Waiter], which is a thread, a plain goroutine ([Goroutine]) or a locked OS thread
// ([OSThread]), so that all three may meet at one object.
//
// Workers poll and spin before they sleep. For the garbage collector and other goroutines to run meanwhile,
// GOMAXPROCS must be larger than the number of workers; see docs/scheduler.md.
package fult
