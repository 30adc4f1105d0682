package shm

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Lacks tells what this system has not that the conduit needs; nil if it has all. It asks the kernel.
func Lacks() error {
	fd, err := unix.MemfdCreate("golci", unix.MFD_CLOEXEC)
	if err == nil {
		err = unix.Close(fd)
	}
	if err != nil {
		return fmt.Errorf("%w: memfd: %w", errUnsupported, err)
	}
	const wake = 1
	word := new(atomic.Uint32) // on which nobody waits
	if _, _, errno := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), wake, 1, 0, 0, 0); errno != 0 {
		return fmt.Errorf("%w: futex: %w", errUnsupported, errno)
	}
	return nil
}
