package usertest

import (
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Stranger is the user id of somebody else.
const Stranger = 54321

// AsStranger runs f on an OS thread that belongs to Stranger, which no other goroutine uses again. f must do its system
// calls itself. It waits for f. The test is skipped without root.
func AsStranger(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("skipped: needs root to become another user")
	}
	done := make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		none := ^uintptr(0)
		_, _, errno := syscall.RawSyscall(unix.SYS_SETRESUID, none, Stranger, none)
		if errno == 0 {
			f()
		}
		done <- errno == 0
	}()
	if !<-done {
		t.Fatal("cannot become another user")
	}
}
