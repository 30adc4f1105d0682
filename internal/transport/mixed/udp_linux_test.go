package mixed_test

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/mixedtest"
	"github.com/golci/golci/internal/transport/mixed"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// overUDP makes a job on nodes of two ranks that share memory; between the nodes there is a network.
func overUDP(t testing.TB, n int) []conduit.Conduit {
	t.Helper()
	near := sharing(t, n, conduit.Config{})
	wires, peers := make([]udp.Wire, n), make([]udp.Peer, n)
	for i := range wires {
		s, err := mmsg.Open(netip.MustParseAddrPort("127.0.0.1:0"), mmsg.Options{RecvBuffer: 1 << 20, SendBuffer: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		wires[i] = s
		peers[i] = udp.Peer{Life: uint64(1000 + i), Paths: []udp.Path{{Addr: s.Info().Addr, Payload: mmsg.MaxPayload}}}
	}
	cs := make([]conduit.Conduit, n)
	for i := range cs {
		far, err := udp.New(udp.Config{
			Rank: i, Size: n, Key: []byte("a key of thirty-two bytes, or so"), Mode: seal.Trust, Wire: wires[i], Peers: peers,
		})
		if err == nil {
			cs[i], err = mixed.New(near[i], far, func(peer int) bool { return mixedtest.Twos(i, peer) })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return cs
}

// TestRingOfSleepers sends a token round, over shared memory and the network in turns. Every rank sleeps, without
// end, until it comes: a wake-up that is lost on either side stops it.
func TestRingOfSleepers(t *testing.T) {
	cs := overUDP(t, 4)
	defer closeAll(t, cs...)
	laps := 500
	if testing.Short() {
		laps = 100
	}
	var wg sync.WaitGroup
	for i, c := range cs {
		wg.Go(func() {
			prev, next := (i+3)%4, (i+1)%4
			y := &tally{}
			for lap := range laps {
				for i > 0 && y.from[prev] <= lap {
					if c.Poll(4, y) <= 0 {
						c.Sleep(time.Hour, nil)
					}
				}
				if !send(c, next) {
					t.Errorf("rank %d has no room for one record to rank %d: %v", i, next, c.Failed(next))
					return
				}
				for i == 0 && y.from[prev] <= lap {
					if c.Poll(4, y) <= 0 {
						c.Sleep(time.Hour, nil)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestCapsWithNetwork: what a network takes away from all, and what stays towards ranks of the node.
func TestCapsWithNetwork(t *testing.T) {
	cs := overUDP(t, 3)
	defer closeAll(t, cs...)
	caps := cs[0].Caps()
	if caps.Name != "mixed(shm+udp)" || caps.Ordered || caps.BulkChunk == 0 {
		t.Errorf("%+v", caps)
	}
	for i, c := range cs {
		for peer := range cs {
			words := c.Mine(peer) != nil && c.Theirs(peer) != nil
			if near := i/2 == peer/2; words != near || c.(conduit.Remote).Reach(peer).Get && !near {
				t.Errorf("rank %d to rank %d: words %v, %+v", i, peer, words, c.(conduit.Remote).Reach(peer))
			}
		}
	}
}
