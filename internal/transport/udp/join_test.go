package udp_test

import (
	"bytes"
	"errors"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/badnet"
	"github.com/golci/golci/internal/transport/udp"
	"github.com/golci/golci/internal/transport/udp/faulty"
	"github.com/golci/golci/internal/transport/udp/nic"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// TestKeysOfAJob: each rank draws a key and publishes its half; ranks that have none, since they disagree about the
// mode, say so at the start.
func TestKeysOfAJob(t *testing.T) {
	a, b := listen(t, udp.ListenConfig{Loopback: true}), listen(t, udp.ListenConfig{Loopback: true})
	all := []nic.Endpoint{a.Endpoint(), b.Endpoint()}
	if bytes.Equal(all[0].Public, all[1].Public) || len(all[0].Public) != seal.PublicSize {
		t.Fatalf("public keys %x and %x", all[0].Public, all[1].Public)
	}
	clear := listen(t, udp.ListenConfig{Loopback: true, Mode: seal.Trust})
	if _, err := clear.Connect(all, udp.Config{Rank: 0, Size: 2, Key: []byte(udptest.Key)}); !errors.Is(err, conduit.ErrConfig) {
		t.Errorf("without a private key: %v", err)
	}
	half := []nic.Endpoint{all[0], {Incarnation: 1, Addrs: all[1].Addrs}}
	if _, err := listen(t, udp.ListenConfig{Loopback: true}).Connect(half, udp.Config{Rank: 0, Size: 2, Key: []byte(udptest.Key)}); !errors.Is(err, conduit.ErrConfig) ||
		!strings.Contains(err.Error(), "the public key of rank 1 has 0 bytes") {
		t.Errorf("without a public key: %v", err)
	}
	var cs []conduit.Conduit
	for r, l := range []*udp.Listener{a, b} {
		c, err := l.Connect(all, udp.Config{Rank: r, Size: 2, Key: []byte(udptest.Key)})
		if err != nil {
			t.Fatal(err)
		}
		cs = append(cs, c)
	}
	exchangeAll(t, cs, 100)
	closeAll(t, cs)
}

func listen(t *testing.T, cfg udp.ListenConfig) *udp.Listener {
	t.Helper()
	l, err := udp.Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

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
			if ok && err != nil || !ok && (!errors.Is(err, badnet.ErrFaults) || !strings.Contains(err.Error(), "ranks 0 to 1")) {
				t.Errorf("%s at rank %d: %v", spec, r, err)
			}
			if err == nil {
				open = append(open, c)
			}
		}
		closeAll(t, open)
	}
}

// TestConnectedSockets: a socket is connected in a job of two ranks that have one address each, in one network. Then
// messages go both ways as ever.
func TestConnectedSockets(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		alter func(*nic.Endpoint) // what rank 1 says of itself
		want  bool
	}{
		{"two", 2, func(*nic.Endpoint) {}, runtime.GOOS == "linux"},
		{"three", 3, func(*nic.Endpoint) {}, false},
		{"two addresses", 2, func(e *nic.Endpoint) {
			at := e.Addrs[0]
			at.Addr = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), at.Addr.Port())
			e.Addrs = append(e.Addrs[:1:1], at)
		}, false},
		{"another network", 2, func(e *nic.Endpoint) { e.Addrs[0].Bits = 30 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var listeners []*udp.Listener
			var all []nic.Endpoint
			for range c.ranks {
				l := listen(t, udp.ListenConfig{Loopback: true})
				listeners, all = append(listeners, l), append(all, l.Endpoint())
			}
			all[1].Addrs = slices.Clone(all[1].Addrs)
			c.alter(&all[1])
			var cs []conduit.Conduit
			for r, l := range listeners {
				u, err := l.Connect(all, udp.Config{Rank: r, Size: c.ranks, Key: []byte(udptest.Key)})
				if err != nil {
					t.Fatal(err)
				}
				if to := u.ConnectedTo(); r == 0 && to.IsValid() != c.want || c.want && to != all[1-r].Addrs[0].Addr {
					t.Errorf("rank %d is connected to %v", r, to)
				}
				cs = append(cs, u)
			}
			exchangeAll(t, cs, 100)
			closeAll(t, cs)
		})
	}
}
