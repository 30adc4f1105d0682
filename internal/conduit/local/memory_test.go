package local

import (
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/golci/golci/comm/conduit"
)

// TestMemory: registered memory is zero, aligned, and the same for all; it is registered once, and not without limit.
func TestMemory(t *testing.T) {
	cs, err := New(3, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, c := range cs {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	a, b := cs[0].(conduit.Memory), cs[1].(conduit.Memory)
	if mem, err := b.Segment(0); mem != nil || err != nil {
		t.Errorf("before it is registered: %d bytes, %v", len(mem), err)
	}
	for _, n := range []int64{0, -1, math.MinInt64} {
		if _, err := a.Register(n); !errors.Is(err, conduit.ErrConfig) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := a.Register(1 << 60); !errors.Is(err, conduit.ErrGrant) {
		t.Errorf("too much: %v", err)
	}
	own, err := a.Register(1000)
	if err != nil || len(own) != 1000 {
		t.Fatalf("%d bytes, %v", len(own), err)
	}
	if _, err := a.Register(1000); !errors.Is(err, conduit.ErrConfig) {
		t.Errorf("twice: %v", err)
	}
	if b.Lost(0).Load() || b.Lost(3) != nil {
		t.Error("lost before anybody has closed, or a rank outside the job")
	}
	if err := cs[0].Close(); err != nil {
		t.Error(err)
	}
	if !b.Lost(0).Load() || b.Lost(2).Load() || !a.Lost(1).Load() || !a.Lost(0).Load() {
		t.Error("a rank that has closed is lost to the others, and they to it")
	}
	seen, err := b.Segment(0)
	if err != nil || len(seen) != 1000 || &seen[0] != &own[0] {
		t.Errorf("%d bytes, %v", len(seen), err)
	}
	for _, peer := range []int{-1, 3} {
		if _, err := b.Segment(peer); !errors.Is(err, conduit.ErrUnreachable) {
			t.Errorf("rank %d: %v", peer, err)
		}
	}
}

// TestMemoryIsOrdered: what is stored before a commit is seen after the poll, also by the race detector.
func TestMemoryIsOrdered(t *testing.T) {
	cs, err := New(2, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cs[1].(conduit.Memory).Register(64); err != nil {
		t.Fatal(err)
	}
	mem, err := cs[0].(conduit.Memory).Segment(1)
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
		own, _ := cs[1].(conduit.Memory).Segment(1)
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
