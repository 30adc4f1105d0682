package conformance

import (
	"bytes"
	"errors"
	"math"
	"sync/atomic"

	"github.com/golci/golci/conduit"
)

// mapped waits for the peer's memory.
func mapped(t suite, a conduit.Remote, peer int, k conduit.Key) ([]byte, *atomic.Bool) {
	t.Helper()
	for w := newWaiter(t, "the memory of rank %d", peer); ; w.pause() {
		mem, lost, err := a.Map(peer, k)
		if err != nil {
			t.Fatal(err)
		}
		if mem != nil {
			return mem, lost
		}
	}
}

// testRemoteMap: what a rank has allocated and exposed its peer maps, whole or in part, and sees what has been stored
// there when a record comes. It is zero at first, and not without limit. It can be touched when its owner has closed.
func testRemoteMap(t suite, cs []conduit.Conduit) {
	a, ok := cs[0].(conduit.Remote)
	if !ok || !a.Reach(1).Map {
		t.Skip("this conduit maps no memory")
	}
	b := cs[1].(conduit.Remote)
	for size, want := range map[int64]error{
		0: conduit.ErrConfig, -1: conduit.ErrConfig, math.MinInt64: conduit.ErrConfig, 1 << 60: conduit.ErrGrant,
	} {
		if _, err := b.Allocate(size); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	from, to := &sink{t: t}, &sink{t: t}
	serial := uint64(0)
	var seen []byte
	var lost *atomic.Bool
	for i, n := range []int{5000, 100_001} {
		own, err := b.Allocate(int64(n))
		if err != nil || !bytes.Equal(own, make([]byte, n)) || cap(own) != n {
			t.Fatalf("%d bytes, want %d zeros: %v", len(own), n, err)
		}
		for _, part := range [][]byte{own, own[n/2:], own[1:3], own[n-1:]} {
			seen, lost = mapped(t, a, 1, expose(t, b, part))
			fill(part, serial)
			send(t, cs[1], from, 0, conduit.Request, 16, serial)
			drain(t, cs[0], to, 1)
			serial++
			if len(seen) != len(part) || cap(seen) != len(seen) || !bytes.Equal(seen, part) {
				t.Errorf("memory %d: %d bytes of %d, or others", i, len(seen), len(part))
			}
		}
	}
	for _, peer := range []int{-1, len(cs)} {
		if _, _, err := a.Map(peer, conduit.Key{}); !errors.Is(err, conduit.ErrUnreachable) {
			t.Errorf("memory of rank %d: %v", peer, err)
		}
	}
	if lost.Load() {
		t.Error("lost before anybody has closed")
	}
	checkClose(t, cs[1])
	for w := newWaiter(t, "the loss"); !lost.Load(); w.pause() {
		cs[0].Poll(4, to)
	}
	if cs[0].Failed(1) == nil {
		t.Error("lost, and not failed")
	}
	seen[0]++
}
