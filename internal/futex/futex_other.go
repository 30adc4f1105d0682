//go:build !linux

package futex

import (
	"sync/atomic"
	"time"
)

// waiters is process-wide because addresses are.
var waiters table

// Wait blocks the calling goroutine while *addr is val, until a Wake on addr in this process or until timeout has
// passed (Forever, or anything negative, for none). It returns false only if the timeout ended it. It may return
// early: the caller looks at its condition again.
func Wait(addr *atomic.Uint32, val uint32, timeout time.Duration) bool {
	return waiters.wait(addr, val, timeout)
}

// Wake wakes at most n goroutines that wait on addr and returns how many it woke. It does not block for long.
func Wake(addr *atomic.Uint32, n int) int { return waiters.wake(addr, n) }
