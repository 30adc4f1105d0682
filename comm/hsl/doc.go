// Package hsl has handler-safe locks: locks that message handlers may take as well as everybody else, after the HSLs of
// GASNet.
//
// A handler runs inside a poll, on whatever goroutine or thread polls, so it must never wait for somebody who in turn
// waits for a poll. That is what the rules of these locks are about:
//
//   - A holder does nothing that may block, poll or switch threads: no request, no reply, no poll, no wait. It may take
//     another lock of this package.
//   - Locks are released by who took them, in the opposite order, before a handler replies or returns.
//   - No recursion.
//
// In exchange Lock only ever waits for code that is running. It spins, then lets other goroutines run, then sleeps; it
// never gives the worker of a fult thread to another thread, because that one might run a handler that wants the lock.
//
// Breaking a rule is an error that names the lock, its holder and the places. Recursion, foreign unlocks and locks that
// do not exist are found always; the others in checked mode, which tests and checking builds have by default.
package hsl
