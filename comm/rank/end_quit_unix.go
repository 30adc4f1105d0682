//go:build unix

package rank

import (
	"os"
	"syscall"
)

var quitSignal os.Signal = syscall.SIGQUIT

// quitAgain has the signal take its default course, which is Go's dump of all goroutines, and with GOTRACEBACK=crash
// a core.
func quitAgain() {
	// Cannot fail: a process may signal itself.
	_ = syscall.Kill(os.Getpid(), syscall.SIGQUIT)
}
