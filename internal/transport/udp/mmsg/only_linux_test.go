package mmsg

import (
	"net/netip"
	"slices"
	"testing"
)

// TestOnly: of what is sent to a socket that is bound to all addresses, it takes what was sent to those that it was
// given. Loopback hands datagrams over at once, so what was sent first would come first.
func TestOnly(t *testing.T) {
	at := func(s ...string) (l []netip.Addr) {
		for _, a := range s {
			l = append(l, netip.MustParseAddr(a))
		}
		return l
	}
	for _, c := range []struct{ all, only, to, come []netip.Addr }{
		{at("0.0.0.0"), at("127.0.0.1", "127.0.0.2"), at("127.0.0.3", "127.0.0.2", "127.0.1.1", "127.0.0.1"), at("127.0.0.2", "127.0.0.1")},
		{at("0.0.0.0"), at("127.0.0.2"), at("127.0.0.1", "127.0.0.2"), at("127.0.0.2")},
		{at("0.0.0.0"), nil, at("127.0.0.1", "127.0.0.2"), at("127.0.0.1", "127.0.0.2")},
		{at("::"), at("2001:db8::1", "::1"), at("::1"), at("::1")},
		{at("::"), at("2001:db8::1", "::2"), at("::1"), nil},
	} {
		s := mustOpen(t, netip.AddrPortFrom(c.all[0], 0), Options{Only: c.only})
		from := mustOpen(t, netip.AddrPortFrom(c.to[0], 0), Options{})
		for i, a := range c.to {
			sendAll(t, from, []Datagram{{Buf: []byte{byte(i)}, Addr: netip.AddrPortFrom(a, s.Info().Addr.Port())}})
		}
		var come []netip.Addr
		for b := buffers(1, 16); ; {
			n, err := s.Recv(b)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
			come = append(come, c.to[b[0].Buf[0]])
		}
		if !slices.Equal(come, c.come) {
			t.Errorf("only %v: what was sent to %v has come, want %v", c.only, come, c.come)
		}
	}
}
