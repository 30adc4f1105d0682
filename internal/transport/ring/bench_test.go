package ring_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/local"
)

// pairUp returns the conduits of n ranks.
func pairUp(b *testing.B, n int, cfg conduit.Config) []conduit.Conduit {
	cs, err := local.New(n, cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		for _, c := range cs {
			_ = c.Close() // the local conduit's cannot fail
		}
	})
	return cs
}

// BenchmarkRecord sends and polls records in one goroutine: the instructions, without any crossing.
func BenchmarkRecord(b *testing.B) {
	for _, scan := range []int{8, -1} {
		for _, batch := range []int{1, 16} {
			b.Run(fmt.Sprintf("scan=%d/batch=%d", scan, batch), func(b *testing.B) {
				cs := pairUp(b, 2, conduit.Config{ScanLimit: scan})
				s := &count{}
				for s.n < b.N {
					for range batch {
						if _, st := cs[0].Reserve(1, conduit.Request, 64); st == conduit.OK {
							cs[0].Commit(1, 64)
						}
					}
					cs[1].Poll(batch, s)
				}
			})
		}
	}
}

// BenchmarkEmptyPoll polls where each of n other ranks has once sent something.
func BenchmarkEmptyPoll(b *testing.B) {
	for _, scan := range []int{64, -1} {
		for _, n := range []int{1, 2, 4, 8, 16, 32} {
			b.Run(fmt.Sprintf("scan=%d/ranks=%s", scan, strconv.Itoa(n)), func(b *testing.B) {
				cs := pairUp(b, n, conduit.Config{ScanLimit: scan})
				s := &count{}
				for _, c := range cs {
					if _, st := c.Reserve(0, conduit.Request, 64); st == conduit.OK {
						c.Commit(0, 64)
					}
				}
				for s.n < n {
					cs[0].Poll(16, s)
				}
				for b.Loop() {
					cs[0].Poll(16, s)
				}
			})
		}
	}
}
