package futex

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Operations of futex(2). They lack FUTEX_PRIVATE_FLAG, because a word may lie in memory that processes share.
const (
	opWait = 0
	opWake = 1
)

// Wait blocks the calling OS thread if *addr is val, until a Wake on addr or until timeout has passed. A negative
// timeout, such as Forever, means none. It returns false only if the timeout ended it. It may return early, so the
// caller tests its condition again. The goroutine keeps its OS thread. Other goroutines may use its P.
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

// Wake wakes at most n OS threads that wait on addr, in any process, and returns their number. It does not block.
func Wake(addr *atomic.Uint32, n int) int {
	woken, _, errno := unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(addr)), opWake, uintptr(n), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(woken)
}
