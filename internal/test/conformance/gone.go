package conformance

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/conduit"
)

// goner is what rank 1 hears of peers that send what there is room for and then close.
type goner struct {
	*sink
	t     suite
	c     conduit.Conduit
	y     *tally
	sent  map[int]int // by peer: records
	bytes map[int]int // by peer: of bulk
	bulk  map[int]int // the same, that have come
}

func newGoner(t suite, c conduit.Conduit) *goner {
	g := &goner{t: t, c: c, y: newTally(t, c), sent: map[int]int{}, bytes: map[int]int{}, bulk: map[int]int{}}
	g.sink = &sink{t: t, each: g.y.add, chunk: func(src int, _ uint64, _ int64, b []byte) { g.bulk[src] += len(b) }}
	return g
}

// leave has c send to rank 1 what there is room for, records and bulk, and close.
func (g *goner) leave(c conduit.Conduit) {
	g.sent[c.Rank()] = fillUp(g.t, c, 1, constant(100), 0)
	if n := c.Caps().BulkChunk; n > 0 {
		sent, _ := c.BulkSend(1, 7, 0, make([]byte, n), nil)
		g.bytes[c.Rank()] = max(0, sent)
	}
	checkClose(g.t, c)
}

// Gone implements conduit.Sink. By then all of the peer has come, and the conduit says the same.
func (g *goner) Gone(peer int, err error) {
	g.sink.Gone(peer, err)
	g.y.want(peer, g.sent[peer])
	if g.bulk[peer] != g.bytes[peer] {
		g.t.Errorf("rank %d is gone: %d bytes of bulk, want %d", peer, g.bulk[peer], g.bytes[peer])
	}
	var pe *conduit.PeerError
	if !errors.Is(err, conduit.ErrPeerClosed) || !errors.As(err, &pe) || pe.Peer != peer {
		g.t.Errorf("rank %d is gone: %v", peer, err)
	}
	if had := g.c.Failed(peer); had == nil || had.Error() != err.Error() {
		g.t.Errorf("rank %d is gone: %v, Failed says %v", peer, err, had)
	}
	if _, st := g.c.Reserve(peer, conduit.System, 8); st != conduit.Dead {
		g.t.Errorf("rank %d is gone: Reserve says %v", peer, st)
	}
}

// testGone: each of several peers is told of once, after all that it sent, and never again.
func testGone(t suite, cs []conduit.Conduit) {
	g := newGoner(t, cs[1])
	g.leave(cs[0])
	g.leave(cs[3])
	w := newWaiter(t, "news of the closed peers")
	for len(g.gone) < 2 {
		for _, peer := range []int{0, 3} {
			if g.gone[peer] == nil && cs[1].Failed(peer) != nil && !cs[1].Pending() {
				t.Fatalf("rank %d has failed, this is still to be told, and nothing is pending", peer)
			}
		}
		if cs[1].Poll(3, g) <= 0 {
			w.pause()
		}
	}
	for range 1000 {
		cs[1].Poll(3, g)
	}
	if g.gone[0] == nil || g.gone[3] == nil || cs[1].Failed(2) != nil {
		t.Errorf("told of %v; rank 2: %v", g.gone, cs[1].Failed(2))
	}
	if cs[1].Pending() {
		t.Error("all is told, and something is pending")
	}
}

// testGoneUnderFlood: a third rank that always has something to be delivered does not keep the news back.
func testGoneUnderFlood(t suite, cs []conduit.Conduit) {
	var over atomic.Bool
	var wg sync.WaitGroup
	defer wg.Wait()
	defer over.Store(true)
	g := newGoner(t, cs[1])
	flood := newWaiter(t, "the end of the flood")
	wg.Go(func() {
		none := &sink{t: t}
		for serial := uint64(0); !over.Load(); {
			if trySend(cs[2], 1, conduit.Request, 24, uint32(serial), serial) == conduit.OK {
				serial++
				continue
			}
			cs[2].Poll(1, none)
			flood.pause()
		}
	})
	pollWhile(t, cs[1], g, 1, func() bool { return g.y.next[2] < 100 }, "the flood")
	g.leave(cs[0])
	pollWhile(t, cs[1], g, 1, func() bool { return g.gone[0] == nil }, "news of the closed peer")
}

// testGoneWakes: what the peer sent last, and its failure, wake a sleeper without an end.
func testGoneWakes(t suite, cs []conduit.Conduit) {
	stop := watchdog(newWaiter(t, "news of the closed peer"))
	defer stop()
	g := newGoner(t, cs[1])
	armed := make(chan struct{})
	var once, wg sync.WaitGroup
	once.Add(1)
	wg.Go(func() {
		asked := onceAsked(func() { close(armed) })
		for g.gone[0] == nil {
			cs[1].Sleep(long, asked)
			once.Wait() // what leave counts is complete
			cs[1].Poll(3, g)
		}
	})
	<-armed
	g.leave(cs[0])
	once.Done()
	wg.Wait()
}

// testGoneAtOwnClose: a rank that has closed its own conduit is told of nobody.
func testGoneAtOwnClose(t suite, cs []conduit.Conduit) {
	s := &sink{t: t}
	for _, c := range []conduit.Conduit{cs[1], cs[0]} {
		checkClose(t, c)
	}
	if n := cs[1].Poll(3, s); n > 0 || len(s.gone) > 0 || cs[1].Pending() {
		t.Errorf("a closed conduit delivers %d and tells of %v, pending %v", n, s.gone, cs[1].Pending())
	}
}
