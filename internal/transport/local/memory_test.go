package local

import (
	"sync"
	"testing"

	"github.com/golci/golci/conduit"
)

// TestMemoryIsOrdered: what is stored before a commit is seen after the poll, also by the race detector.
func TestMemoryIsOrdered(t *testing.T) {
	cs, err := New(2, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := cs[1].(conduit.Remote).Allocate(64)
	if err != nil {
		t.Fatal(err)
	}
	k, _ := cs[1].(conduit.Remote).Expose(0, own)
	mem, _, err := cs[0].(conduit.Remote).Map(1, k)
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 1000
	var wg sync.WaitGroup
	wg.Go(func() {
		turn := &taker{}
		for i := range rounds {
			for turn.n <= i {
				cs[0].Poll(1, turn)
			}
			mem[0] = byte(i)
			send(cs[0], 1)
		}
	})
	turn := &taker{}
	for i := range rounds {
		send(cs[1], 0)
		for turn.n <= i {
			cs[1].Poll(1, turn)
		}
		if own[0] != byte(i) {
			t.Fatalf("round %d: %d", i, own[0])
		}
	}
	wg.Wait()
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func send(c conduit.Conduit, peer int) {
	if _, st := c.Reserve(peer, conduit.Request, 8); st == conduit.OK {
		c.Commit(peer, 8)
	}
}

type taker struct{ n int }

func (k *taker) Record(int, []byte)              { k.n++ }
func (k *taker) Bulk(int, uint64, int64, []byte) {}

// Gone implements conduit.Sink.
func (*taker) Gone(int, error) {}
