//go:build !linux

package mesh

import (
	"syscall"
	"time"
)

// impatient does nothing: the system's own patience ends the connection.
func impatient(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
