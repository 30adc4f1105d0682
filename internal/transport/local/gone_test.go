package local

import (
	"testing"

	"github.com/golci/golci/conduit"
)

// listener counts the records of each rank, and hears which ranks are gone.
type listener struct {
	records [3]int
	gone    [3]bool
}

func (l *listener) Record(src int, _ []byte)      { l.records[src]++ }
func (*listener) Bulk(int, uint64, int64, []byte) {}
func (l *listener) Gone(peer int, _ error)        { l.gone[peer] = true }

// TestGoneWhilePollsAreFull: each poll delivers as many records of another peer as its budget lets it. The end of a
// peer is told all the same, after all that the peer had sent.
func TestGoneWhilePollsAreFull(t *testing.T) {
	cs, err := New(3, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer cs[1].Close()
	defer cs[2].Close()
	const last = 10 // records of rank 0
	for range last {
		send(cs[0], 1)
	}
	if err := cs[0].Close(); err != nil {
		t.Fatal(err)
	}
	l := &listener{}
	for polls := 0; !l.gone[0]; polls++ {
		if polls == 1000 {
			t.Fatalf("rank 0 has closed and is not told as gone after %d full polls; its records: %d of %d", polls, l.records[0], last)
		}
		send(cs[2], 1)
		send(cs[2], 1)
		for range 2 { // two come for each two that are delivered: something always waits
			if n := cs[1].Poll(1, l); n != 1 {
				t.Fatalf("poll %d delivers %d records, not 1", polls, n)
			}
		}
	}
	if l.records[0] != last {
		t.Errorf("gone with %d of its %d records delivered", l.records[0], last)
	}
}
