// Package hsl has handler-safe locks, which message handlers may take, too, after the HSLs of GASNet.
//
// A handler runs inside a poll, on the goroutine or thread that polls. So it must never wait for a holder that itself
// waits for a poll. That is what the rules of these locks are about:
//
//   - A holder does nothing that may block, poll or switch threads: no request, no reply, no poll, no wait. It may take
//     another lock of this package.
//   - A goroutine releases the locks that it took, in the opposite order, before a handler replies or returns.
//   - No recursion.
//
// In exchange Lock only ever waits for code that is running. It spins, then lets other goroutines run, then sleeps. It
// never gives a fult worker to another thread, which might run a handler that takes the lock.
//
// Breaking a rule is an error that names the lock, its holder and the places. Recursion, foreign unlocks and locks
// that do not exist are always found. The others are found in checked mode, the default of tests and checking builds.
package hsl
