package mmsg

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// PathPayload asks the kernel how many bytes a datagram to addr may hold at most without being fragmented, by what is
// known of the path now: the first link's MTU, or less where a router has complained. It is SafePayload where the
// kernel cannot be asked. Set-up only: it opens a socket for the question and allocates; it sends nothing and does
// not wait for the network. The error is errFamily or the system's.
func PathPayload(addr netip.AddrPort) (bytes int, err error) {
	if !addr.Addr().IsValid() || addr.Addr().Is4In6() {
		return 0, fmt.Errorf("%w: %v", errFamily, addr)
	}
	conn, err := net.DialUDP(network(addr.Addr()), nil, net.UDPAddrFromAddrPort(addr))
	if err != nil {
		return 0, err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, errors.Join(err, conn.Close())
	}
	var mtu int
	e := raw.Control(func(fd uintptr) { mtu, err = pathMTU(int(fd), addr.Addr().Is4()) })
	if errors.Is(err, unix.ENOPROTOOPT) { // not a whole Linux: an emulator or a sandbox
		return SafePayload, errors.Join(e, conn.Close())
	}
	return Payload(mtu, addr.Addr().Is4()), errors.Join(e, err, conn.Close())
}

func pathMTU(fd int, v4 bool) (int, error) {
	if v4 {
		return unix.GetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU)
	}
	return unix.GetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU)
}
