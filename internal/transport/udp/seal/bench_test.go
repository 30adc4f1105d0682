package seal

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

var sizes = []int{64, 1400, 8 << 10, 60 << 10}

func BenchmarkSeal(b *testing.B) {
	for _, mode := range modes {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("mode=%v/size=%d", mode, size), func(b *testing.B) {
				s, _ := ends(b, mode)
				d := make([]byte, size+s.box.Overhead())
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for n := uint64(0); b.Loop(); n++ {
					if err := s.Seal(d, n); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkPair seals and opens each datagram, as the two ends together do.
func BenchmarkPair(b *testing.B) {
	for _, mode := range modes {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("mode=%v/size=%d", mode, size), func(b *testing.B) {
				s, r := ends(b, mode)
				d := make([]byte, size+s.box.Overhead())
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for n := uint64(0); b.Loop(); n++ {
					if err := s.Seal(d, n); err != nil {
						b.Fatal(err)
					}
					if _, _, _, v := r.Open(d); v != Opened {
						b.Fatal(v)
					}
				}
			})
		}
	}
}

// BenchmarkRefuse is what a datagram costs that is not let in.
func BenchmarkRefuse(b *testing.B) {
	for _, c := range []struct {
		name string
		edit func(d []byte, n uint64)
		want Verdict
	}{
		{"foreign", func(d []byte, _ uint64) { d[0] ^= 1 }, Foreign},
		{"replayed", func([]byte, uint64) {}, Replayed},
		{"forged", func(d []byte, _ uint64) { binary.BigEndian.PutUint64(d[16:], 2) }, Forged},
		{"forged-key", func(d []byte, n uint64) { binary.BigEndian.PutUint64(d[16:], (n+1)<<rekeyShift) }, Forged},
	} {
		b.Run("kind="+c.name+"/size=1400", func(b *testing.B) {
			s, r := ends(b, Encrypt)
			d := sealed(b, s, 1, make([]byte, 1400))
			keep := append([]byte(nil), d...)
			if _, _, _, v := r.Open(d); v != Opened {
				b.Fatal(v)
			}
			b.ReportAllocs()
			for n := uint64(0); b.Loop(); n++ {
				copy(d, keep[:HeaderSize])
				c.edit(d, n%(1<<40))
				if _, _, _, v := r.Open(d); v != c.want {
					b.Fatal(v)
				}
			}
		})
	}
}

func BenchmarkDeriveKey(b *testing.B) {
	box := mustBox(b, config(1, Encrypt))
	b.ReportAllocs()
	for n := uint64(0); b.Loop(); n++ {
		if _, err := box.derive(1, 2, n); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	for _, mode := range modes {
		s, r := ends(t, mode)
		d := make([]byte, 1400)
		n := uint64(0)
		allocs := testing.AllocsPerRun(100, func() {
			n++
			if err := s.Seal(d, n); err != nil {
				t.Fatal(err)
			}
			if _, _, _, v := r.Open(d); v != Opened {
				t.Fatal(v)
			}
			r.Open(d) // again, or altered
			d[0] ^= 1
			r.Open(d)
		})
		if allocs != 0 {
			t.Errorf("%v: %v allocations", mode, allocs)
		}
	}
}
