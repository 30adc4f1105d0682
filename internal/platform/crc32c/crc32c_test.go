package crc32c

import (
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random cases; 0: a new one")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestUpdate: the checksums are those of hash/crc32, for all lengths about a block and for random ones, in one piece
// and in two, at any place in memory.
func TestUpdate(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, 70000)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	check := func(b []byte, start uint32) {
		t.Helper()
		want := crc32.Update(start, table, b)
		if got := Update(start, b); got != want {
			t.Fatalf("%d bytes from %#x: %#x, want %#x", len(b), start, got, want)
		}
		cut := r.IntN(len(b) + 1)
		if got := Update(Update(start, b[:cut]), b[cut:]); got != want {
			t.Fatalf("%d bytes from %#x, cut at %d: %#x, want %#x", len(b), start, cut, got, want)
		}
	}
	for n := range least + 600 {
		at := r.IntN(64)
		check(data[at:at+n], r.Uint32())
	}
	for range 2000 {
		from := r.IntN(len(data))
		check(data[from:from+r.IntN(len(data)-from+1)], r.Uint32())
	}
	check(make([]byte, 5000), 0)
	if got := Update(0, []byte("123456789")); got != 0xe3069283 { // RFC 3720, and every table of CRCs
		t.Errorf("the check value is %#x", got)
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{1400, 4 << 10, 8 << 10, 64 << 10, 1 << 20} {
		data := make([]byte, n)
		b.Run(fmt.Sprintf("size=%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				Update(0, data)
			}
		})
		b.Run(fmt.Sprintf("size=%d/hash", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				crc32.Update(0, table, data)
			}
		})
	}
}
