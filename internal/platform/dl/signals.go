//go:build (ofi || pmix) && linux && (amd64 || arm64)

package dl

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// signals is how many signals there are, and maskBytes the length of a set of them as the kernel has it.
const (
	signals   = 64
	maskBytes = 8
)

// sigaction is the kernel's struct sigaction.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// KeepHandlers calls f, which runs C code, and puts back the handlers of signals that f has replaced. Libraries do so
// when they are loaded or first used. Go's own handler of SIGSEGV makes a panic of a nil dereference.
func KeepHandlers(f func()) {
	var before [signals + 1]sigaction
	for s := 1; s <= signals; s++ {
		handler(s, nil, &before[s])
	}
	defer func() {
		for s := 1; s <= signals; s++ {
			var now sigaction
			if handler(s, nil, &now) && now != before[s] {
				handler(s, &before[s], nil)
			}
		}
	}()
	f()
}

// handler sets or reads what the kernel does at a signal; false if there is no such signal.
func handler(s int, set, get *sigaction) bool {
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION,
		uintptr(s), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), maskBytes, 0, 0)
	return e == 0
}
