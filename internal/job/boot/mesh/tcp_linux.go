package mesh

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// impatient makes the kernel end a connection if sent data has not been acknowledged for d.
func impatient(d time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		var set error
		err := c.Control(func(fd uintptr) {
			set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d/time.Millisecond))
		})
		if err != nil {
			return err
		}
		return set
	}
}
