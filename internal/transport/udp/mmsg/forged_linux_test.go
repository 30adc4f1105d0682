package mmsg

import (
	"encoding/binary"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestForgedICMP: somebody says in a router's name that the way to an address takes 552 bytes. The kernel believes
// it, and it was never asked to: datagrams as large as the interface's MTU go on leaving.
func TestForgedICMP(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("network namespaces can only be made by root")
	}
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespace: %v", err)
	}
	for _, args := range []string{"link set lo up", "link add d0 type veth peer name d1", "link set d1 up", "addr add 10.9.9.1/24 dev d0", "link set d0 up"} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("ip %s: %v: %s", args, err, out)
		}
	}
	victim, peer := netip.MustParseAddr("10.9.9.1"), netip.MustParseAddrPort("10.9.9.2:9")
	s := mustOpen(t, netip.AddrPortFrom(victim, 0), Options{})
	size, err := PathPayload(peer)
	if err != nil || size != 1472 {
		t.Skipf("the interface takes %d bytes: %v", size, err)
	}
	forge(t, victim, peer.Addr(), 552)
	if n, err := PathPayload(peer); n != 552-28 || err != nil {
		t.Skipf("the kernel does not believe it: %d, %v", n, err)
	}
	if n, err := s.Send([]Datagram{{Buf: make([]byte, size), Addr: peer}}); n != 1 || err != nil {
		t.Errorf("a datagram of %d bytes: %d sent, %v", size, n, err)
	}
	if n, err := s.Send([]Datagram{{Buf: make([]byte, 10*1472), Segment: 1472, Addr: peer}}); s.Info().GSO && (n != 1 || err != nil) {
		t.Errorf("ten of them in one buffer: %d sent, %v", n, err)
	}
}

// forge tells victim that an echo request of its own to peer was too large for a link of the given MTU.
func forge(t *testing.T, victim, peer netip.Addr, mtu uint16) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	if err != nil {
		t.Skipf("no raw socket: %v", err)
	}
	defer unix.Close(fd)
	b := make([]byte, 8+20+8)
	b[0], b[1] = 3, 4 // destination unreachable, fragmentation needed
	binary.BigEndian.PutUint16(b[6:], mtu)
	q := b[8:] // what was too large
	q[0], q[8], q[9] = 0x45, 64, unix.IPPROTO_ICMP
	binary.BigEndian.PutUint16(q[2:], 1500)
	from, to := victim.As4(), peer.As4()
	copy(q[12:], from[:])
	copy(q[16:], to[:])
	q[20] = 8 // echo request
	binary.BigEndian.PutUint16(b[2:], checksum(b))
	if err := unix.Sendto(fd, b, 0, &unix.SockaddrInet4{Addr: from}); err != nil {
		t.Skipf("it cannot be forged here: %v", err)
	}
}

// checksum is that of the Internet (RFC 1071).
func checksum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 1<<16-1 {
		sum = sum>>16 + sum&(1<<16-1)
	}
	return ^uint16(sum)
}
