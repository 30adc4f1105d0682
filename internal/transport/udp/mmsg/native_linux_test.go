package mmsg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/platform/invariants"
)

// segmented sends total bytes in segments and checks what comes.
func segmented(t *testing.T, a, b Socket, total, segment int) (joined int) {
	t.Helper()
	data := make([]byte, total)
	for i := range data {
		data[i] = byte(i / segment)
	}
	sendAll(t, a, []Datagram{{Buf: data, Segment: segment, Addr: b.Info().Addr}})
	at := 0
	receive(t, b, buffers(8, 1<<16), (total+segment-1)/segment, func(part []byte, d *Datagram) {
		if want := data[at:min(at+segment, total)]; !bytes.Equal(part, want) {
			t.Fatalf("at %d: %d bytes, want %d", at, len(part), len(want))
		}
		at += len(part)
		if d.Segment > 0 {
			joined++
		}
	})
	return joined
}

func TestSegments(t *testing.T) {
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		a, b := mustOpen(t, addr, o), mustOpen(t, addr, o)
		if !o.Portable && !a.Info().GSO {
			t.Skip("the kernel does not split segments")
		}
		for _, c := range [][2]int{{5000, 1000}, {5001, 1000}, {999, 1000}, {1000, 1000}, {MaxSegments * 1000, 1000}, {MaxSegments, 1}, {65000, 1400}} {
			if joined := segmented(t, a, b, c[0], c[1]); joined != 0 {
				t.Errorf("%v: %d segments came joined, which was not asked for", c, joined)
			}
		}
	})
}

func TestJoined(t *testing.T) {
	for family, addr := range loopbacks {
		t.Run(family, func(t *testing.T) {
			a, b := mustOpen(t, addr, Options{}), mustOpen(t, addr, Options{GRO: true})
			if !a.Info().GSO || !b.Info().GRO {
				t.Skip("the kernel does not split or not join segments")
			}
			if joined := segmented(t, a, b, 60_000, 1400); joined == 0 {
				t.Error("nothing came joined")
			}
			segmented(t, a, b, 100, 1400)
		})
	}
}

// TestPathTooSmall sends more than the path's MTU over an interface with a small one, if there is any.
func TestPathTooSmall(t *testing.T) {
	a := mustOpen(t, netip.MustParseAddrPort("0.0.0.0:0"), Options{})
	to := netip.MustParseAddrPort("192.0.2.1:9") // for documentation only (RFC 5737): nobody answers
	size, err := PathPayload(to)
	if err != nil || size >= MaxPayload {
		t.Skipf("no route with a small MTU: %d, %v", size, err)
	}
	good, bad := Datagram{Buf: make([]byte, size), Addr: to}, Datagram{Buf: make([]byte, size+1), Addr: to}
	if n, err := a.Send([]Datagram{good, bad, good}); n != 1 || !errors.Is(err, ErrTooBig) {
		t.Errorf("%d sent, %v; want 1, %v", n, err, ErrTooBig)
	}
	loose := mustOpen(t, netip.MustParseAddrPort("0.0.0.0:0"), Options{Fragment: true})
	if n, err := loose.Send([]Datagram{bad}); n != 1 || err != nil {
		t.Errorf("with fragments: %d sent, %v", n, err)
	}
}

func TestPathOfLoopback(t *testing.T) {
	for _, addr := range loopbacks {
		n, err := PathPayload(netip.AddrPortFrom(addr.Addr(), 9))
		if err != nil && addr.Addr().Is6() {
			t.Skipf("no IPv6 here: %v", err)
		}
		if err != nil || n < SafePayload || n > MaxPayload {
			t.Errorf("%v: %d, %v", addr, n, err)
		}
	}
}

// linkLocal finds an address that means something only together with its interface.
func linkLocal(t *testing.T) netip.Addr {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		addrs, _ := i.Addrs()
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is6() && p.Addr().IsLinkLocalUnicast() {
				return p.Addr().WithZone(i.Name)
			}
		}
	}
	t.Skip("no interface has a link-local IPv6 address")
	return netip.Addr{}
}

// TestZones: an address comes back as it was given, with its interface by name; and the number of the interface does
// as well.
func TestZones(t *testing.T) {
	at := linkLocal(t)
	a, b := mustOpen(t, netip.AddrPortFrom(at, 0), Options{}), mustOpen(t, netip.AddrPortFrom(at, 0), Options{})
	i, err := net.InterfaceByName(at.Zone())
	if err != nil {
		t.Fatal(err)
	}
	for _, zone := range []string{i.Name, strconv.Itoa(i.Index)} {
		to := netip.AddrPortFrom(at.WithZone(zone), b.Info().Addr.Port())
		sendAll(t, a, []Datagram{{Buf: []byte("near"), Addr: to}})
		receive(t, b, buffers(1, 9), 1, func(_ []byte, d *Datagram) {
			if want := netip.AddrPortFrom(at, a.Info().Addr.Port()); d.Addr != want {
				t.Errorf("from %v, want %v", d.Addr, want)
			}
		})
	}
	if n, err := a.Send([]Datagram{{Buf: []byte("far"), Addr: netip.AddrPortFrom(at.WithZone("nosuch0"), 9)}}); n != 0 || !errors.Is(err, errFamily) {
		t.Errorf("over an interface that does not exist: %d sent, %v", n, err)
	}
}

