//go:build unix && !race

package local

import (
	"slices"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/ring"
)

// TestSegmentsAreGivenBack: the last rank that closes gives the pages of all segments back, and no rank before it. A
// late call finds the conduit closed.
func TestSegmentsAreGivenBack(t *testing.T) {
	cs, err := New(2, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	used := func(c conduit.Conduit) bool {
		m := c.(*ring.Endpoint).Memory.(*rankMemory).segment
		if !m.mapped {
			t.Fatal("the system maps no memory")
		}
		return slices.ContainsFunc(m.mem, func(b byte) bool { return b != 0 })
	}
	send(cs[0], 1)
	for i, c := range cs {
		for _, other := range cs {
			if !used(other) {
				t.Errorf("%d ranks have closed, and a segment is empty", i)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	for i, c := range cs {
		if used(c) {
			t.Errorf("the segment of rank %d was not given back", i)
		}
	}
	for i, c := range cs {
		if _, st := c.Reserve(1-i, conduit.Request, 8); st != conduit.Dead {
			t.Errorf("a late call of rank %d: %v", i, st)
		}
		c.Commit(1-i, 8)
		c.Poll(1, &taker{})
	}
}
