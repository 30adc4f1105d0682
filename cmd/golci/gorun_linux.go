package main

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// tieToGoRun covers `go run ./cmd/golci run ...`: there the process that people know, and kill, is the go command, and
// this one would go on without it. The go command puts what it runs under a directory named go-build...; only then does
// its death ask us to end, as a SIGTERM would.
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
