package udp_test

import (
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/comm/conduit/conformance"
	"github.com/golci/golci/comm/conduit/udp"
	"github.com/golci/golci/comm/conduit/udp/faulty"
	"github.com/golci/golci/comm/conduit/udp/mmsg"
	"github.com/golci/golci/comm/conduit/udp/seal"
)

var loopback = netip.MustParseAddrPort("127.0.0.1:0")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// job describes the conduits of a test.
type job struct {
	mode    seal.Mode
	faults  string
	addr    string // bound by all; "" for loopback
	payload int    // of a datagram; 0 for what loopback takes
	sockets mmsg.Options
	minRTO  time.Duration
}

// open makes the conduits of n ranks that share this process. The caller closes them.
func (j job) open(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	t.Helper()
	addr := loopback
	if j.addr != "" {
		addr = netip.MustParseAddrPort(j.addr)
	}
	faults, err := faulty.Parse(j.faults)
	if err != nil {
		t.Fatal(err)
	}
	wires := make([]udp.Wire, n)
	peers := make([]udp.Peer, n)
	for i := range wires {
		o := j.sockets
		o.RecvBuffer, o.SendBuffer = 4<<20, 4<<20
		s, err := mmsg.Open(addr, o)
		if err != nil {
			t.Fatal(err)
		}
		wires[i] = s
		if j.faults != "" {
			if wires[i], err = faulty.New(s, faults); err != nil {
				t.Fatal(err)
			}
		}
		payload := mmsg.MaxPayload
		if j.payload > 0 {
			payload = j.payload
		}
		peers[i] = udp.Peer{Life: uint64(1000 + i), Paths: []udp.Path{{Addr: s.Info().Addr, Payload: payload}}}
	}
	out := make([]conduit.Conduit, n)
	for i := range out {
		c, err := udp.New(udp.Config{
			Rank: i, Size: n, Key: []byte("a key of thirty-two bytes, or so"), Mode: j.mode, Wire: wires[i], Peers: peers, Conduit: cfg,
			MinRTO: j.minRTO,
		})
		if err != nil {
			t.Fatal(err)
		}
		out[i] = c
	}
	return out
}

func TestConformance(t *testing.T) {
	for name, j := range map[string]job{
		"trust":   {mode: seal.Trust},
		"encrypt": {},
		"small":   {mode: seal.Trust, payload: 1300},
	} {
		t.Run(name, func(t *testing.T) { conformance.Run(t, j.open) })
	}
}

func TestConformanceFaults(t *testing.T) {
	j := job{mode: seal.Trust, faults: "loss=0.1,dup=0.05,reorder=0.05,seed=1", minRTO: 200 * time.Microsecond}
	conformance.Run(t, j.open)
}
