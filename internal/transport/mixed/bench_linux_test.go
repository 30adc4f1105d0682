package mixed_test

import (
	"testing"

	"github.com/golci/golci/conduit"
)

// BenchmarkNear is a record from a rank to itself, sent and polled by one goroutine: through shared memory alone, and
// beside a quiet network.
func BenchmarkNear(b *testing.B) {
	for _, k := range []struct {
		name string
		make func(b *testing.B) []conduit.Conduit
	}{
		{"shm", func(b *testing.B) []conduit.Conduit { return sharing(b, 2, conduit.Config{}) }},
		{"mixed", func(b *testing.B) []conduit.Conduit { return overUDP(b, 4) }},
	} {
		cs := k.make(b)
		y := &tally{}
		b.Run(k.name+"/record", func(b *testing.B) {
			for range b.N {
				send(cs[0], 0)
				if cs[0].Pending() {
					cs[0].Poll(8, y)
				}
			}
		})
		b.Run(k.name+"/nothing", func(b *testing.B) {
			for range b.N {
				if cs[0].Pending() {
					cs[0].Poll(8, y)
				}
			}
		})
		closeAll(b, cs...)
	}
}
