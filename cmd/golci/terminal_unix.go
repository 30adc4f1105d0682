//go:build unix

package main

import (
	"os"
	"syscall"
)

// forwarded are the signals that golci run passes on to the ranks.
var forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGTSTP, syscall.SIGCONT,
}
