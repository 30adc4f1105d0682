package udp_test

import (
	"net/netip"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/comm/conduit/conformance"
	"github.com/golci/golci/internal/conduit/udp/seal"
	"github.com/golci/golci/internal/conduit/udp/udptest"
)

var loopback = netip.MustParseAddrPort("127.0.0.1:0")

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

// job is the short form of udptest.Job.
type job struct {
	mode    seal.Mode
	payload int // of a datagram; 0 for what loopback takes
}

func (j job) open(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	t.Helper()
	return udptest.Job{Mode: j.mode, Payload: j.payload}.Open(t, n, cfg)
}

func TestConformance(t *testing.T) {
	for name, j := range map[string]job{
		"trust":   {mode: seal.Trust},
		"encrypt": {},
		"small":   {mode: seal.Trust, payload: 1300},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "encrypt" {
				t.Skip("-short: one kind of datagram is enough")
			}
			conformance.Run(t, j.open)
		})
	}
}

// slow is how much less is done over a bad network than over a good one.
const slow = 60

// TestConformanceFaults: what is lost, doubled, overtaken or damaged on the way is not noticed.
func TestConformanceFaults(t *testing.T) {
	for name, j := range map[string]udptest.Job{
		"trust":   {Mode: seal.Trust, Faults: udptest.Bad + ",corrupt=0.05,truncate=0.02"},
		"encrypt": {Faults: udptest.Bad + ",corrupt=0.05,truncate=0.02"},
		"small":   {Mode: seal.Trust, Faults: udptest.Bad, Payload: 1300},
	} {
		j.MinRTO = udptest.BadMinRTO
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "small" {
				t.Skip("-short: one bad network is enough")
			}
			conformance.RunSlow(t, slow, j.Open)
		})
	}
}
