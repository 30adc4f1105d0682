package comm

import (
	"testing"

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
	}{
		{"PingPongOfEverySize", TestPingPongOfEverySize, false},
		{"UnexpectedOfEverySize", TestUnexpectedOfEverySize, false},
		{"OrderWithinAPair", TestOrderWithinAPair, false},
		{"Truncation", TestTruncation, false},
		{"SelfMessages", TestSelfMessages, false},
		{"ManyGoroutines", TestManyGoroutines, false},
		{"FloodDoesNotBlock", func(t *testing.T) { floodDoesNotBlock(t, 20_000) }, true}, // each takes a round trip
		{"WildcardsFromManySenders", TestWildcardsFromManySenders, false},
		{"WildcardsAmongOthers", TestWildcardsAmongOthers, false},
		{"ProbeAndMprobe", TestProbeAndMprobe, false},
		{"Cancel", TestCancel, false},
		{"CloseEndsWhatWaits", TestCloseEndsWhatWaits, false},
		{"TinyQueues", TestTinyQueues, false},
		{"ThreadsOfEveryKind", TestThreadsOfEveryKind, false},
		{"ThreadsWaitForMany", TestThreadsWaitForMany, false},
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
				if name == "good" || !c.good {
					t.Run(c.name, c.run)
				}
			}
		})
	}
}
