package udp

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// TestAddressTable: what goes into the address table comes out, with one path a peer and with several.
func TestAddressTable(t *testing.T) {
	path := func(addr string, payload, most int) Path {
		return Path{Addr: netip.MustParseAddrPort(addr), Payload: payload, Most: most}
	}
	v4, v6 := path("192.0.2.7:4000", 1400, 8900), path("[2001:db8::1]:65535", 65507, 0)
	near, far := path("[fe80::1%eth0]:9", 1200, 1500), path("[fe80::2%eth1]:9", 1200, 1500)
	mapped := path("[::ffff:192.0.2.7]:1", 1, 2)
	for name, peers := range map[string][]Peer{
		"one each": {
			{Paths: []Path{v4}}, {}, {Paths: []Path{v6}}, {Paths: []Path{near}}, {Paths: []Path{far}}, {Paths: []Path{mapped}},
		},
		"several": {{Paths: []Path{v4, v6, near}}, {}, {Paths: []Path{far}}, {Paths: []Path{near, v4}}},
		"none":    {{}},
	} {
		b, err := newAddressTable(peers)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range peers {
			if len(p.Paths) > 0 && !slices.Equal(b.paths(i), p.Paths) {
				t.Errorf("%s: peer %d has %v, want %v", name, i, b.paths(i), p.Paths)
			}
		}
	}
}

// TestPathsAreRemembered: a datagram that has come by a path says that this path works, and another does not.
func TestPathsAreRemembered(t *testing.T) {
	paths := []Path{
		{Addr: netip.MustParseAddrPort("127.0.0.1:1"), Payload: 1400},
		{Addr: netip.MustParseAddrPort("127.0.0.1:2"), Payload: 1400},
	}
	c, err := assemble(Config{
		Size: 2, Key: bytes.Repeat([]byte{1}, seal.MinKey), Mode: seal.Trust, Wire: &tape{},
		Peers:   []Peer{{}, {Paths: paths}},
		Conduit: conduit.Config{Loan: 40, MaxRecord: 1024},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.now = time.Second
	c.cameBy(1, paths[1].Addr)
	if r := &c.peerState(1).route; r.works(0) || !r.works(1) || r.last != time.Second {
		t.Errorf("after a datagram by the second path: %v, the last at %v", r.heard[:2], r.last)
	}
}
