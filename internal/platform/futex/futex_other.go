//go:build !linux

package futex

import (
	"sync/atomic"
	"time"
)

// waiters belongs to the process, as addresses do.
var waiters table

// Wait blocks the calling goroutine if *addr is val, until a Wake on addr in this process or until timeout has
// passed. A negative timeout, such as Forever, means none. It returns false only if the timeout ended it. It may
// return early, so the caller has to test its condition again.
func Wait(addr *atomic.Uint32, val uint32, timeout time.Duration) bool {
	return waiters.waitFor(addr, val, timeout)
}

// Wake wakes at most n goroutines that wait on addr and returns their number. It may block for a moment, for a mutex.
func Wake(addr *atomic.Uint32, n int) int { return waiters.wakeWaiters(addr, n) }
