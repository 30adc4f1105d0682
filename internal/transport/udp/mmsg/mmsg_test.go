package mmsg

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come. Long, since the machine may stop the process for a while.
const patience = 5 * time.Minute

var loopbacks = map[string]netip.AddrPort{
	"v4": netip.MustParseAddrPort("127.0.0.1:0"),
	"v6": netip.MustParseAddrPort("[::1]:0"),
}

// everywhere runs f over both backends and both families; on other systems than Linux both backends are the pump.
func everywhere(t *testing.T, f func(t *testing.T, addr netip.AddrPort, o Options)) {
	for family, addr := range loopbacks {
		for _, portable := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/portable=%v", family, portable), func(t *testing.T) {
				f(t, addr, Options{Portable: portable})
			})
		}
	}
}

func mustOpen(t testing.TB, addr netip.AddrPort, o Options) Socket {
	t.Helper()
	s, err := Open(addr, o)
	if err != nil {
		if addr.Addr().Is6() {
			t.Skipf("no IPv6 here: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func buffers(n, size int) []Datagram {
	b := make([]Datagram, n)
	for i := range b {
		b[i].Buf = make([]byte, size)
	}
	return b
}

// sendAll sends the batch, however often the queue is full.
func sendAll(t testing.TB, s Socket, batch []Datagram) {
	t.Helper()
	for end := time.Now().Add(patience); len(batch) > 0; {
		n, err := s.Send(batch)
		if err != nil {
			t.Fatal(err)
		}
		if batch = batch[n:]; n == 0 {
			if time.Now().After(end) {
				t.Fatal("the queue stays full")
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// receive waits until want datagrams came, segments counted, and gives each to f.
func receive(t testing.TB, s Socket, batch []Datagram, want int, f func(data []byte, d *Datagram)) {
	t.Helper()
	end := time.Now().Add(patience)
	for got := 0; got < want; {
		n, err := s.Recv(batch)
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch[:n] {
			d := &batch[i]
			step := d.Segment
			if step == 0 {
				step = max(d.N, 1)
			}
			for at := 0; at == 0 || at < d.N; at += step {
				f(d.Buf[at:min(at+step, d.N)], d)
				got++
			}
		}
		if n == 0 && s.Wait(end) == Timeout {
			t.Fatalf("%d of %d came", got, want)
		}
	}
}

func TestBatchArrives(t *testing.T) {
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		o.Batch = 7 // so that a batch takes several calls
		a, b := mustOpen(t, addr, o), mustOpen(t, addr, o)
		batch := buffers(40, 0)
		for i := range batch {
			batch[i].Buf = bytes.Repeat([]byte{byte(i)}, i*3) // the first is empty
			batch[i].Addr = b.Info().Addr
		}
		sendAll(t, a, batch)
		i := 0
		receive(t, b, buffers(16, 200), len(batch), func(data []byte, d *Datagram) {
			if !bytes.Equal(data, batch[i].Buf) || d.Addr != a.Info().Addr || d.Truncated {
				t.Fatalf("datagram %d: %d bytes from %v, truncated %v", i, len(data), d.Addr, d.Truncated)
			}
			i++
		})
		if n, err := b.Recv(buffers(4, 10)); n != 0 || err != nil {
			t.Fatalf("then %d more, %v", n, err)
		}
	})
}

func TestTruncated(t *testing.T) {
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		a, b := mustOpen(t, addr, o), mustOpen(t, addr, o)
		sendAll(t, a, []Datagram{{Buf: []byte("too long for it"), Addr: b.Info().Addr}, {Buf: []byte("short"), Addr: b.Info().Addr}})
		var got []string
		receive(t, b, buffers(2, 8), 2, func(data []byte, d *Datagram) {
			got = append(got, fmt.Sprintf("%s %v", data, d.Truncated))
		})
		if got[0] != "too long true" || got[1] != "short false" {
			t.Fatalf("got %q", got)
		}
	})
}

// TestLargest is a jumbo datagram: on loopback it travels whole.
func TestLargest(t *testing.T) {
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		a, b := mustOpen(t, addr, o), mustOpen(t, addr, o)
		size, err := PathPayload(b.Info().Addr)
		if err != nil {
			t.Fatal(err)
		}
		d := Datagram{Buf: bytes.Repeat([]byte("golci"), size/5+1)[:size], Addr: b.Info().Addr}
		sendAll(t, a, []Datagram{d})
		receive(t, b, buffers(1, 1<<16), 1, func(data []byte, _ *Datagram) {
			if !bytes.Equal(data, d.Buf) {
				t.Fatalf("%d bytes came, %d were sent", len(data), size)
			}
		})
	})
}

func TestRefusals(t *testing.T) {
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		a, b := mustOpen(t, addr, o), mustOpen(t, addr, o)
		other := loopbacks["v4"]
		if addr.Addr().Is4() {
			other = loopbacks["v6"]
		}
		to := b.Info().Addr
		for _, c := range []struct {
			bad  Datagram
			want error
		}{
			{Datagram{Buf: make([]byte, MaxPayload+1), Addr: to}, ErrTooBig},
			{Datagram{Buf: make([]byte, MaxSegments+1), Segment: 1, Addr: to}, ErrTooBig},
			{Datagram{Buf: make([]byte, 9), Segment: -1, Addr: to}, ErrTooBig},
			{Datagram{Buf: make([]byte, 9), Tail: make([]byte, MaxPayload-8), Addr: to}, ErrTooBig},
			{Datagram{Buf: make([]byte, 9), Tail: make([]byte, 9), Segment: 3, Addr: to}, ErrTail},
			{Datagram{Buf: make([]byte, 9), Addr: netip.AddrPortFrom(other.Addr(), to.Port())}, errFamily},
			{Datagram{Buf: make([]byte, 9)}, errFamily},
			{Datagram{Buf: make([]byte, 9), Addr: netip.MustParseAddrPort("[::ffff:127.0.0.1]:9")}, errFamily},
		} {
			good := Datagram{Buf: []byte("good"), Addr: to}
			n, err := a.Send([]Datagram{good, good, c.bad, good})
			if n != 2 || !errors.Is(err, c.want) {
				t.Errorf("%d bytes, segment %d, to %v: %d sent, %v; want 2, %v", len(c.bad.Buf), c.bad.Segment, c.bad.Addr, n, err, c.want)
			}
			receive(t, b, buffers(4, 8), 2, func([]byte, *Datagram) {})
		}
	})
}

