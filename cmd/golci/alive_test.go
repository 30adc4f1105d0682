//go:build unix && !linux

package main

import (
	"strconv"
	"syscall"
)

// alive says whether the process is there.
func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && syscall.Kill(n, 0) == nil
}
