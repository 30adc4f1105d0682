//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// inForeground says whether this process may read its terminal without being stopped.
func inForeground() bool {
	group, err := unix.IoctlGetInt(int(os.Stdin.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
