package reduce

import (
	"math/rand/v2"
	"testing"

	"github.com/golci/golci/realm/internal/space"
)

// TestWideNumbers: the numbers of points beyond 2^32 travel whole.
func TestWideNumbers(t *testing.T) {
	const far = 1 << 33
	s := space.Range(0, far)
	l, err := NewList(Sum[int32](), s)
	if err != nil {
		t.Fatal(err)
	}
	want := []int64{far - 1, 5, 1<<32 + 5, 1 << 32, 1<<32 - 1}
	for _, i := range want {
		if err := l.Reduce(i, 1); err != nil {
			t.Fatal(err)
		}
	}
	e := l.Encoder()
	chunk := e.Next(make([]byte, 1000))
	if chunk[0] != formList64 || len(chunk) != headLen+len(want)*(8+4) {
		t.Fatalf("form %d, %d bytes", chunk[0], len(chunk))
	}
	for k, i := range want {
		got := int64(0)
		for b := range 8 {
			got |= int64(chunk[headLen+8*k+b]) << (8 * b)
		}
		if got != i {
			t.Errorf("reduction %d is into point %d, not %d", k, got, i)
		}
	}
}

// TestChunksFit: no chunk is larger than its buffer, of whatever size that is.
func TestChunksFit(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	d := rand.New(rand.NewPCG(seed, 0))
	s := space.Range(0, 4000)
	f, err := NewFold(Sum[int32](), s, Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	for range 1500 {
		if err := f.Reduce(d.Int64N(4000), 1); err != nil {
			t.Fatal(err)
		}
	}
	for size := minChunk(4); size < minChunk(4)+200; size++ {
		room := make([]byte, size+64)
		e := f.Encoder()
		for c := e.Next(room[:size:size]); len(c) > 0; c = e.Next(room[:size:size]) {
			if len(c) > size || &c[0] != &room[0] {
				t.Fatalf("a chunk of %d bytes in a buffer of %d", len(c), size)
			}
		}
	}
}