func TestBadOptions(t *testing.T) {
	addr := loopbacks["v4"]
	for _, o := range []Options{{Batch: -1}, {Batch: maxBatch + 1}, {RecvBuffer: -1}, {SendBuffer: -1}, {BusyPoll: -1}} {
		if _, err := Open(addr, o); !errors.Is(err, errOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, a := range []netip.AddrPort{{}, netip.MustParseAddrPort("[::ffff:127.0.0.1]:0")} {
		if _, err := Open(a, Options{}); !errors.Is(err, errOptions) {
			t.Errorf("%v: %v", a, err)
		}
		if _, err := PathPayload(a); !errors.Is(err, errFamily) {
			t.Errorf("path to %v: %v", a, err)
		}
	}
	s := mustOpen(t, addr, Options{})
	if _, err := Open(s.Info().Addr, Options{}); err == nil {
		t.Error("one port was bound twice")
	}
}

// TestFullQueue sends to one that does not receive: Send must come back, and what was received must be whole.
func TestFullQueue(t *testing.T) {
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		o.RecvBuffer = 1 << 14
		a, b := mustOpen(t, addr, o), mustOpen(t, addr, o)
		batch := buffers(64, 4000)
		for i := range batch {
			batch[i].Addr = b.Info().Addr
		}
		for range 40 {
			for i := range batch {
				batch[i].Buf[0], batch[i].Buf[3999] = byte(i), byte(i)
			}
			if _, err := a.Send(batch); err != nil {
				t.Fatal(err)
			}
		}
		receive(t, b, buffers(16, 5000), 1, func(data []byte, _ *Datagram) {
			if len(data) != 4000 || data[0] != data[3999] {
				t.Fatalf("%d bytes, %d and %d", len(data), data[0], data[3999])
			}
		})
	})
}

func TestWaitTellsWhy(t *testing.T) {
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		a, b := mustOpen(t, addr, o), mustOpen(t, addr, o)
		if r := b.Wait(time.Now().Add(10 * time.Millisecond)); r != Timeout {
			t.Fatalf("nothing came: %v", r)
		}
		b.Wake()
		if r := b.Wait(time.Time{}); r != Woken {
			t.Fatalf("woken before: %v", r)
		}
		sendAll(t, a, []Datagram{{Buf: []byte("x"), Addr: b.Info().Addr}})
		if r := b.Wait(time.Time{}); r != Ready {
			t.Fatalf("a datagram came: %v", r)
		}
		if r := b.Wait(time.Time{}); r != Ready {
			t.Fatalf("it is still there: %v", r)
		}
		receive(t, b, buffers(1, 9), 1, func([]byte, *Datagram) {})
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if r := b.Wait(time.Time{}); r != Closed {
			t.Fatalf("closed: %v", r)
		}
		b.Wake()
		if _, err := b.Recv(buffers(1, 9)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Recv after Close: %v", err)
		}
		if _, err := b.Send([]Datagram{{Buf: []byte("x"), Addr: a.Info().Addr}}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Send after Close: %v", err)
		}
	})
}

// TestWakeIsNeverLost: each Wake that follows a store ends a Wait that the waiter entered without seeing the store.
func TestWakeIsNeverLost(t *testing.T) {
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		s := mustOpen(t, addr, o)
		const rounds = 2000
		turn, back := make(chan int, 1), make(chan int)
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range rounds {
				turn <- i
				s.Wake()
				<-back
			}
		})
		for i := range rounds {
			for got := false; !got; {
				select {
				case v := <-turn:
					if got = true; v != i {
						t.Errorf("round %d, got %d", i, v)
					}
				default:
					if r := s.Wait(time.Now().Add(patience)); r != Woken {
						t.Fatalf("round %d: %v", i, r)
					}
				}
			}
			back <- i
		}
		wg.Wait()
	})
}

// TestCloseRaces closes a socket that is sending, receiving, waiting and being woken.
func TestCloseRaces(t *testing.T) {
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		for range 10 {
			s := mustOpen(t, addr, o)
			to := s.Info().Addr
			var wg sync.WaitGroup
			var came atomic.Bool
			wg.Go(func() {
				for batch := []Datagram{{Buf: []byte("self"), Addr: to}}; ; {
					if _, err := s.Send(batch); err != nil {
						return
					}
				}
			})
			wg.Go(func() {
				for batch := buffers(8, 16); ; {
					n, err := s.Recv(batch)
					if err != nil {
						return
					}
					if n > 0 {
						came.Store(true)
					}
				}
			})
			wg.Go(func() {
				for s.Wait(time.Time{}) != Closed {
				}
			})
			wg.Go(func() {
				for range 20 {
					s.Wake()
				}
			})
			for !came.Load() {
				runtime.Gosched()
			}
			wg.Go(func() { _ = s.Close() })
			_ = s.Close()
			wg.Wait()
		}
	})
}
