// Package futex blocks an OS thread on a 32-bit word until the word changes, and issues process-wide memory barriers.
//
// On Linux it is the futex(2) system call in its shared form, so that the word may lie in memory shared between
// processes, and membarrier(2). Elsewhere a table of waiters keyed by address does the same within one process, and
// there is no membarrier.
package futex

import "time"

// Forever as a timeout means that only a wake-up ends the wait.
const Forever time.Duration = -1
