package faulty

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/transport/badnet"
	"github.com/golci/golci/internal/transport/udp/mmsg"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a socket in virtual time: Wait moves the clock to its deadline.
type fake struct {
	now     time.Duration
	began   time.Time
	room    int // datagrams the queue takes before it is full
	largest int // above: ErrTooBig
	came    []arrival
	count   int // datagrams sent
	quiet   bool
	woken   bool
	ready   time.Duration // when something is to be received; 0: never
	closed  bool
	onWait  func()
}

type arrival struct {
	to   netip.AddrPort
	id   uint32
	at   time.Duration
	size int
}

func (f *fake) Send(batch []mmsg.Datagram) (int, error) {
	for i, d := range batch {
		switch {
		case f.closed:
			return i, net.ErrClosed
		case len(d.Buf) > f.largest:
			return i, mmsg.ErrTooBig
		case f.room == 0:
			return i, nil
		}
		f.room--
		f.count++
		if f.quiet {
			continue
		}
		a := arrival{to: d.Addr, at: f.now, size: len(d.Buf)}
		if len(d.Buf) >= 4 {
			a.id = binary.BigEndian.Uint32(d.Buf)
		}
		f.came = append(f.came, a)
	}
	return len(batch), nil
}

func (f *fake) Recv([]mmsg.Datagram) (int, error) { return 0, nil }

func (f *fake) Refused([]mmsg.Datagram) int { return 0 }

func (f *fake) Wait(deadline time.Time) mmsg.Reason {
	if f.onWait != nil {
		f.onWait()
	}
	switch {
	case f.closed:
		return mmsg.Closed
	case f.woken:
		f.woken = false
		return mmsg.Woken
	}
	end := time.Duration(never)
	if !deadline.IsZero() {
		end = deadline.Sub(f.began)
	}
	if f.ready > 0 && f.ready <= end {
		f.now = max(f.now, f.ready)
		return mmsg.Ready
	}
	f.now = max(f.now, end)
	return mmsg.Timeout
}

func (f *fake) Wake()           { f.woken = true }
func (f *fake) Close() error    { f.closed = true; return nil }
func (f *fake) Info() mmsg.Info { return mmsg.Info{Batch: 77} }
func (f *fake) Dropped() uint64 { return 5 }

func to(port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), port) }

func mustNew(t testing.TB, faults Faults) (*fake, *wire) {
	t.Helper()
	f := &fake{room: 1 << 30, largest: 60_000}
	w, err := New(f, faults)
	if err != nil {
		t.Fatal(err)
	}
	n := w.(*wire)
	f.began, n.clock = n.began, func() time.Duration { return f.now }
	return f, n
}

// numbered makes datagrams with numbers from first on.
func numbered(first, n int, addr netip.AddrPort) []mmsg.Datagram {
	b := make([]mmsg.Datagram, n)
	for i := range b {
		b[i] = mmsg.Datagram{Buf: binary.BigEndian.AppendUint32(make([]byte, 0, 64), uint32(first+i))[:64], Addr: addr}
	}
	return b
}

func mustSend(t testing.TB, n mmsg.Socket, batch []mmsg.Datagram) {
	t.Helper()
	if sent, err := n.Send(batch); sent != len(batch) || err != nil {
		t.Fatalf("%d of %d sent, %v", sent, len(batch), err)
	}
}

// TestSameAsImpair: what comes out, and when, is what the core says of each destination by itself.
func TestSameAsImpair(t *testing.T) {
	faults := Faults{Faults: badnet.Faults{
		Seed: 11, Loss: 0.1, Burst: 2, Dup: 0.1, Reorder: 0.1, Truncate: 0.05, Delay: time.Millisecond, Jitter: time.Millisecond,
	}, Rank: 3, Who: func(a netip.AddrPort) int { return int(a.Port()) }}
	f, n := mustNew(t, faults)
	const rounds, each = 200, 5
	models := map[uint16]*badnet.Impair{}
	for _, port := range []uint16{1, 2, 3} {
		models[port], _ = badnet.New(faults.towards(int(port), 0))
	}
	for k := range rounds {
		for port, m := range models {
			batch := numbered(k*each, each, to(port))
			mustSend(t, n, batch)
			for _, d := range batch {
				m.Push(f.now, d.Buf)
			}
		}
		if r := n.Wait(f.began.Add(f.now + 100*time.Microsecond)); r != mmsg.Timeout {
			t.Fatal(r)
		}
	}
	if r := n.Wait(f.began.Add(f.now + time.Second)); r != mmsg.Timeout {
		t.Fatal(r)
	}
	for port, m := range models {
		var got []arrival
		for _, a := range f.came {
			if a.to == to(port) {
				got = append(got, a)
			}
		}
		for k := 0; ; k++ {
			p, ok := m.Take(never)
			if !ok {
				if k != len(got) || k == 0 {
					t.Errorf("port %d: %d came, want %d", port, len(got), k)
				}
				break
			}
			id := uint32(0)
			if len(p.Data) >= 4 {
				id = binary.BigEndian.Uint32(p.Data)
			}
			if want := (arrival{to(port), id, p.Due, len(p.Data)}); k >= len(got) || got[k] != want {
				t.Fatalf("port %d: number %d should be %+v", port, k, want)
			}
		}
	}
	if c, refused := n.Counts(); c.Packets != 3*rounds*each || int(c.Delivered) != len(f.came) || refused != 0 || c.Lost == 0 {
		t.Errorf("%+v, %d refused", c, refused)
	}
}

