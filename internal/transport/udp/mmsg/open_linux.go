package mmsg

import (
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// openBest opens a native socket, or a portable one where the system refuses the calls that take batches: a filter of
// system calls may, or an emulated kernel. The calls for one datagram are needed in any case; an error names the one
// that is refused.
func openBest(addr netip.AddrPort, o Options) (Socket, error) {
	if err := permitted("sendto", unix.SYS_SENDTO, "recvfrom", unix.SYS_RECVFROM); err != nil {
		return nil, err
	}
	if permitted("sendmmsg", unix.SYS_SENDMMSG, "recvmmsg", unix.SYS_RECVMMSG) != nil {
		return openPump(addr, o)
	}
	return openNative(addr, o)
}

// permitted tries two calls on a descriptor that cannot be: the kernel says so, unless it refuses the call. A try on a
// socket would not tell a refused call from a datagram that a firewall keeps back.
func permitted(send string, sendNumber uintptr, recv string, recvNumber uintptr) error {
	for _, c := range []struct {
		name   string
		number uintptr
	}{{send, sendNumber}, {recv, recvNumber}} {
		_, _, errno := unix.RawSyscall6(c.number, ^uintptr(0), 0, 0, flags, 0, 0)
		if errno != unix.EBADF {
			return os.NewSyscallError("mmsg: "+c.name, errno)
		}
	}
	return nil
}
