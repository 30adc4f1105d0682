package main

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// tieToGoRun covers `go run ./cmd/golci run ...`. There people see, and kill, the process of the go command, and this
// process would go on without it. The go command puts the program under a directory named go-build... . Only then is
// its death to end this process, as a SIGTERM would.
func tieToGoRun() {
	self, err := ownPath()
	if err != nil || !strings.Contains(filepath.ToSlash(self), "/go-build") {
		return
	}
	parent := os.Getppid()
	if unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0) == nil && os.Getppid() != parent {
		_ = unix.Kill(os.Getpid(), unix.SIGTERM)
	}
}
