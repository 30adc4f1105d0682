package reliable

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

// TestBlackHole makes a path shorter in the middle of traffic: what is longer than it now is never arrives, also of
// what was under way, and one packet in 50 is lost besides. All messages come all the same.
func TestBlackHole(t *testing.T) {
	seed := seedOf(t)
	for _, gather := range []bool{false, true} {
		w := newWorld(t, seed, 2, Config{}, Link{MTU: 9000})
		path := 9000
		dropped := 0
		w.Fate = func(_, _ int, packet []byte, now time.Duration) []time.Duration {
			if len(packet) > path {
				dropped++
				return nil
			}
			if w.r.IntN(50) == 0 {
				return nil
			}
			return []time.Duration{now + 100*time.Microsecond}
		}
		const messages = 2000
		id := uint64(0)
		n := w.ranks[0]
		n.gathers = gather
		var data []byte
		n.feed = func(n *node) {
			for id < messages {
				if data == nil {
					data = payload(id, 12+w.r.IntN(5000)*w.r.IntN(5))
				}
				if st := n.e.Send(1, Message{Data: data, ID: id}, w.Now); st >= Full {
					return
				}
				data = nil
				id++
			}
		}
		w.Run(time.Millisecond)
		before := len(w.ranks[1].got)
		path = MinMTU
		w.Run(1200 * time.Microsecond)
		if err := n.e.SetMTU(1, path); err != nil {
			t.Fatal(err)
		}
		w.Run(time.Minute)
		w.check(t)
		if before == messages || dropped == 0 {
			t.Errorf("%d messages came before, %d packets were too long: nothing was tested", before, dropped)
		}
		if k := len(w.ranks[1].got); k != messages {
			t.Errorf("%d messages of %d came", k, messages)
		}
	}
}

// TestPartsGoOnWhereRoomWasShort sends a segment of 127 units in parts by an Out that has room for a few packets at a
// time. If the first packet is lost, its units come when all others have, and no later.
func TestPartsGoOnWhereRoomWasShort(t *testing.T) {
	for _, c := range []struct {
		mtu, room int
		lost      bool
		resent    uint64
	}{
		{mtu: MinMTU, room: 20, resent: 6}, // a unit a packet
		{mtu: MinMTU, room: 127, resent: 0},
		{mtu: 1400, room: 20, resent: 3}, // two units
		{mtu: 1400, room: 20, lost: true, resent: 3},
		{mtu: 1400, room: 64, lost: true, resent: 1},
	} {
		w := newWorld(t, 1, 2, Config{}, Link{MTU: MaxMTU})
		lose := c.lost
		w.Fate = func(src, _ int, _ []byte, now time.Duration) []time.Duration {
			if src == 0 && lose {
				lose = false
				return nil
			}
			return []time.Duration{now}
		}
		n := w.ranks[0]
		if st := n.e.Send(1, Message{Data: payload(1, 60_000)}, 0); st != Copied {
			t.Fatal(st)
		}
		if err := n.e.SetMTU(1, c.mtu); err != nil {
			t.Fatal(err)
		}
		passes := 0
		for ; w.ranks[1].got[1] == 0 && passes < 10_000; passes++ {
			w.Now += time.Millisecond
			n.e.Outgoing(w.Now, 10, &narrow{node: n, left: c.room})
			w.Deliver()
			w.ranks[1].outgoing(64)
		}
		w.check(t)
		if s := n.e.Stats(1); w.ranks[1].got[1] != 1 || s.Resent != c.resent {
			t.Errorf("%+v: %d resends in %d passes; the message came %d times", c, s.Resent, passes, w.ranks[1].got[1])
		}
	}
}

// TestPartsOfTheFirstStay: two segments are longer than the receiver's memory for parts, and of each a part is lost
// whenever it is sent, another one each time. The parts of the one that is awaited stay, so that it arrives when it is
// sent again. Otherwise each segment would take the place of the other for ever, and a living peer would be given up.
func TestPartsOfTheFirstStay(t *testing.T) {
	const size = 40_000
	for first := range uint32(2) { // the segment whose parts arrive before those of the other
		w := newWorld(t, 1, 2, Config{MaxMessage: size, Reassembly: size, Rooms: 2}, Link{MTU: MaxMTU})
		n := w.ranks[0]
		for id := range uint64(2) {
			if st := n.e.Send(1, Message{Data: payload(id, size), ID: id}, 0); st != Copied {
				t.Fatal(st)
			}
		}
		sent := map[uint32]int{} // how often a segment has been sent in parts
		w.Fate = func(src, _ int, packet []byte, now time.Duration) []time.Duration {
			at := now + 100*time.Microsecond
			if src == 1 {
				return []time.Duration{at}
			}
			h, _, body, _ := parse(packet)
			if h.flags&flagPart == 0 {
				return nil // longer than the path now is
			}
			i := int(binary.BigEndian.Uint16(body))
			if i == 0 {
				sent[h.seq]++
			}
			if i == sent[h.seq]-1 {
				return nil
			}
			if h.seq != n.e.peers.peerAt(1).oldest+first {
				at += 50 * time.Microsecond
			}
			return []time.Duration{at}
		}
		w.Poll()
		if err := n.e.SetMTU(1, MinMTU); err != nil {
			t.Fatal(err)
		}
		w.Run(time.Minute)
		w.check(t)
		if s := n.e.Stats(1); len(w.ranks[1].got) != 2 || s.Resent > 5 {
			t.Errorf("%d messages of 2 came after %d resends", len(w.ranks[1].got), s.Resent)
		}
	}
}

