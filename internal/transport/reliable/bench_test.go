package reliable

import (
	"fmt"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
)

// wire carries packets between two endpoints at once.
type wire struct {
	to      *Endpoint
	now     *time.Duration
	scratch []byte
	packets int
}

func (w *wire) Room(_, n int) []byte { return w.scratch[:n] }

func (w *wire) Packet(_ int, _ uint64, _ Channel, packet []byte) {
	w.packets++
	w.to.Incoming(0, packet, *w.now)
}

type nothing struct{ n int }

func (s *nothing) Message(int, uint8, []byte)             { s.n++ }
func (s *nothing) Put(int, uint8, uint64, uint64, []byte) { s.n++ }
func (s *nothing) Ended(int, uint64, error)               {}
func (s *nothing) Dead(int, error)                        {}

// couple is two endpoints with nothing between them.
func couple(tb testing.TB, mtu int) (step func(data []byte, batch int), sink *nothing) {
	tb.Helper()
	now := time.Second
	sink = &nothing{}
	var e [2]*Endpoint
	for i := range e {
		var err error
		if e[i], err = New(Config{Sink: sink}); err != nil {
			tb.Fatal(err)
		}
		if err := e[i].Add(0, Link{MTU: mtu}, now); err != nil {
			tb.Fatal(err)
		}
	}
	there := &wire{to: e[1], now: &now, scratch: make([]byte, MaxMTU)}
	back := &wire{to: e[0], now: &now, scratch: make([]byte, MaxMTU)}
	return func(data []byte, batch int) {
		for range batch {
			if st := e[0].Send(0, Message{Data: data}, now); st >= Full {
				tb.Fatal(st)
			}
		}
		now += 20 * time.Microsecond
		e[0].Outgoing(now, 1000, there)
		e[1].Outgoing(now, 1000, back)
	}, sink
}

// BenchmarkMessage is one message from Send to its delivery, both sides and the acknowledgement's share.
func BenchmarkMessage(b *testing.B) {
	for _, c := range []struct{ size, batch int }{{8, 1}, {8, 64}, {1024, 1}, {65536, 1}} {
		b.Run(fmt.Sprintf("size=%d/batch=%d", c.size, c.batch), func(b *testing.B) {
			step, _ := couple(b, 1400)
			data := make([]byte, c.size)
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			for i := 0; i < b.N; i += c.batch {
				step(data, c.batch)
			}
		})
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	for _, c := range []struct{ mtu, size, batch int }{{1400, 8, 1}, {1400, 1024, 1}, {1400, 65536, 1}, {MaxMTU, 64, 1}, {MaxMTU, 64, 500}} {
		step, sink := couple(t, c.mtu)
		data := make([]byte, c.size)
		for range max(10_000/c.batch, 1000) {
			step(data, c.batch)
		}
		before := sink.n
		if n := testing.AllocsPerRun(1000, func() { step(data, c.batch) }); n != 0 {
			t.Errorf("packets of %d, messages of %d bytes, %d at once: %v allocations", c.mtu, c.size, c.batch, n)
		}
		if sink.n < before+1000*c.batch {
			t.Errorf("packets of %d, messages of %d bytes: %d came of %d", c.mtu, c.size, sink.n-before, 1000*c.batch)
		}
	}
}

// BenchmarkLongPackets is one small message where packets may be long, alone and in company; and what the buffers of
// a whole window of such take.
func BenchmarkLongPackets(b *testing.B) {
	for _, batch := range []int{1, 64, 512} {
		b.Run(fmt.Sprintf("size=64/batch=%d", batch), func(b *testing.B) {
			step, _ := couple(b, MaxMTU)
			data := make([]byte, 64)
			b.ReportAllocs()
			for i := 0; i < b.N; i += batch {
				step(data, batch)
			}
		})
	}
	b.Run("window", func(b *testing.B) {
		n := 0
		for range b.N {
			n = windowBuffers(b)
		}
		b.ReportMetric(float64(n), "bytes")
	})
}

// windowBuffers sends a window of lone small messages in packets that may be long, and returns the bytes of their
// buffers.
func windowBuffers(tb testing.TB) (n int) {
	tb.Helper()
	h := newHole(tb)
	p := h.e.peers.peerAt(0)
	p.mtu, p.cc.window, h.room = MaxMTU, 1<<30, make([]byte, MaxMTU)
	data := make([]byte, 64)
	for range sendWindow {
		if st := h.e.Send(0, Message{Data: data}, h.now); st != Copied {
			tb.Fatal(st)
		}
		h.e.Outgoing(h.now, 1, h)
	}
	if p.next-p.oldest != sendWindow {
		tb.Fatal("the window is not full")
	}
	for q := p.oldest; q != p.next; q++ {
		n += cap(p.win[q%Window].buf)
	}
	return n
}

func TestBuffersOfSmallMessagesAreSmall(t *testing.T) {
	if n := windowBuffers(t); n > Window*2048 {
		t.Errorf("%d bytes for %d messages of 64", n, Window)
	}
}

// TestBuffersGrow has ever more messages join in one packet, and more packets than buffers are kept for: their
// contents stay.
func TestBuffersGrow(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: MaxMTU})
	w.Fate = ideal
	a, b := w.ranks[0], w.ranks[1]
	id := uint64(0)
	for round := range 40 {
		for range round * round {
			if st := a.e.Send(1, Message{Data: payload(id, 12+w.r.IntN(700))}, w.Now); st != Copied {
				t.Fatal(st)
			}
			id++
		}
		w.Run(w.Now + 10*time.Millisecond)
	}
	w.check(t)
	if len(b.got) != int(id) {
		t.Errorf("%d of %d messages came", len(b.got), id)
	}
	if k := a.e.bufs.kept; k == 0 || k > keptBuffers {
		t.Errorf("%d bytes are kept, want some, at most %d", k, keptBuffers)
	}
}

// BenchmarkLookup is what finding the peer costs Send and Incoming.
func BenchmarkLookup(b *testing.B) {
	var t table
	for i := range 1024 {
		t.putPeer(i, &peer{})
	}
	for i := range b.N {
		if t.peerAt(i&1023) == nil {
			b.Fatal("not there")
		}
	}
}
