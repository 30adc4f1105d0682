package mesh

import (
	"context"
	"io"
	"net"
	"net/netip"
	"testing"

	"github.com/golci/golci/internal/job/authconn"
)

// pairOf makes two nodes, of which the second takes whatever comes.
func pairOf(b *testing.B) (a, z *Node) {
	b.Helper()
	var err error
	if z, err = Listen(Config{Rank: 1, Size: 2, Key: testKey, Take: func(int, []byte) {}}, loopback); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { z.Close() })
	where := func(context.Context, int) ([]netip.AddrPort, error) { return z.Addrs(), nil }
	if a, err = Listen(Config{Rank: 0, Size: 2, Key: testKey, Where: where}, loopback); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { a.Close() })
	return a, z
}

// BenchmarkFirst is the first message to a rank: a connection is made for it.
func BenchmarkFirst(b *testing.B) {
	a, _ := pairOf(b)
	for b.Loop() {
		if err := a.Send(b.Context(), 1, nil); err != nil {
			b.Fatal(err)
		}
		p := a.peerOf(1)
		a.dropConn(p.link.raw)
		p.link = nil
	}
}

// BenchmarkSend is any further one.
func BenchmarkSend(b *testing.B) {
	a, _ := pairOf(b)
	for b.Loop() {
		if err := a.Send(b.Context(), 1, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStranger is a caller without the key, from his call to his being hung up on.
func BenchmarkStranger(b *testing.B) {
	_, z := pairOf(b)
	for b.Loop() {
		c, err := net.Dial("tcp", z.Addrs()[0].String())
		if err != nil {
			b.Fatal(err)
		}
		_, _ = c.Write(make([]byte, authconn.GreetingBytes))
		_, _ = io.Copy(io.Discard, c)
		c.Close()
	}
}
