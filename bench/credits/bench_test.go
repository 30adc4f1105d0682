package credits

import (
	"fmt"
	"testing"
)

// BenchmarkRequest sends requests over datagrams, in bursts of 16 that one goroutine takes in at the other rank: for
// counting instructions, which no other work on the machine changes.
func BenchmarkRequest(b *testing.B) {
	for _, m := range Modes {
		for _, size := range []int{leastSize, wideSize} {
			b.Run(fmt.Sprintf("mode=%s/size=%d", m.Mode, size), func(b *testing.B) {
				w, err := assemble(2, defaultTerms(m.Mode))
				if err != nil {
					b.Fatal(err)
				}
				defer func() {
					if err := w.team.Close(); err != nil {
						b.Error(err)
					}
				}()
				buf := make([]byte, size)
				for left := b.N; left > 0; left -= 16 {
					if err := w.burst(0, 1, min(16, left), buf); err != nil {
						b.Fatal(err)
					}
					for w.underWay() {
						w.poll(1)
						w.poll(0)
					}
				}
				if err := w.check(); err != nil {
					b.Error(err)
				}
			})
		}
	}
}
