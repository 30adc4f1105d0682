// Package futex blocks an OS thread on a 32-bit word until the word changes, and issues process-wide memory barriers.
//
// On Linux it uses the system calls futex(2) and membarrier(2). The futex is of the shared form, so the word may lie in
// memory that processes share. Elsewhere a table of waiters by address works within one process, without membarrier.
package futex

import "time"

// Forever is the timeout of a wait that only a wake-up ends.
const Forever time.Duration = -1
