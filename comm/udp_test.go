package comm

import (
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// TestOverDatagrams runs the tests of any conduit over two others. One neither keeps the order nor has words for
// credits. The other has a bad network besides.
func TestOverDatagrams(t *testing.T) {
	tests := []struct {
		name string
		run  func(*testing.T)
		good bool // only over a good network: there is too much of it
		race bool // under the race detector, too: goroutines meet in it that do not meet over other conduits
	}{
		{"PingPongOfEverySize", TestPingPongOfEverySize, false, false},
		{"UnexpectedOfEverySize", TestUnexpectedOfEverySize, false, false},
		{"OrderWithinAPair", TestOrderWithinAPair, false, false},
		{"Truncation", TestTruncation, false, false},
		{"SelfMessages", TestSelfMessages, false, false},
		{"ManyGoroutines", TestManyGoroutines, false, true},
		{"FloodDoesNotBlock", func(t *testing.T) { floodDoesNotBlock(t, 20_000) }, true, false}, // each takes a round trip
		{"WildcardsFromManySenders", TestWildcardsFromManySenders, false, false},
		{"WildcardsAmongOthers", TestWildcardsAmongOthers, false, false},
		{"ProbeAndMprobe", TestProbeAndMprobe, false, false},
		{"Cancel", TestCancel, false, true},
		{"CloseEndsWhatWaits", TestCloseEndsWhatWaits, false, true},
		{"TinyQueues", TestTinyQueues, false, true},
		{"ThreadsOfEveryKind", TestThreadsOfEveryKind, false, true},
		{"ThreadsWaitForMany", TestThreadsWaitForMany, false, false},
	}
	bad := udptest.Job{Mode: seal.Trust, Faults: udptest.Bad, MinRTO: udptest.BadMinRTO, Payload: 1400}
	for name, network := range map[string]udptest.Job{"good": {}, "bad": bad} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "good" {
				t.Skip("what holds over the bad network would hold over the good one")
			}
			before := joined
			defer func() { joined = before }()
			joined = network.Open
			for _, c := range tests {
				if (name == "good" || !c.good) && (c.race || !invariants.Race) {
					t.Run(c.name, c.run)
				}
			}
		})
	}
}
