package mmsg

import (
	"bytes"
	"net/netip"
	"testing"
	"time"
)

// sequence has bytes that tell where they belong.
func sequence(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// TestTails sends and receives in two parts, all combinations of sizes; slots are used again, with a tail and without.
func TestTails(t *testing.T) {
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		a, b := mustOpen(t, addr, o), mustOpen(t, addr, o)
		all := sequence(3000)
		var out []Datagram
		var want [][]byte
		for _, head := range []int{0, 1, 24, 1000} {
			for _, tail := range []int{0, 1, 2000} {
				out = append(out, Datagram{Buf: all[:head], Tail: all[head : head+tail], Addr: b.Info().Addr})
				want = append(want, all[:head+tail])
			}
		}
		for _, room := range [][2]int{{3000, 0}, {24, 3000}, {0, 3000}, {2000, 1000}, {100, 50}, {0, 1}} {
			sendAll(t, a, out)
			in := make([]Datagram, 5)
			for i := range in {
				in[i] = Datagram{Buf: make([]byte, room[0]), Tail: make([]byte, room[1])}
			}
			k := 0
			receiveWhole(t, b, in, len(out), func(d *Datagram) {
				got := append(bytes.Clone(d.Buf), d.Tail...)[:d.N]
				short := want[k][:min(len(want[k]), room[0]+room[1])]
				if !bytes.Equal(got, short) || d.Truncated != (len(short) < len(want[k])) {
					t.Errorf("room %v, datagram %d of %d bytes: %d came, truncated %v", room, k, len(want[k]), d.N, d.Truncated)
				}
				k++
			})
		}
	})
}

// receiveWhole waits until want datagrams came and gives each to f.
func receiveWhole(t *testing.T, s Socket, in []Datagram, want int, f func(d *Datagram)) {
	t.Helper()
	for got := 0; got < want; {
		receiveSome(t, s)
		n, err := s.Recv(in)
		if err != nil {
			t.Fatal(err)
		}
		for i := range in[:n] {
			f(&in[i])
		}
		got += n
	}
}

// receiveSome waits until something is there.
func receiveSome(t *testing.T, s Socket) {
	t.Helper()
	if r := s.Wait(time.Now().Add(patience)); r != Ready {
		t.Fatalf("nothing came: %v", r)
	}
}

// TestLargestInTwo is a datagram of the greatest size with its header apart at both ends.
func TestLargestInTwo(t *testing.T) {
	everywhere(t, func(t *testing.T, addr netip.AddrPort, o Options) {
		a, b := mustOpen(t, addr, o), mustOpen(t, addr, o)
		size, err := PathPayload(b.Info().Addr)
		if err != nil {
			t.Fatal(err)
		}
		all := sequence(size)
		sendAll(t, a, []Datagram{{Buf: all[:40], Tail: all[40:], Addr: b.Info().Addr}})
		in := []Datagram{{Buf: make([]byte, 24), Tail: make([]byte, size)}}
		receiveWhole(t, b, in, 1, func(d *Datagram) {
			if d.N != size || !bytes.Equal(d.Buf, all[:24]) || !bytes.Equal(d.Tail[:d.N-24], all[24:]) {
				t.Errorf("%d of %d bytes, or wrong ones", d.N, size)
			}
		})
	})
}
