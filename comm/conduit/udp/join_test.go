package udp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/comm/conduit/udp"
	"github.com/golci/golci/comm/conduit/udp/faulty"
	"github.com/golci/golci/comm/conduit/udp/nic"
	"github.com/golci/golci/comm/conduit/udp/relay"
	"github.com/golci/golci/comm/conduit/udp/udptest"
)

// TestConnectWithFaultsOfAbsentRanks: only who knows the job can tell that faults name ranks which it has not.
func TestConnectWithFaultsOfAbsentRanks(t *testing.T) {
	for spec, ok := range map[string]bool{"loss=0.1,to=1": true, "loss=0.1,to=2": false, "loss=0.1,from=7": false} {
		faults, err := faulty.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		var listeners []*udp.Listener
		var all []nic.Endpoint
		for range 2 {
			l, err := udp.Listen(udp.ListenConfig{Loopback: true, Faults: faults})
			if err != nil {
				t.Fatal(err)
			}
			listeners, all = append(listeners, l), append(all, l.Endpoint())
		}
		var open []conduit.Conduit
		for r, l := range listeners {
			c, err := l.Connect(all, udp.Config{Rank: r, Size: 2, Key: []byte(udptest.Key)})
			if ok && err != nil || !ok && (!errors.Is(err, relay.ErrFaults) || !strings.Contains(err.Error(), "ranks 0 to 1")) {
				t.Errorf("%s at rank %d: %v", spec, r, err)
			}
			if err == nil {
				open = append(open, c)
			}
		}
		closeAll(t, open)
	}
}
