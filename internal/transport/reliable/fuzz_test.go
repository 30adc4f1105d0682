package reliable

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"
)

func FuzzIncoming(f *testing.F) {
	h := header{flags: flagSegment, seq: 5, ack: 9, size: 5}
	b := make([]byte, headerSize+5)
	h.putHeader(b)
	r := record{kind: kindFrag, data: []byte{1}}
	r.putRecord(b[headerSize:])
	f.Add(b, b)
	c := record{kind: kindChunk, size: 100, offset: 90, data: make([]byte, 10)}
	h.size = chunkHeader + 10
	d := make([]byte, headerSize+int(h.size))
	h.putHeader(d)
	c.putRecord(d[headerSize:])
	f.Add(d, b)
	f.Add([]byte{version, flagAnswer, 1, 63, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}, d)
	f.Fuzz(func(t *testing.T, one, two []byte) {
		w := newWorld(t, 1, 2, Config{MaxMessage: 1000, Reassembly: 1000}, Link{MTU: 1400, SendSeq: 5})
		w.Fate = func(int, int, []byte, time.Duration) []time.Duration { return nil }
		n := w.ranks[0]
		n.count = true
		for range 20 {
			n.e.Send(1, Message{Data: make([]byte, 1300)}, 0)
		}
		n.e.Outgoing(0, 10, n)
		for i, p := range [][]byte{one, two, one} {
			n.e.Incoming(1, p, time.Duration(i))
			n.e.Outgoing(time.Duration(i), 10, n)
		}
		if p := n.e.peers.peerAt(1); p.held > 1000 || p.next-p.oldest > Window || p.flight < 0 {
			t.Errorf("held %d, %d segments and %d bytes on their way", p.held, p.next-p.oldest, p.flight)
		}
		if n.bytes[1] > len(one)+len(two)+2000 {
			t.Errorf("%d bytes delivered", n.bytes[1])
		}
	})
}

// FuzzParse takes packets and bodies apart and puts them together again: the same bytes must come out, and nothing
// may lie outside.
func FuzzParse(f *testing.F) {
	h := header{flags: flagSegment | flagPriority, words: 1, first: 63, seq: 5, ack: 9, size: 2*fragHeader + putHeader + 3}
	b := make([]byte, headerSize+8+int(h.size))
	h.putHeader(b)
	n := headerSize + 8
	for _, r := range []record{{kind: kindFrag, tag: 1, data: []byte{1, 2}}, {kind: kindPut, place: 7, offset: 1 << 63, data: []byte{3}}, {kind: kindFrag}} {
		n += r.putRecord(b[n:])
	}
	f.Add(b)
	f.Add(b[:headerSize])
	h = header{flags: flagSegment, size: chunkHeader + 1}
	b = make([]byte, headerSize+int(h.size))
	h.putHeader(b)
	c := record{kind: kindChunk, frag: 1, size: 9, offset: 8, data: []byte{4}}
	c.putRecord(b[headerSize:])
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, sack, body, ok := parse(b)
		if !ok {
			return
		}
		again := make([]byte, headerSize, len(b))
		h.putHeader(again)
		again = append(append(again, sack...), body...)
		if !bytes.Equal(again, b) {
			t.Fatalf("%x became %x", b, again)
		}
		for len(body) > 0 {
			var r record
			rest, ok := r.nextRecord(body)
			if !ok {
				return
			}
			one := make([]byte, r.header()+len(r.data))
			if r.putRecord(one); !bytes.Equal(one, body[:len(body)-len(rest)]) {
				t.Fatalf("%x became %x", body[:len(body)-len(rest)], one)
			}
			if end := r.offset + uint64(len(r.data)); end < r.offset || r.kind == kindChunk && end > uint64(r.size) {
				t.Fatalf("a record goes to %d of %d", end, r.size)
			}
			body = rest
		}
	})
}

// FuzzChunks has a peer send pieces of messages with sizes, places and lengths of its choice: what is held stays
// within the limit, is what is known of, and no more is delivered than came.
func FuzzChunks(f *testing.F) {
	f.Add([]byte{0, 1, 0, 102, 0, 0, 10, 1, 1, 0, 102, 0, 51, 10})                                 // one whole message in two pieces
	f.Add([]byte{0, 1, 0xC3, 0x50, 0, 0, 1, 1, 2, 0xC3, 0x50, 0, 0, 1, 2, 3, 0xC3, 0x50, 0, 0, 1}) // too much at once
	f.Add(bytes.Repeat([]byte{3, 9, 0, 2, 0, 1, 1}, 40))
	f.Fuzz(func(t *testing.T, program []byte) {
		const most, memory = 50_000, 100_000
		w := newWorld(t, 1, 2, Config{MaxMessage: most, Reassembly: memory}, Link{MTU: 1400})
		n := w.ranks[0]
		n.count = true
		p := n.e.peers.peerAt(1)
		start, came := p.want, 0
		for ; len(program) >= 7; program = program[7:] {
			c := program[:7]
			r := record{kind: kindChunk, frag: uint32(c[1]), tag: c[1] >> 7, data: make([]byte, 1+int(c[6])*5)}
			r.size, r.offset = uint32(binary.BigEndian.Uint16(c[2:])), uint64(binary.BigEndian.Uint16(c[4:]))
			h := header{flags: flagSegment, seq: start + uint32(c[0]), ack: p.next - 1, size: uint16(chunkHeader + len(r.data))}
			b := make([]byte, headerSize+int(h.size))
			h.putHeader(b)
			r.putRecord(b[headerSize:])
			before := p.stats.Received
			n.e.Incoming(1, b, 0)
			if p.stats.Received > before {
				came += len(r.data)
			}
			bounded(t, n.e, p)
		}
		if n.bytes[1] > came {
			t.Errorf("%d bytes delivered of %d", n.bytes[1], came)
		}
		n.e.Remove(1, ErrSilent)
		if n.e.pool.kept > memory {
			t.Errorf("%d bytes kept of a peer that is gone", n.e.pool.kept)
		}
	})
}

// bounded checks the memory of messages that are not complete, as counted and as it is: a buffer is at most twice as
// long as its message.
func bounded(t *testing.T, e *Endpoint, p *peer) {
	t.Helper()
	held, real := 0, 0
	for _, in := range p.open {
		held, real = held+len(in.buf), real+cap(in.buf)
		if in.left <= 0 || in.left > len(in.buf) {
			t.Fatalf("%d of %d bytes are left", in.left, len(in.buf))
		}
	}
	if held != p.held || held > e.cfg.Reassembly || real > 2*e.cfg.Reassembly || len(p.open) > mostOpen {
		t.Fatalf("%d messages with %d bytes, %d counted, %d taken; the limit is %d", len(p.open), held, p.held, real, e.cfg.Reassembly)
	}
	kept := 0
	for _, l := range e.pool.free {
		for _, b := range l {
			kept += cap(b)
		}
	}
	if kept != e.pool.kept || kept > e.pool.most {
		t.Fatalf("%d bytes kept, %d counted, the limit is %d", kept, e.pool.kept, e.pool.most)
	}
}
