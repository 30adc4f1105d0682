//go:build unix

package suite

import "syscall"

// emptyCall is a system call that does nothing.
func emptyCall() error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