func TestGrantedIsTold(t *testing.T) {
	s := mustOpen(t, loopbacks["v4"], Options{RecvBuffer: 1 << 16, SendBuffer: 1 << 16, BusyPoll: 50 * time.Microsecond, Batch: 3})
	i := s.Info()
	// socket(7): the kernel doubles what was asked for.
	if i.RecvBuffer != 1<<17 || i.SendBuffer != 1<<17 || i.Batch != 3 || i.Addr.Port() == 0 || i.Portable {
		t.Errorf("%+v", i)
	}
	if i.BusyPoll != 0 && i.BusyPoll != 50*time.Microsecond {
		t.Errorf("busy poll %v", i.BusyPoll)
	}
}

// TestDropsAreCounted overflows the queue: what was not received is what Dropped tells, once enough have come after.
func TestDropsAreCounted(t *testing.T) {
	a, b := mustOpen(t, loopbacks["v4"], Options{}), mustOpen(t, loopbacks["v4"], Options{RecvBuffer: 1 << 14})
	batch := buffers(64, 2000)
	for i := range batch {
		batch[i].Addr = b.Info().Addr
	}
	sendAll(t, a, batch)
	room, got := buffers(64, 2000), 0
	drain := func() {
		for {
			n, err := b.Recv(room)
			if err != nil {
				t.Fatal(err)
			}
			if got += n; n == 0 {
				return
			}
		}
	}
	drain()
	sent := len(batch)
	for range tellEvery + 1 {
		sendAll(t, a, batch[:1])
		sent++
		drain()
	}
	if lost := b.Dropped(); lost == 0 || int(lost)+got != sent {
		t.Errorf("%d came, %d dropped, %d sent", got, lost, sent)
	}
}

// ancillary messages of every kind and length must not lead out of the buffer.
func FuzzAncillary(f *testing.F) {
	c := new(control)
	f.Add(append([]byte(nil), c.controlBytes()[:c.segment(1400)]...))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := new(control)
		n := copy(c.controlBytes()[:], b)
		s := new(native)
		d := Datagram{N: 1000}
		new(vector).ancillary(&d, c.controlBytes()[:n], &s.lost)
		if d.Segment < 0 || d.Segment >= d.N {
			t.Fatalf("segment %d of %d bytes", d.Segment, d.N)
		}
	})
}

// TestDropCountWraps: the kernel's 32 bits begin anew.
func TestDropCountWraps(t *testing.T) {
	s, c := new(native), new(control)
	h := c.controlBytes()
	binary.NativeEndian.PutUint64(h[:], uint64(unix.CmsgLen(4)))
	binary.NativeEndian.PutUint32(h[8:], unix.SOL_SOCKET)
	binary.NativeEndian.PutUint32(h[12:], unix.SO_RXQ_OVFL)
	for _, x := range []struct {
		told uint32
		want uint64
	}{{5, 5}, {5, 5}, {1<<32 - 1, 1<<32 - 1}, {3, 1<<32 + 3}} {
		binary.NativeEndian.PutUint32(h[16:], x.told)
		new(vector).ancillary(&Datagram{}, h[:unix.CmsgSpace(4)], &s.lost)
		if got := s.Dropped(); got != x.want {
			t.Fatalf("told %d: %d, want %d", x.told, got, x.want)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		a, b := mustOpen(t, addr, o), mustOpen(t, addr, o)
		out, in := buffers(4, 100), buffers(8, 100)
		for i := range out {
			out[i].Addr = b.Info().Addr
			out[i].Tail = make([]byte, 100*(i%2))
			in[i].Tail = make([]byte, 100)
		}
		end := time.Now().Add(patience)
		round := func() {
			if n, err := a.Send(out); n != len(out) || err != nil {
				t.Fatal(n, err)
			}
			for got := 0; got < len(out); {
				n, err := b.Recv(in)
				if err != nil {
					t.Fatal(err)
				}
				if got += n; n == 0 && b.Wait(end) == Timeout {
					t.Fatal("nothing came")
				}
			}
		}
		for range pumpSlots / len(out) * 2 { // so that each slot of the pump has its memory
			round()
		}
		if n := testing.AllocsPerRun(100, round); n != 0 {
			t.Errorf("%v allocations in a round", n)
		}
		if n := testing.AllocsPerRun(100, func() { b.Wake(); b.Wait(time.Time{}) }); n != 0 {
			t.Errorf("%v allocations in wake and wait", n)
		}
	})
}
