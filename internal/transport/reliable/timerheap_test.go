package reliable

import (
	"fmt"
	"testing"
	"time"
)

// TestTimerHeap compares the agenda with a table of the times.
func TestTimerHeap(t *testing.T) {
	seed := seedOf(t)
	r := newWorld(t, seed, 1, Config{}, Link{}).r
	var a timerHeap
	peers := make([]*peer, 40)
	for i := range peers {
		peers[i] = &peer{id: i, entry: none}
	}
	want := map[*peer]time.Duration{}
	for step := range 20_000 {
		p := peers[r.IntN(len(peers))]
		if r.IntN(4) == 0 {
			a.removePeer(p)
			delete(want, p)
		} else {
			want[p] = time.Duration(r.IntN(50))
			a.setDue(p, want[p])
		}
		first := never
		for p, due := range want {
			first = min(first, due)
			if a.heap[p.entry] != (entry{due, p}) {
				t.Fatalf("step %d: peer %d is not where it thinks", step, p.id)
			}
		}
		if a.first() != first || len(a.heap) != len(want) {
			t.Fatalf("step %d: %v is the first of %d, want %v of %d", step, a.first(), len(a.heap), first, len(want))
		}
	}
}

// arrivals is one rank with many pairs in use, to which segments come.
type arrivals struct {
	e      *Endpoint
	sink   *nothing
	now    time.Duration
	seq    []uint32
	packet []byte
	away   int // packets that left
	room   []byte
}

func (a *arrivals) Room(_, n int) []byte                { return a.room[:n] }
func (a *arrivals) Packet(int, uint64, Channel, []byte) { a.away++ }

func newArrivals(tb testing.TB, peers int) *arrivals {
	tb.Helper()
	a := &arrivals{sink: &nothing{}, now: time.Second, seq: make([]uint32, peers), room: make([]byte, MaxMTU)}
	var err error
	if a.e, err = New(Config{Sink: a.sink, KeepAlive: 24 * time.Hour, DeadAfter: 48 * time.Hour}); err != nil {
		tb.Fatal(err)
	}
	for id := range peers {
		if err := a.e.Add(id, Link{MTU: 1400}, a.now); err != nil {
			tb.Fatal(err)
		}
		a.e.Watch(id, a.now)
	}
	r := record{kind: kindFrag, data: make([]byte, 8)}
	a.packet = make([]byte, headerSize+fragHeader+8)
	r.putRecord(a.packet[headerSize:])
	return a
}

// arrive takes in a segment from a peer.
func (a *arrivals) arrive(id int) {
	h := header{flags: flagSegment, seq: a.seq[id], ack: a.e.peers.peerAt(id).next - 1, size: fragHeader + 8}
	h.putHeader(a.packet)
	a.seq[id]++
	a.e.Incoming(id, a.packet, a.now)
}

// TestTimersOfManyPeers has segments come from random ones of many peers: each acknowledgement leaves when its time
// has come, not before, and no time is told at which nothing leaves.
func TestTimersOfManyPeers(t *testing.T) {
	seed := seedOf(t)
	r := newWorld(t, seed, 1, Config{}, Link{}).r
	a := newArrivals(t, 500)
	due := make([]time.Duration, len(a.seq))
	waiting := 0
	for range 5000 {
		id := r.IntN(len(a.seq))
		if a.arrive(id); due[id] == 0 {
			due[id] = a.now + a.e.cfg.AckDelay
			waiting++
		}
		next := a.e.NextTimer()
		if step := a.now + time.Duration(r.IntN(2000)); step < next {
			a.now = step
			continue
		}
		a.now = next
		want := 0
		for id := range due {
			if due[id] > 0 && due[id] <= a.now {
				want++
				due[id] = 0
			}
		}
		waiting -= want
		before := a.away
		a.e.Outgoing(a.now, len(a.seq), a)
		if a.away-before != want || want == 0 {
			t.Fatalf("%d acknowledgements left at %v, want %d", a.away-before, a.now, want)
		}
	}
	if waiting == 0 {
		t.Error("nothing waits at the end")
	}
}

// BenchmarkTimers has a segment come every 50 us, from one peer after the other. Each time a timer of an
// acknowledgement ends.
func BenchmarkTimers(b *testing.B) {
	for _, peers := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("peers=%d", peers), func(b *testing.B) {
			a := newArrivals(b, peers)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				a.arrive(i % peers)
				a.now += 50 * time.Microsecond
				a.e.Outgoing(a.now, 10, a)
			}
		})
	}
}
