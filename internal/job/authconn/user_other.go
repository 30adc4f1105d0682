//go:build !linux

package authconn

import (
	"errors"
	"syscall"
)

// SameUser fails: this system is not asked.
func SameUser(syscall.Conn) (pid int, err error) { return 0, errors.ErrUnsupported }
