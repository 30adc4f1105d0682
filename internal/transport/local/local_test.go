package local

import (
	"encoding/binary"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type counter struct {
	t    *testing.T
	next uint64
}

func (c *counter) Record(_ int, rec []byte) {
	if got := binary.LittleEndian.Uint64(rec[8:]); got != c.next {
		c.t.Fatalf("got %d, want %d", got, c.next)
	}
	c.next++
}

func (c *counter) Bulk(int, uint64, int64, []byte) {}

// Gone implements conduit.Sink.
func (*counter) Gone(int, error) {}

// TestFlood sends from one goroutine to another.
func TestFlood(t *testing.T) {
	cs, err := New(2, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const total = 200_000
	go func() {
		for i := uint64(0); i < total; {
			space, st := cs[0].Reserve(1, conduit.Request, 16+int(i%100))
			if st != conduit.OK {
				cs[0].Sleep(0, nil)
				continue
			}
			binary.LittleEndian.PutUint64(space[8:], i)
			cs[0].Commit(1, 16+i%100)
			i++
		}
	}()
	c := &counter{t: t}
	for c.next < total {
		cs[1].Poll(32, c)
	}
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
		cs, err := New(n, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return cs
	})
}
