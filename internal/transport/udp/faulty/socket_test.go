package faulty

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/internal/transport/udp/mmsg"
)

// patience is how long a test waits for what must come. Long, since the machine may stop the process for a while.
const patience = 5 * time.Minute

// TestRealSockets runs a sender, a poller and a waiter over a delaying network at once: each datagram that is not
// lost comes, though nothing but Wait may move the last ones on.
func TestRealSockets(t *testing.T) {
	f, err := Parse("loss=0.2,dup=0.2,reorder=0.2,jitter=2ms,seed=5")
	if err != nil {
		t.Fatal(err)
	}
	addr := netip.MustParseAddrPort("127.0.0.1:0")
	open := func() mmsg.Socket {
		s, err := mmsg.Open(addr, mmsg.Options{RecvBuffer: 4 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	x, err := New(open(), f)
	if err != nil {
		t.Fatal(err)
	}
	y := open()
	var wg sync.WaitGroup
	wg.Go(func() {
		for x.Wait(time.Time{}) != mmsg.Closed {
		}
	})
	wg.Go(func() {
		in := []mmsg.Datagram{{Buf: make([]byte, 100)}}
		for {
			if _, err := x.Recv(in); err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
				return
			}
			time.Sleep(100 * time.Microsecond) // so that it is Wait that meets most due times
		}
	})
	const packets = 500
	for sent, end := 0, time.Now().Add(patience); sent < packets; {
		n, err := x.Send(numbered(sent, min(7, packets-sent), y.Info().Addr))
		if err != nil || time.Now().After(end) {
			t.Fatal(n, err)
		}
		sent += n
	}
	came := collect(t, x, y)
	_ = x.Close()
	wg.Wait()
	again := 0
	for _, n := range came {
		again += n - 1
	}
	c, refused := x.(Counter).Counts()
	if c.Packets != packets || refused != 0 || len(came) != packets-int(c.Lost) || again != int(c.Duplicated) || c.Lost == 0 || again == 0 {
		t.Errorf("%d came, %d of them again; %+v, %d refused", len(came), again, c, refused)
	}
}

// collect receives until as many came as x let through.
func collect(t *testing.T, x, y mmsg.Socket) map[uint32]int {
	t.Helper()
	came := map[uint32]int{}
	in := make([]mmsg.Datagram, 8)
	for i := range in {
		in[i].Buf = make([]byte, 100)
	}
	end := time.Now().Add(patience)
	for got := 0; ; {
		n, err := y.Recv(in)
		if err != nil {
			t.Fatal(err)
		}
		for i := range in[:n] {
			came[binary.BigEndian.Uint32(in[i].Buf)]++
		}
		got += n
		c, _ := x.(Counter).Counts()
		if over := int(c.Packets - c.Lost + c.Duplicated); got == over && c.Packets > 0 {
			return came
		}
		if n == 0 && y.Wait(time.Now().Add(time.Millisecond)) == mmsg.Timeout && time.Now().After(end) {
			t.Fatalf("%d came", got)
		}
	}
}
