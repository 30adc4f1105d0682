package nic

import (
	"encoding/json"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/golci/golci/internal/transport/udp/mmsg"

	"github.com/golci/golci/internal/platform/addrs"
)

// TestLargestArrives takes the whole way on this machine: two ranks choose addresses, tell them, agree, and the
// largest datagram of each path arrives; one byte more is refused.
func TestLargestArrives(t *testing.T) {
	ifs, err := addrs.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"", "lo"} {
		chosen, err := Select(spec, ifs)
		if err != nil {
			t.Skipf("%q: %v", spec, err)
		}
		var sockets [2]mmsg.Socket
		var ends [2]Endpoint
		for i := range ends {
			if sockets[i], ends[i], err = open(Describe(chosen, ifs, 1, 1)[0]); err != nil {
				t.Fatal(err)
			}
			defer sockets[i].Close()
		}
		f, err := Agree(ends[:])
		if err != nil {
			t.Fatal(err)
		}
		paths, err := Paths(ends[0], ends[1], f, mmsg.PathPayload)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			d := mmsg.Datagram{Buf: make([]byte, p.Payload), Addr: p.Remote}
			if n, err := sockets[0].Send([]mmsg.Datagram{d}); n != 1 || err != nil {
				t.Fatalf("%+v: %v", p, err)
			}
			if r := sockets[1].Wait(time.Now().Add(5 * time.Minute)); r != mmsg.Ready {
				t.Fatalf("%+v: %v", p, r)
			}
			in := []mmsg.Datagram{{Buf: make([]byte, mmsg.MaxPayload)}}
			if n, err := sockets[1].Recv(in); n != 1 || err != nil || in[0].N != p.Payload {
				t.Fatalf("%+v: %d bytes, %v", p, in[0].N, err)
			}
			d.Buf = make([]byte, p.Payload+1)
			if _, err := sockets[0].Send([]mmsg.Datagram{d}); !errors.Is(err, mmsg.ErrTooBig) {
				t.Errorf("%+v: one byte more: %v", p, err)
			}
		}
	}
}

// open makes a rank's socket at an address, and what the rank publishes, as the others read it.
func open(a Address) (mmsg.Socket, Endpoint, error) {
	s, err := mmsg.Open(netip.AddrPortFrom(a.Addr.Addr(), 0), mmsg.Options{})
	if err != nil {
		return nil, Endpoint{}, err
	}
	a.Addr = s.Info().Addr
	b, err := json.Marshal(Endpoint{NewIncarnation(), nil, []Address{a}})
	if err != nil {
		return s, Endpoint{}, err
	}
	e, err := received(b)
	return s, e, err
}