// TestMostUnits: what is counted for a part's marks is enough for the longest body, and no more.
func TestMostUnits(t *testing.T) {
	if mostUnits*unit < MaxMTU || (mostUnits-1)*unit >= MaxMTU {
		t.Errorf("%d units of %d bytes for %d bytes", mostUnits, unit, MaxMTU)
	}
}

// TestCountLarge: segments are counted as large whose body is beyond a bound and fits a packet.
func TestCountLarge(t *testing.T) {
	const above, mtu, room = 500, 1400, 1400 - headerSize
	for _, c := range []struct {
		body  int
		large uint64
	}{{above, 0}, {above + 1, 1}, {room - 1, 1}, {room, 1}, {room + 1, 0}} {
		w := newWorld(t, 1, 2, Config{}, Link{MTU: 9000})
		n := w.ranks[0]
		if st := n.e.Send(1, Message{Data: payload(1, c.body-fragHeader)}, 0); st != Copied {
			t.Fatal(st)
		}
		if err := n.e.SetMTU(1, mtu); err != nil { // what is longer goes in parts
			t.Fatal(err)
		}
		n.e.CountLarge(1, above)
		n.e.CountLarge(7, above) // there is none
		w.Fate = func(_, _ int, _ []byte, now time.Duration) []time.Duration {
			if now == 0 {
				return nil
			}
			return ideal(0, 0, nil, now)
		}
		w.Poll()
		w.Run(time.Second)
		w.check(t)
		s := n.e.Stats(1)
		if s.Resent != 1 || w.ranks[1].got[1] != 1 {
			t.Fatalf("%d resends, the message came %d times", s.Resent, w.ranks[1].got[1])
		}
		if s.LargeLost != c.large || s.LargeArrived != c.large {
			t.Errorf("a body of %d bytes: %d lost and %d arrived, want %d",
				c.body, s.LargeLost, s.LargeArrived, c.large)
		}
	}
}

// narrow is an Out with room for so many packets.
type narrow struct {
	*node
	left int
}

func (o *narrow) Room(peer, n int) []byte {
	if o.left == 0 {
		return nil
	}
	o.left--
	return o.node.Room(peer, n)
}

// FuzzParts has a peer send parts of segments with places and sizes of its choice: memory stays within the limit, and
// no segment is taken twice.
func FuzzParts(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 255, 0, 1, 1, 0, 100})
	f.Add(bytes.Repeat([]byte{3, 0, 200, 255, 255}, 30))
	f.Fuzz(func(t *testing.T, program []byte) {
		w := newWorld(t, 1, 2, Config{MaxMessage: 1000, Reassembly: 1000}, Link{MTU: 1400})
		n := w.ranks[0]
		n.count = true
		p := n.e.peers.peerAt(1)
		start := p.want
		for ; len(program) >= 5; program = program[5:] {
			c := program[:5]
			data := make([]byte, partHeader+int(c[2])*8)
			binary.BigEndian.PutUint16(data, uint16(c[1]))
			binary.BigEndian.PutUint16(data[2:], binary.BigEndian.Uint16(c[3:]))
			h := header{flags: flagSegment | flagPart, seq: start + uint32(c[0]), ack: p.next - 1, size: uint16(len(data))}
			b := make([]byte, headerSize, headerSize+len(data))
			h.putHeader(b)
			n.e.Incoming(1, append(b, data...), 0)
			held := 0
			for _, x := range p.partials {
				held += len(x.buf)
				if x.left <= 0 || x.left > units(len(x.buf)) || p.arrived.hasSeq(x.seq) || after(p.want, x.seq) {
					t.Fatalf("%d of %d units are left of segment %d", x.left, units(len(x.buf)), x.seq-start)
				}
			}
			if held != p.parted || held > MaxMTU || len(p.partials) > mostOpen {
				t.Fatalf("%d bytes of parts, %d counted, in %d segments", held, p.parted, len(p.partials))
			}
		}
		n.e.Remove(1, ErrSilent)
		if len(p.partials) > 0 || p.parted != 0 {
			t.Fatal("parts of a peer that is gone")
		}
	})
}
