package mmsg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// closedPort is an address of this machine where nobody receives.
func closedPort(t *testing.T, addr netip.AddrPort) netip.AddrPort {
	t.Helper()
	s := mustOpen(t, addr, Options{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return s.Info().Addr
}

// comeBack waits for datagrams that come back, and gives each to f.
func comeBack(t *testing.T, s Socket, want int, f func(d *Datagram)) {
	t.Helper()
	batch := buffers(4, 64)
	for got := 0; got < want; {
		if r := s.Wait(time.Now().Add(patience)); r != Ready {
			t.Fatalf("after %d of %d: %v", got, want, r)
		}
		if _, err := s.Recv(batch); err == nil {
			continue
		} else if !errors.Is(err, ErrRefused) {
			t.Fatal(err)
		}
		n := s.Refused(batch)
		for i := range batch[:n] {
			f(&batch[i])
		}
		got += n
	}
}

// TestRefused: what is sent to a port that is not open comes back, with its beginning and where it went. What goes
// elsewhere meanwhile is not lost, and who waits afterwards is left in peace.
func TestRefused(t *testing.T) {
	const rounds = 50
	for family, addr := range loopbacks {
		t.Run(family, func(t *testing.T) {
			s, live := mustOpen(t, addr, Options{Refusals: true}), mustOpen(t, addr, Options{})
			dead := closedPort(t, addr)
			if !s.Info().Refusals {
				t.Skip("the kernel does not tell of datagrams that come back")
			}
			long := bytes.Repeat([]byte{7}, 1000)
			for i := range uint64(rounds) {
				b := binary.BigEndian.AppendUint64(nil, i)
				sendAll(t, s, []Datagram{{Buf: b, Addr: dead}, {Buf: append(b, long...), Addr: live.Info().Addr}, {Buf: append(b, long...), Addr: dead}})
			}
			seen := map[int]int{}
			comeBack(t, s, 2*rounds, func(d *Datagram) {
				if d.N < 8 || d.Addr != dead || d.Truncated != (d.N > 8) || binary.BigEndian.Uint64(d.Buf) >= rounds {
					t.Errorf("%d bytes to %v came back: %x", d.N, d.Addr, d.Buf[:d.N])
				}
				seen[d.N]++
			})
			if seen[8] != rounds || seen[64] != rounds {
				t.Errorf("by length: %v", seen)
			}
			receive(t, live, buffers(8, 2000), rounds, func([]byte, *Datagram) {})
			if r := s.Wait(time.Now().Add(20 * time.Millisecond)); r != Timeout {
				t.Errorf("afterwards Wait ends with %v", r)
			}
		})
	}
}

// TestConnect: a connected socket takes nothing from others, sends to its peer and to others, alone and in batches, and
// is told of refusals by its peer's machine. One that is not told of refusals stays as it is.
func TestConnect(t *testing.T) {
	for family, addr := range loopbacks {
		t.Run(family, func(t *testing.T) {
			s, plain := mustOpen(t, addr, Options{Refusals: true}), mustOpen(t, addr, Options{})
			peer, other := mustOpen(t, addr, Options{}), mustOpen(t, addr, Options{})
			at, others := s.Info().Addr, other.Info().Addr
			if !s.Info().Refusals {
				t.Skip("the kernel does not tell of datagrams that come back")
			}
			for x, want := range map[Socket]bool{s: true, plain: false} {
				if x.(Connector).Connect(peer.Info().Addr) != want {
					t.Fatalf("a socket is connected: %v", !want)
				}
			}
			if s.Info().Peer != peer.Info().Addr || plain.Info().Peer.IsValid() {
				t.Fatalf("connected to %v and %v", s.Info().Peer, plain.Info().Peer)
			}
			sendAll(t, other, []Datagram{{Buf: []byte("foreign"), Addr: at}})
			sendAll(t, peer, []Datagram{{Buf: []byte("answer"), Addr: at}})
			receive(t, s, buffers(1, 64), 1, func(b []byte, d *Datagram) {
				if string(b) != "answer" || d.Addr != peer.Info().Addr {
					t.Errorf("%q came from %v", b, d.Addr)
				}
			})
			to := peer.Info().Addr
			sendAll(t, s, []Datagram{{Buf: []byte("alone"), Addr: to}})
			sendAll(t, s, []Datagram{{Buf: []byte("alone"), Addr: others}})
			sendAll(t, s, []Datagram{
				{Buf: []byte("first"), Addr: to}, {Buf: []byte("other"), Addr: others}, {Buf: []byte("third"), Addr: to},
			})
			receive(t, peer, buffers(4, 64), 3, func([]byte, *Datagram) {})
			receive(t, other, buffers(4, 64), 2, func([]byte, *Datagram) {})
			if err := peer.Close(); err != nil {
				t.Fatal(err)
			}
			sendAll(t, s, []Datagram{{Buf: []byte("too late"), Addr: to}})
			comeBack(t, s, 1, func(d *Datagram) {
				if d.Addr != to || string(d.Buf[:d.N]) != "too late" {
					t.Errorf("%q to %v came back", d.Buf[:d.N], d.Addr)
				}
			})
		})
	}
}

// TestTooBigIsNoRefusal: the kernel keeps a note of what it refuses itself. That is no refusal by a machine, and does
// not end waits for ever.
func TestTooBigIsNoRefusal(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("network namespaces can only be made by root")
	}
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespace: %v", err)
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "mtu", "1500", "up").CombinedOutput(); err != nil {
		t.Skipf("ip: %v: %s", err, out)
	}
	for family, addr := range loopbacks {
		s := mustOpen(t, addr, Options{Refusals: true})
		for range 3 {
			if _, err := s.Send([]Datagram{{Buf: make([]byte, 2000), Addr: s.Info().Addr}}); !errors.Is(err, ErrTooBig) {
				t.Fatal(family, err)
			}
		}
		batch := buffers(2, 64)
		for n := 0; s.Wait(time.Now().Add(20*time.Millisecond)) != Timeout; n++ {
			if _, err := s.Recv(batch); err != nil {
				if n := s.Refused(batch); n != 0 {
					t.Errorf("%s: %d refusals", family, n)
				}
			}
			if n > 3 {
				t.Fatalf("%s: who waits is not left in peace", family)
			}
		}
	}
}
