package arch

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
)

// TestCopyOut: each length around the limits, at odd places, and nothing beside it.
func TestCopyOut(t *testing.T) {
	src := make([]byte, 3*LongCopy)
	for i := range src {
		src[i] = byte(i*7 + 1)
	}
	for _, n := range []int{0, 1, 63, LongCopy - 1, LongCopy, LongCopy + 1, 2*LongCopy + 13} {
		for from := range 3 {
			got, want := make([]byte, 4*LongCopy), make([]byte, 4*LongCopy)
			if c := CopyOut(got[5:5+n], src[from:]); c != n {
				t.Fatalf("%d bytes: copied %d", n, c)
			}
			copy(want[5:5+n], src[from:])
			if !bytes.Equal(got, want) {
				t.Fatalf("%d bytes from %d differ", n, from)
			}
			if c := CopyOut(got, src[from:from+n]); c != n || !bytes.Equal(got[:n], src[from:from+n]) {
				t.Fatalf("%d bytes from a short source: copied %d", n, c)
			}
		}
	}
}

// TestCopyOutIsPublished: a reader that sees the release store behind a copy sees all bytes of the copy.
func TestCopyOutIsPublished(t *testing.T) {
	const rounds = 300
	var full, free atomic.Uint64
	room := make([]byte, 4*LongCopy)
	var wg sync.WaitGroup
	wg.Go(func() {
		data := make([]byte, len(room))
		for i := uint64(1); i <= rounds; i++ {
			for j := range data {
				data[j] = byte(i)
			}
			for free.Load() != i-1 {
				Pause()
			}
			CopyOut(room, data)
			StoreRel64(&full, i)
		}
	})
	for i := uint64(1); i <= rounds; i++ {
		for full.Load() != i {
			Pause()
		}
		if n := bytes.Count(room, []byte{byte(i)}); n != len(room) {
			t.Errorf("round %d: %d bytes of %d", i, n, len(room))
		}
		StoreRel64(&free, i)
	}
	wg.Wait()
}

func BenchmarkCopyOut(b *testing.B) {
	dst, src := make([]byte, 8<<10), make([]byte, 8<<10)
	b.SetBytes(int64(len(dst)))
	for b.Loop() {
		CopyOut(dst, src)
	}
}
