// Package fult schedules light-weight threads on a few OS threads. It implements Fult, the scheduler of the LCI
// paper. One bit stands for each thread, and a runnable thread has its bit set. A signal sets the bit. A worker takes
// 64 bits with one atomic exchange.
//
// A [Scheduler] has a few [Worker]s. Each worker is a goroutine locked to an OS thread. A [Thread] is a coroutine of
// one worker and never moves to another one after its start. A thread gives up its worker only in calls of this
// package, such as Wait, Yield and Sleep. A call that blocks in the kernel, on a channel or on a Go mutex blocks the
// whole worker. Use [Blocking], [Recv], [Send] and the [Mutex] of this package instead. A thread must not call
// runtime.LockOSThread.
//
// Every call that can block takes a [Waiter]. A waiter is a thread, a plain goroutine ([Goroutine]) or a locked OS
// thread ([OSThread]). All three kinds may use the same object.
//
// Workers poll and spin before they sleep. GOMAXPROCS must exceed the number of workers, so that the garbage
// collector and other goroutines run meanwhile. The page docs/design/scheduler.md explains this.
package fult
