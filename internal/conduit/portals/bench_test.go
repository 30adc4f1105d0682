package portals

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/conduit/local"
)

// makers are the conduits to compare: a ring per pair, and one pool per rank.
var makers = []struct {
	name string
	make func(n int) ([]conduit.Conduit, error)
}{
	{"ring", func(n int) ([]conduit.Conduit, error) { return local.New(n, conduit.Config{BulkChunk: -1}) }},
	{"pool", func(n int) ([]conduit.Conduit, error) { return New(n, Config{}) }},
}

// over runs f for each conduit, number of ranks and record size. Rank 0 is one side; the others, driven in turn by one
// goroutine, are the other, so that two cores are enough.
func over(b *testing.B, f func(b *testing.B, cs []conduit.Conduit, size int)) {
	for _, size := range []int{16, 64, 1024} {
		for _, n := range []int{2, 8} {
			for _, m := range makers {
				b.Run(fmt.Sprintf("size=%d/ranks=%d/conduit=%s", size, n, m.name), func(b *testing.B) {
					cs, err := m.make(n)
					if err != nil {
						b.Fatal(err)
					}
					f(b, cs, size)
					for _, c := range cs {
						_ = c.Close() // these cannot fail
					}
				})
			}
		}
	}
}

type counting struct{ n int }

func (c *counting) Record(int, []byte)              { c.n++ }
func (c *counting) Bulk(int, uint64, int64, []byte) {}

// Gone implements conduit.Sink.
func (*counting) Gone(int, error) {}

// answering replies to each record.
type answering struct {
	c    conduit.Conduit
	size int
}

func (a *answering) Record(src int, _ []byte) { put(a.c, src, conduit.Reply, a.size) }

// Gone implements conduit.Sink.
func (*answering) Gone(int, error)                   {}
func (a *answering) Bulk(int, uint64, int64, []byte) {}

// put sends one record and tells whether it went.
func put(c conduit.Conduit, peer int, class conduit.Class, size int) bool {
	space, st := c.Reserve(peer, class, size)
	if st != conduit.OK {
		return false
	}
	for i := conduit.WordBytes; i < len(space); i += line {
		binary.LittleEndian.PutUint64(space[i:], uint64(size))
	}
	c.Commit(peer, uint64(size))
	return true
}

// BenchmarkFlood has the others send to rank 0 as fast as they are let; one op is one record.
func BenchmarkFlood(b *testing.B) {
	over(b, func(b *testing.B, cs []conduit.Conduit, size int) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			for s := (&counting{}); s.n < b.N; {
				cs[0].Poll(32, s)
			}
		}()
		for i, src := 0, 0; i < b.N; src++ {
			c := cs[1+src%(len(cs)-1)]
			if put(c, 0, conduit.Request, size) {
				i++
			} else if err := c.Failed(0); err != nil {
				b.Error(err)
				return
			}
		}
		<-done
	})
}

// BenchmarkRoundTrip has the others in turn ask rank 0; one op is one question with its answer.
func BenchmarkRoundTrip(b *testing.B) {
	over(b, func(b *testing.B, cs []conduit.Conduit, size int) {
		var stop atomic.Bool
		done := make(chan struct{})
		go func() {
			defer close(done)
			for a := (&answering{cs[0], size}); !stop.Load(); {
				cs[0].Poll(32, a)
			}
		}()
		s := &counting{}
		for i := range b.N {
			c := cs[1+i%(len(cs)-1)]
			for !put(c, 0, conduit.Request, size) {
				c.Poll(32, s)
			}
			for s.n <= i {
				c.Poll(32, s)
			}
		}
		stop.Store(true)
		<-done
	})
}

// BenchmarkRecord sends and polls in one goroutine: the instructions, without any crossing.
func BenchmarkRecord(b *testing.B) {
	over(b, func(b *testing.B, cs []conduit.Conduit, size int) {
		s := &counting{}
		for i := 0; s.n < b.N; i++ {
			put(cs[1+i%(len(cs)-1)], 0, conduit.Request, size)
			cs[0].Poll(32, s)
		}
	})
}

// BenchmarkEmptyPoll polls where the others have once sent something.
func BenchmarkEmptyPoll(b *testing.B) {
	over(b, func(b *testing.B, cs []conduit.Conduit, size int) {
		s := &counting{}
		for _, c := range cs[1:] {
			put(c, 0, conduit.Request, size)
		}
		for s.n < len(cs)-1 {
			cs[0].Poll(32, s)
		}
		for b.Loop() {
			cs[0].Poll(32, s)
		}
	})
}
