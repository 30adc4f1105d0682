//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"bytes"
	"encoding/binary"
	"testing"
)

const (
	job   = 4711
	ranks = 300
)

// message is a header and n bytes.
func message(h head, n int) []byte {
	b := make([]byte, header+n)
	h.putHead(b)
	return b
}

// TestHead: what is put is parsed again, and no message passes that has a field that no rank sends.
func TestHead(t *testing.T) {
	lengths := map[kind]int{
		kindRequest: 8, kindReply: 64, kindSystem: 8, kindChunk: chunkHead + 8, kindCredit: 0, kindBye: byeBytes,
		kindByeAck: 0, kindPing: 0, kindPong: 0,
	}
	if len(lengths) != int(kinds) {
		t.Fatalf("%d of %d kinds", len(lengths), kinds)
	}
	for k, n := range lengths {
		want := head{src: ranks - 1, kind: k, bulkTaken: 65533, taken: 1<<32 - 2, job: job}
		var got head
		if !got.parseHead(message(want, n), job, ranks) || got != want {
			t.Errorf("kind %d: %+v, want %+v", k, got, want)
		}
		for what, bad := range map[string][]byte{
			"another job":     message(head{src: 1, kind: k, job: job + 1}, n),
			"a rank too high": message(head{src: ranks, kind: k, job: job}, n),
			"an unknown kind": message(head{src: 1, kind: kinds, job: job}, n),
			"odd":             append(message(want, n), 0),
			"cut off":         message(want, n)[:header-8],
		} {
			if got.parseHead(bad, job, ranks) {
				t.Errorf("kind %d: %s passes", k, what)
			}
		}
		reserved := message(want, n)
		reserved[5] = 1
		if got.parseHead(reserved, job, ranks) {
			t.Errorf("kind %d: a reserved byte passes", k)
		}
		if shorter := n - 8; (n > 0 && k != kindReply) && got.parseHead(message(want, shorter), job, ranks) {
			t.Errorf("kind %d: %d bytes pass", k, shorter)
		}
		if short := k > kindChunk; short && got.parseHead(message(want, n+8), job, ranks) {
			t.Errorf("kind %d: %d bytes pass", k, n+8)
		}
	}
}

func TestChunk(t *testing.T) {
	want := chunk{id: 1<<63 | 5, off: 1 << 40, n: 13}
	b := make([]byte, chunkHead+16)
	want.putChunk(b)
	copy(b[chunkHead:], "thirteen byte.")
	var got chunk
	data, ok := got.parseChunk(b)
	if !ok || got != want || string(data) != "thirteen byte" {
		t.Errorf("%v, %+v, %q", ok, got, data)
	}
	for _, n := range []uint64{0, 8, 17, 1 << 33} {
		binary.LittleEndian.PutUint64(b[16:], n)
		if _, ok := got.parseChunk(b); ok {
			t.Errorf("%d bytes of 16 pass", n)
		}
	}
}

func TestFresh(t *testing.T) {
	for _, c := range []struct{ told, known, most, want uint32 }{
		{5, 5, 9, 0},
		{7, 5, 9, 2},
		{9, 5, 9, 4},
		{10, 5, 9, 0}, // more than there was
		{4, 5, 9, 0},  // old
		{1, 1<<32 - 3, 2, 4},
		{1<<32 - 4, 1<<32 - 3, 2, 0},
	} {
		if got := fresh(c.told, c.known, c.most); got != c.want {
			t.Errorf("fresh(%d, %d, %d) = %d, want %d", c.told, c.known, c.most, got, c.want)
		}
	}
}

// FuzzHead: what passes is what put writes.
func FuzzHead(f *testing.F) {
	f.Add(message(head{src: 1, kind: kindReply, job: job}, 8))
	f.Add(message(head{src: 1, kind: kindChunk, job: job}, chunkHead+8))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h head
		if !h.parseHead(b, job, ranks) {
			return
		}
		again := bytes.Clone(b)
		h.putHead(again)
		if !bytes.Equal(again, b) {
			t.Errorf("%+v is put as %x, and was %x", h, again, b)
		}
		var x chunk
		if h.kind != kindChunk {
			return
		}
		if data, ok := x.parseChunk(b[header:]); ok && (len(data) != int(x.n) || len(data) == 0) {
			t.Errorf("%+v with %d bytes", x, len(data))
		}
	})
}
