package reliable

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
)

// hole takes packets and acknowledges them; what they carry nobody reads.
type hole struct {
	e     *Endpoint
	now   time.Duration
	last  uint32 // sequence number of the latest segment
	ack   []byte
	room  []byte
	asked int // most bytes of room
}

func newHole(tb testing.TB) *hole {
	tb.Helper()
	e, err := New(Config{Sink: &nothing{}})
	if err != nil {
		tb.Fatal(err)
	}
	if err := e.Add(0, Link{MTU: 1400}, time.Second); err != nil {
		tb.Fatal(err)
	}
	return &hole{e: e, now: time.Second, ack: make([]byte, headerSize), room: make([]byte, 1400)}
}

func (h *hole) Room(_, n int) []byte {
	h.asked = max(h.asked, n)
	return h.room[:n]
}

func (h *hole) Packet(_ int, _ uint64, _ Channel, packet []byte) {
	h.last = binary.BigEndian.Uint32(packet[4:])
}

// gatheringHole is a hole that is a Gather.
type gatheringHole struct{ *hole }

func (h gatheringHole) PacketOf(peer int, number uint64, ch Channel, packet, _ []byte) {
	h.Packet(peer, number, ch, packet)
}

// put sends data and has it acknowledged.
func (h *hole) put(tb testing.TB, data []byte, out Out) {
	if st := h.e.Send(0, Message{Data: data, Put: true}, h.now); st != Taken {
		tb.Fatal(st)
	}
	for !h.e.Idle(0) {
		h.now += 20 * time.Microsecond
		h.e.Outgoing(h.now, 1000, out)
		a := header{ack: h.last, seq: 0}
		a.putHeader(h.ack)
		h.e.Incoming(0, h.ack, h.now)
	}
}

// TestGatherAsksForHeaders sends a long put: no room is asked for its data, and nothing is allocated.
func TestGatherAsksForHeaders(t *testing.T) {
	h := newHole(t)
	data := make([]byte, 64<<10)
	out := Out(gatheringHole{h})
	for range 100 {
		h.put(t, data, out)
	}
	if h.asked == 0 || h.asked > gatherRoom {
		t.Errorf("room for %d bytes was asked, the headers of a piece need at most %d", h.asked, gatherRoom)
	}
	if invariants.Race {
		return
	}
	if n := testing.AllocsPerRun(100, func() { h.put(t, data, out) }); n != 0 {
		t.Errorf("%v allocations a put", n)
	}
}

// BenchmarkSender is the sender's side of a put of 64 KiB, with its acknowledgements, by whether its pieces are
// copied into packets.
func BenchmarkSender(b *testing.B) {
	for _, name := range []string{"copied", "gathered"} {
		b.Run(name, func(b *testing.B) {
			h := newHole(b)
			data := make([]byte, 64<<10)
			out := Out(h)
			if name == "gathered" {
				out = gatheringHole{h}
			}
			b.SetBytes(int64(len(data)))
			for range b.N {
				h.put(b, data, out)
			}
		})
	}
}
