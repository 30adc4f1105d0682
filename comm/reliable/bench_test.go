package reliable

import (
	"fmt"
	"testing"
	"time"

	"github.com/golci/golci/internal/invariants"
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
func couple(tb testing.TB) (step func(data []byte, batch int), sink *nothing) {
	tb.Helper()
	now := time.Second
	sink = &nothing{}
	var e [2]*Endpoint
	for i := range e {
		var err error
		if e[i], err = New(Config{Sink: sink}); err != nil {
			tb.Fatal(err)
		}
		if err := e[i].Add(0, Link{MTU: 1400}, now); err != nil {
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
			step, _ := couple(b)
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
	for _, size := range []int{8, 1024, 65536} {
		step, sink := couple(t)
		data := make([]byte, size)
		for range 10_000 {
			step(data, 1)
		}
		before := sink.n
		if n := testing.AllocsPerRun(1000, func() { step(data, 1) }); n != 0 {
			t.Errorf("%d bytes: %v allocations a message", size, n)
		}
		if sink.n < before+1000 {
			t.Errorf("%d bytes: %d messages came of 1000", size, sink.n-before)
		}
	}
}

// BenchmarkLookup is what finding the peer costs Send and Incoming.
func BenchmarkLookup(b *testing.B) {
	for _, c := range []struct {
		name string
		base int
	}{{"near", 0}, {"far", nearIDs}} {
		b.Run(c.name, func(b *testing.B) {
			var t table
			for i := range 1024 {
				t.put(c.base+i, &peer{})
			}
			for i := range b.N {
				if t.get(c.base+i&1023) == nil {
					b.Fatal("not there")
				}
			}
		})
	}
}
