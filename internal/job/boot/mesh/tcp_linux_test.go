package mesh

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// deaf makes an address at which no call is answered: the queue of its listener is full, and nobody takes from it.
func deaf(t *testing.T, ip string) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: netip.MustParseAddr(ip).As4()}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := netip.AddrPortFrom(netip.MustParseAddr(ip), uint16(name.(*unix.SockaddrInet4).Port))
	for range 10 {
		c, err := net.DialTimeout("tcp", addr.String(), 200*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { c.Close() })
	}
	t.Skip("this system answers although the listener's queue is full")
	return addr
}

// TestSilent: a machine that does not answer is an error in time, and waited for once.
func TestSilent(t *testing.T) {
	w := newWorld(t, 4, 1, Config{Silence: 2 * time.Second}) // rank 3 must answer in that time
	for rank := 1; rank < 3; rank++ {
		w.addrs[rank] = []netip.AddrPort{deaf(t, "127.0.0.2")}
		if err := w.nodes[0].Send(t.Context(), rank, nil); !errors.Is(err, ErrGone) || (rank == 2) != strings.Contains(err.Error(), "its machine") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if err := w.nodes[0].Send(t.Context(), 3, nil); err != nil {
		t.Errorf("another machine: %v", err)
	}
}

// TestImpatient: the kernel is told how long an acknowledgement may take.
func TestImpatient(t *testing.T) {
	w := newWorld(t, 2, 1, Config{Silence: 1234 * time.Millisecond})
	if err := w.nodes[0].Send(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	raw, err := w.nodes[0].peerOf(1).link.raw.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	if e := raw.Control(func(fd uintptr) { got, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT) }); e != nil || err != nil || got != 1234 {
		t.Errorf("got %d ms, %v, %v", got, e, err)
	}
}
