package udp

import (
	"bytes"
	"net/netip"
	"runtime"
	"slices"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// crowd are the peers of a large job: all that a rank is told of them, made beforehand.
func crowd(t *testing.T, n int) []Peer {
	t.Helper()
	private, err := seal.NewPrivate()
	if err != nil {
		t.Fatal(err)
	}
	public := private.PublicKey().Bytes()
	peers := make([]Peer, n)
	for i := range peers {
		peers[i] = Peer{Life: uint64(i), Public: public, Paths: []Path{{Addr: netip.MustParseAddrPort("127.0.0.1:1"), Payload: 1400}}}
	}
	return peers
}

func heapNow() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestMemoryOfManyPeers: a rank that believes in 10,000 peers keeps little of those that it has never talked to. It
// takes memory for each of the 64 that it talks to when it first does.
func TestMemoryOfManyPeers(t *testing.T) {
	const peers, busy = 10_000, 64
	all := crowd(t, peers)
	private, err := seal.NewPrivate()
	if err != nil {
		t.Fatal(err)
	}
	open := func(n int) *Conduit {
		c, err := assemble(Config{
			Size: n, Key: bytes.Repeat([]byte{1}, seal.MinKey), Private: private, Wire: &tape{}, Peers: all[:n],
			Conduit: conduit.Config{Loan: 400, MaxRecord: 1024}, Credits: 4 * n,
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	var c *Conduit
	var quiet, before int
	var eaches []float64 // the median of several: what ends of other tests meanwhile counts, too
	for range 5 {
		before = heapNow()
		few := open(busy * 2)
		fixed := heapNow() - before
		before = heapNow()
		c = open(peers)
		quiet = heapNow() - before
		eaches = append(eaches, float64(quiet-fixed)/(peers-2*busy))
		runtime.KeepAlive(few)
	}
	slices.Sort(eaches)
	each := eaches[2]
	for p := 100; p < 100+busy; p++ {
		if _, st := c.Reserve(p, conduit.Request, 64); st != conduit.OK {
			t.Fatal(st)
		}
		c.Commit(p, 64)
	}
	talking := heapNow() - before - quiet
	room, _ := c.recv.pool.Room()
	t.Logf("%d peers: %d bytes, %.1f for each that is not talked to; %d bytes for each of %d that are; room for %d bytes of requests, %d taken",
		peers, quiet, each, talking/busy, busy, room[2], c.Stats().Pool)
	if each > 100 {
		t.Errorf("%.1f bytes for a peer that was never talked to", each)
	}
	if c.Stats().Pool != 0 || room[2] > 12_600_000 || talking > busy*96<<10 {
		t.Errorf("%d bytes for %d peers, a pool for %d bytes of which %d are taken", talking, busy, room[2], c.Stats().Pool)
	}
	runtime.KeepAlive(all)
}
