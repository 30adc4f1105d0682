package futex

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Operations of futex(2); without FUTEX_PRIVATE_FLAG, because a word may lie in memory shared with other processes.
const (
	opWait = 0
	opWake = 1
)

// Wait blocks the calling OS thread while *addr is val, until a Wake on addr or until timeout has passed (Forever, or
// anything negative, for none). It returns false only if the timeout ended it. It may return early, also without a
// Wake: the caller looks at its condition again. The goroutine keeps its OS thread; its P is free for others.
func Wait(addr *atomic.Uint32, val uint32, timeout time.Duration) bool {
	var ts *unix.Timespec
	if timeout >= 0 {
		t := unix.NsecToTimespec(int64(timeout))
		ts = &t
	}
	_, _, errno := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(addr)), opWait, uintptr(val),
		uintptr(unsafe.Pointer(ts)), 0, 0)
	return errno != unix.ETIMEDOUT
}

// Wake wakes at most n threads, of any process, that wait on addr, and returns how many it woke. It does not block.
func Wake(addr *atomic.Uint32, n int) int {
	woken, _, errno := unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(addr)), opWake, uintptr(n), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(woken)
}
