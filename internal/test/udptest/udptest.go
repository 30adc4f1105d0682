// Package udptest makes jobs of udp conduits whose ranks share a process, over loopback; tests import it.
package udptest

import (
	"bytes"
	"cmp"
	"crypto/ecdh"
	"net/netip"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/tickets"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/faulty"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// Bad is a network on which a lot goes wrong, as Job.Faults has it, without a seed; what it loses, BadMinRTO helps to
// send again soon.
const (
	Bad       = "loss=0.1,dup=0.05,reorder=0.05"
	BadMinRTO = 200 * time.Microsecond
)

// Key is the secret of every job.
const Key = "a key of thirty-two bytes, or so"

// Lent is Job.Credits for the Loan of each peer and no more.
const Lent = -1

// Private is a rank's part of the exchange of keys, the same in every job.
func Private(rank int) *ecdh.PrivateKey {
	k, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{byte(rank + 1)}, seal.PublicSize))
	if err != nil {
		panic(err)
	}
	return k
}

// Public is what it publishes of that.
func Public(rank int) []byte { return Private(rank).PublicKey().Bytes() }

// Life is what a rank of a job drew when it started.
func Life(rank int) uint64 { return uint64(1000 + rank) }

// Job describes the conduits of a test. The zero value is an encrypted job on a network without faults.
type Job struct {
	Mode    seal.Mode
	Faults  string       // as faulty.Parse reads it, its ranks those of the job
	Addr    string       // bound by all, "[::1]:0" say; "" for IPv4
	Payload int          // bytes of a datagram; 0 for what loopback takes
	Sockets mmsg.Options // without sizes of queues: 4 MiB
	Connect bool         // the sockets of two ranks to each other
	// KeepAlive, DeadAfter, AskEvery, MinRTO and Linger are udp.Config's.
	KeepAlive, DeadAfter, AskEvery, MinRTO, Linger time.Duration
	// Credits and Limits are udp.Config's. Without Credits the conduits are for users that keep to no credits: they have
	// room for as much as Limits let everybody send, which are tickets.Without if not given.
	Credits int
	Limits  tickets.Limits
	// SafeLimit, AMLimit and SysLimit are udp.Config's.
	SafeLimit, AMLimit, SysLimit int
	// Says is udp.Config.Payload.
	Says func(netip.AddrPort) (int, error)
	// Wrap, if it is not nil, is laid around a rank's socket and its faults.
	Wrap func(rank int, w udp.Wire) udp.Wire
}

// Open makes the conduits of n ranks, by rank. The caller closes them. It is a conformance.Factory.
func (j Job) Open(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	t.Helper()
	out := make([]conduit.Conduit, n)
	for i, c := range j.OpenUDP(t, n, cfg) {
		out[i] = c
	}
	return out
}

// OpenUDP is Open for tests that need more of them than a conduit.Conduit has.
func (j Job) OpenUDP(t testing.TB, n int, cfg conduit.Config) []*udp.Conduit {
	t.Helper()
	wires, peers := j.sockets(t, n)
	out := make([]*udp.Conduit, n)
	for i := range out {
		credits, limits := j.Credits, j.Limits
		switch credits {
		case 0:
			credits, limits = 1<<17, cmp.Or(limits, tickets.Without)
		case Lent:
			credits = 0
		}
		c, err := udp.New(udp.Config{
			Credits: credits, Limits: limits, SafeLimit: j.SafeLimit, AMLimit: j.AMLimit, SysLimit: j.SysLimit,
			Rank: i, Size: n, Key: []byte(Key), Private: Private(i), Mode: j.Mode, Wire: wires[i], Peers: peers, Conduit: cfg,
			KeepAlive: j.KeepAlive, DeadAfter: j.DeadAfter, AskEvery: j.AskEvery, MinRTO: j.MinRTO, Linger: j.Linger,
			Payload: j.Says,
		})
		if err != nil {
			t.Fatal(err)
		}
		out[i] = c
	}
	return out
}

// sockets opens the sockets of n ranks and spoils them.
func (j Job) sockets(t testing.TB, n int) ([]udp.Wire, []udp.Peer) {
	t.Helper()
	addr := "127.0.0.1:0"
	if j.Addr != "" {
		addr = j.Addr
	}
	payload := mmsg.MaxPayload
	if j.Payload > 0 {
		payload = j.Payload
	}
	o := j.Sockets
	o.RecvBuffer, o.SendBuffer, o.Refusals = 4<<20, 4<<20, true
	wires, peers := make([]udp.Wire, n), make([]udp.Peer, n)
	ranks := map[netip.AddrPort]int{}
	for i := range wires {
		s, err := mmsg.Open(netip.MustParseAddrPort(addr), o)
		if err != nil {
			t.Fatal(err)
		}
		wires[i] = s
		ranks[s.Info().Addr] = i
		peers[i] = udp.Peer{Life: Life(i), Public: Public(i), Paths: []udp.Path{{Addr: s.Info().Addr, Payload: payload}}}
	}
	for i := range wires {
		if c, ok := wires[i].(mmsg.Connector); ok && j.Connect && n == 2 {
			if to := peers[1-i].Paths[0].Addr; !c.Connect(to) {
				t.Fatalf("not connected to %v", to)
			}
		}
		f, err := faulty.Parse(j.Faults)
		if err != nil {
			t.Fatal(err)
		}
		f.Rank, f.Who = i, func(a netip.AddrPort) int {
			if r, ok := ranks[a]; ok {
				return r
			}
			return -1
		}
		if wires[i], err = faulty.New(wires[i], f); err != nil {
			t.Fatal(err)
		}
		if j.Wrap != nil {
			wires[i] = j.Wrap(i, wires[i])
		}
	}
	return wires, peers
}
