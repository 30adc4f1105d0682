package reliable

import (
	"slices"
	"testing"
	"time"
)

// chunkOf gives the packet of a peer that has so far sent seq segments: a piece of a long message.
func chunkOf(p *peer, seq, frag uint32, size, offset int, data []byte) []byte {
	r := record{kind: kindChunk, tag: 1, frag: frag, size: uint32(size), offset: uint64(offset), data: data}
	h := header{flags: flagSegment, seq: seq, ack: p.next - 1, size: uint16(r.header() + len(data))}
	b := make([]byte, headerSize+int(h.size))
	h.putHeader(b)
	r.putRecord(b[headerSize:])
	return b
}

// TestOpenMessages: so many long messages of a peer may be incomplete, and no more, however short they are. When one
// of them is complete, the next is let in.
func TestOpenMessages(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	n := w.ranks[0]
	n.count = true
	p := n.e.peers.peerAt(1)
	start := p.want
	for i := range uint32(mostOpen + 1) {
		n.e.Incoming(1, chunkOf(p, start+i, i, 100, 0, make([]byte, 10)), 0)
	}
	if s := n.e.Stats(1); len(p.open) != mostOpen || s.Refused != 1 || s.Received != mostOpen {
		t.Fatalf("%d are open, %+v", len(p.open), s)
	}
	n.e.Incoming(1, chunkOf(p, start+mostOpen+1, 7, 100, 10, make([]byte, 90)), 0)
	n.e.Incoming(1, chunkOf(p, start+mostOpen, mostOpen, 100, 0, make([]byte, 10)), 0)
	if s := n.e.Stats(1); len(p.open) != mostOpen || s.Refused != 1 || n.bytes[1] != 100 {
		t.Errorf("%d are open, %d bytes came, %+v", len(p.open), n.bytes[1], s)
	}
}

// TestMemoryOfAll: beyond Memory each peer may have one message that is not complete.
func TestMemoryOfAll(t *testing.T) {
	w := newWorld(t, 1, 4, Config{MaxMessage: 1000, Reassembly: 1000, Memory: 1500}, Link{MTU: 1400})
	n := w.ranks[0]
	n.count = true
	for peer := 1; peer < 4; peer++ {
		p := n.e.peers.peerAt(peer)
		for i := range uint32(2) {
			n.e.Incoming(peer, chunkOf(p, p.want, i, 500, 0, make([]byte, 10)), 0)
		}
	}
	want := []uint64{0, 0, 0, 1}
	for peer := 1; peer < 4; peer++ {
		if s := n.e.Stats(peer); peer == 2 && s.Refused != 1 || peer == 3 && s.Refused != want[3] || peer == 1 && s.Refused != 0 {
			t.Errorf("peer %d: %+v", peer, s)
		}
	}
	if n.e.held != 4*500 {
		t.Errorf("%d bytes are held", n.e.held)
	}
	for peer := 1; peer < 4; peer++ {
		n.e.Remove(peer, ErrSilent)
	}
	if n.e.held != 0 {
		t.Errorf("%d bytes are held for nobody", n.e.held)
	}
}

// TestOverlap: pieces of a message that overlap are refused, so that none is complete before each of its bytes has
// come.
func TestOverlap(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	n := w.ranks[0]
	n.count = true
	p := n.e.peers.peerAt(1)
	seq := p.want
	for _, c := range []struct {
		from, to  int
		malformed uint64
		have      []span
	}{
		{10, 20, 0, []span{{10, 20}}},
		{10, 20, 1, []span{{10, 20}}},
		{19, 30, 2, []span{{10, 20}}},
		{0, 11, 3, []span{{10, 20}}},
		{40, 50, 3, []span{{10, 20}, {40, 50}}},
		{0, 100, 4, []span{{10, 20}, {40, 50}}},
		{30, 40, 4, []span{{10, 20}, {30, 50}}},
		{25, 31, 5, []span{{10, 20}, {30, 50}}},
		{20, 30, 5, []span{{10, 50}}},
		{12, 13, 6, []span{{10, 50}}},
		{50, 100, 6, []span{{10, 100}}},
	} {
		n.e.Incoming(1, chunkOf(p, seq, 3, 100, c.from, make([]byte, c.to-c.from)), 0)
		if s := n.e.Stats(1); s.Malformed != c.malformed || !slices.Equal(p.open[0].have, c.have) || n.bytes[1] != 0 {
			t.Fatalf("%d to %d: %+v, %v", c.from, c.to, s, p.open[0].have)
		}
		if p.arrived.hasSeq(seq) || after(p.want, seq) {
			seq++
		}
	}
	n.e.Incoming(1, chunkOf(p, seq, 3, 100, 0, make([]byte, 10)), 0)
	if n.bytes[1] != 100 || len(p.open) != 0 {
		t.Errorf("%d bytes came", n.bytes[1])
	}
}

// TestLastChunkIsAcknowledgedAtOnce: the owner of a long message waits for that.
func TestLastChunkIsAcknowledgedAtOnce(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	w.Fate = func(_, _ int, _ []byte, now time.Duration) []time.Duration { return []time.Duration{now} }
	a, b := w.ranks[0], w.ranks[1]
	data := payload(1, 3000)
	if st := a.e.Send(1, Message{Data: data, ID: 1}, 0); st != Taken {
		t.Fatal(st)
	}
	a.outgoing(2)
	w.Deliver()
	if b.outgoing(64); b.e.Stats(0).Acks != 0 {
		t.Fatal("an acknowledgement before the last piece")
	}
	a.outgoing(2)
	w.Deliver()
	b.outgoing(64)
	w.Deliver()
	w.check(t)
	if _, ended := a.ended[1]; b.e.Stats(0).Acks != 1 || !ended || w.Now != 0 {
		t.Errorf("%d acknowledgements; ended: %v", b.e.Stats(0).Acks, ended)
	}
}

// TestResendsAreNoSamples: the acknowledgement of what was sent twice says nothing of a round trip (Karn's rule).
func TestResendsAreNoSamples(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	lost := 0
	w.Fate = func(src, _ int, _ []byte, now time.Duration) []time.Duration {
		if src == 0 && lost == 0 {
			lost++
			return nil
		}
		return []time.Duration{now + time.Millisecond}
	}
	a := w.ranks[0]
	send := func(id uint64) {
		if st := a.e.Send(1, Message{Data: payload(id, 100)}, w.Now); st != Copied {
			t.Fatal(st)
		}
		a.outgoing(64)
	}
	send(1)
	w.Run(100 * time.Millisecond)
	if s := a.e.Stats(1); s.Resent != 1 || s.Unacknowledged != 0 || s.SmoothRTT != 0 {
		t.Errorf("after a resend: %+v", s)
	}
	send(2)
	w.Run(200 * time.Millisecond)
	if s := a.e.Stats(1); s.Resent != 1 || s.SmoothRTT < 2*time.Millisecond {
		t.Errorf("after what was sent once: %+v", s)
	}
	w.check(t)
}