// TestDestinationsDiffer: two destinations, and two addresses of one rank, do not lose the same.
func TestDestinationsDiffer(t *testing.T) {
	lost := func(f Faults, ports ...uint16) (lists [][]uint32) {
		fk, n := mustNew(t, f)
		for _, p := range ports {
			mustSend(t, n, numbered(0, 200, to(p)))
		}
		for _, p := range ports {
			var ids []uint32
			for _, a := range fk.came {
				if a.to == to(p) {
					ids = append(ids, a.id)
				}
			}
			lists = append(lists, ids)
		}
		return lists
	}
	f := Faults{Faults: badnet.Faults{Seed: 1, Loss: 0.5}}
	f.Who = func(a netip.AddrPort) int { return int(a.Port()) / 10 }
	a := lost(f, 10, 11, 20)
	if slices.Equal(a[0], a[1]) || slices.Equal(a[0], a[2]) {
		t.Error("two destinations have the same dice")
	}
	if b := lost(f, 20, 10, 11); !slices.Equal(b[0], a[2]) || !slices.Equal(b[1], a[0]) || !slices.Equal(b[2], a[1]) {
		t.Error("the order of destinations matters, though their ranks are known")
	}
	f.Rank = 1
	if b := lost(f, 10); slices.Equal(b[0], a[0]) {
		t.Error("two ranks have the same dice")
	}
}

func TestSegmentsAreSplit(t *testing.T) {
	f, n := mustNew(t, Faults{Faults: badnet.Faults{Dup: 1}})
	mustSend(t, n, []mmsg.Datagram{{Buf: make([]byte, 250), Segment: 100, Addr: to(1)}, {Buf: make([]byte, 100), Segment: 100, Addr: to(1)}, {Addr: to(1)}})
	var sizes []int
	for _, a := range f.came {
		sizes = append(sizes, a.size)
	}
	if want := []int{100, 100, 100, 100, 50, 50, 100, 100, 0, 0}; !slices.Equal(sizes, want) {
		t.Errorf("sizes %v, want %v", sizes, want)
	}
}

// TestTails: a datagram in two parts leaves as one.
func TestTails(t *testing.T) {
	f, n := mustNew(t, Faults{Faults: badnet.Faults{Delay: time.Millisecond}})
	mustSend(t, n, []mmsg.Datagram{{Buf: []byte{0, 0}, Tail: []byte{1, 2, 3}, Addr: to(1)}})
	if sent, err := n.Send([]mmsg.Datagram{{Buf: []byte{0, 0}, Tail: []byte{1, 2, 3}, Segment: 1, Addr: to(1)}}); sent != 0 || !errors.Is(err, mmsg.ErrTail) {
		t.Errorf("segments with a tail: %d, %v", sent, err)
	}
	f.now += time.Millisecond
	mustSend(t, n, nil)
	if len(f.came) != 1 || f.came[0].id != 0x0102 || f.came[0].size != 5 {
		t.Errorf("%+v", f.came)
	}
}

// TestErrorsNameTheDatagram: what the socket refuses is told of the datagram meant, and those after it were not tried.
func TestErrorsNameTheDatagram(t *testing.T) {
	f, n := mustNew(t, Faults{Faults: badnet.Faults{Dup: 1}})
	batch := numbered(0, 4, to(1))
	batch[2].Buf = make([]byte, 64_000)
	batch[2].Segment = 60_001
	if sent, err := n.Send(batch); sent != 2 || !errors.Is(err, mmsg.ErrTooBig) {
		t.Errorf("%d sent, %v", sent, err)
	}
	batch[2] = mmsg.Datagram{Buf: make([]byte, mmsg.MaxPayload+1), Addr: to(1)}
	if sent, err := n.Send(batch[2:]); sent != 0 || !errors.Is(err, mmsg.ErrTooBig) {
		t.Errorf("%d sent, %v", sent, err)
	}
	if len(f.came) != 4 {
		t.Errorf("%d came", len(f.came))
	}
	mustSend(t, n, batch[3:])
	if len(f.came) != 6 || f.came[5].id != 3 {
		t.Errorf("after an error: %+v", f.came)
	}
}

// TestLateRefusal: nobody can be told, so it is counted as refused.
func TestLateRefusal(t *testing.T) {
	f, n := mustNew(t, Faults{Faults: badnet.Faults{Delay: time.Millisecond}})
	mustSend(t, n, []mmsg.Datagram{{Buf: make([]byte, 60_001), Addr: to(1)}, {Buf: make([]byte, 10), Addr: to(1)}})
	f.now += time.Millisecond
	if _, err := n.Recv(nil); err != nil {
		t.Fatal(err)
	}
	if _, refused := n.Counts(); refused != 1 || len(f.came) != 1 {
		t.Errorf("%d refused, %d came", refused, len(f.came))
	}
}

// TestFullQueue: a full socket takes no more, loses nothing, and keeps the order.
func TestFullQueue(t *testing.T) {
	f, n := mustNew(t, Faults{Faults: badnet.Faults{Dup: 1}})
	f.room = 3
	batch := numbered(0, 5, to(1))
	sent, err := n.Send(batch)
	if sent != 2 || err != nil { // the second copy of the second waits
		t.Fatalf("%d sent, %v", sent, err)
	}
	if again, err := n.Send(batch[sent:]); again != 0 || err != nil {
		t.Fatalf("with the queue full: %d sent, %v", again, err)
	}
	f.onWait = func() { f.room = 1 << 30 }
	if r := n.Wait(f.began.Add(time.Second)); r != mmsg.Timeout {
		t.Fatal(r)
	}
	mustSend(t, n, batch[sent:])
	var ids []uint32
	for _, a := range f.came {
		ids = append(ids, a.id)
	}
	if want := []uint32{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}; !slices.Equal(ids, want) {
		t.Errorf("came %v", ids)
	}
}

func TestWaitTellsWhatTheSocketDoes(t *testing.T) {
	f, n := mustNew(t, Faults{Faults: badnet.Faults{Delay: 5 * time.Millisecond}})
	mustSend(t, n, numbered(0, 1, to(1)))
	f.ready = 7 * time.Millisecond
	if r := n.Wait(time.Time{}); r != mmsg.Ready || f.now != f.ready || len(f.came) != 1 || f.came[0].at != 5*time.Millisecond {
		t.Errorf("%v at %v, %+v", r, f.now, f.came)
	}
	f.ready = 0
	n.Wake()
	if r := n.Wait(time.Time{}); r != mmsg.Woken {
		t.Error(r)
	}
	if n.Info().Batch != 77 || n.Dropped() != 5 {
		t.Error("the socket is not asked")
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if r := n.Wait(time.Time{}); r != mmsg.Closed {
		t.Error(r)
	}
	if _, err := n.Send(numbered(1, 1, to(1))); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// TestSendShortensWait: a datagram sent while another goroutine waits leaves in time, and the waiter is not told of it.
func TestSendShortensWait(t *testing.T) {
	f, n := mustNew(t, Faults{Faults: badnet.Faults{Delay: 5 * time.Millisecond}})
	once := true
	f.onWait = func() {
		if once {
			once = false
			mustSend(t, n, numbered(0, 1, to(1)))
		}
	}
	if r := n.Wait(f.began.Add(time.Second)); r != mmsg.Timeout || f.now != time.Second {
		t.Errorf("%v at %v", r, f.now)
	}
	if len(f.came) != 1 || f.came[0].at != 5*time.Millisecond {
		t.Errorf("%+v", f.came)
	}
}

// TestCutAndHeal: nothing passes for a while.
func TestCutAndHeal(t *testing.T) {
	f, n := mustNew(t, Faults{Faults: badnet.Faults{CutAfter: 10 * time.Millisecond, HealAfter: 5 * time.Millisecond}})
	for k := range 20 {
		f.now = time.Duration(k) * time.Millisecond
		mustSend(t, n, numbered(k, 1, to(1)))
	}
	if len(f.came) != 15 || f.came[9].id != 9 || f.came[10].id != 15 {
		t.Errorf("%+v", f.came)
	}
}

func TestQueueIsBounded(t *testing.T) {
	_, n := mustNew(t, Faults{Faults: badnet.Faults{Delay: time.Hour}})
	for k := range defaultQueue/64 + 1 {
		mustSend(t, n, numbered(64*k, 64, to(1)))
	}
	if c, _ := n.Counts(); c.Overflowed != 64 {
		t.Errorf("%+v", c)
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	f, n := mustNew(t, Faults{Faults: badnet.Faults{
		Seed: 2, Loss: 0.1, Dup: 0.2, Reorder: 0.2, Corrupt: 0.1, Truncate: 0.1, Jitter: time.Millisecond,
	}})
	f.quiet = true
	batch := append(numbered(0, 8, to(1)), numbered(0, 8, to(2))...)
	step := func() {
		f.now += 100 * time.Microsecond
		mustSend(t, n, batch)
		f.now += 100 * time.Microsecond
		if _, err := n.Recv(nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 {
		step()
	}
	if a := testing.AllocsPerRun(1000, step); a != 0 {
		t.Errorf("%v allocations for 16 datagrams", a)
	}
}
