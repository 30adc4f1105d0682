//go:build pmix && linux && (amd64 || arm64)

package pmix

import (
	"net"
	"net/netip"
	"testing"
	"time"
)

// connected returns both ends of a connection, and a watch over the near one.
func connected(t *testing.T) (near, far net.Conn, w *watch) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if near, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	if far, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	uri := "x.0;tcp4://" + ln.Addr().String()
	if w = watchServer(func(name string) (string, bool) { return uri, name == "PMIX_SERVER_URI41" }); w == nil {
		t.Fatal("the connection was not found")
	}
	t.Cleanup(w.stopWatch)
	return near, far, w
}

// TestWatchLost: the end of the connection is seen, and data before it is left to read.
func TestWatchLost(t *testing.T) {
	near, far, w := connected(t)
	if _, err := far.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.lost:
		t.Fatal("lost at a byte")
	case <-time.After(20 * time.Millisecond):
	}
	far.Close()
	select {
	case <-w.lost:
	case <-time.After(5 * time.Second):
		t.Fatal("the end was not seen")
	}
	if n, err := near.Read(make([]byte, 9)); n != 1 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestWatchStop: after stop the near end's close is the connection's.
func TestWatchStop(t *testing.T) {
	near, far, w := connected(t)
	w.stopWatch()
	near.Close()
	_ = far.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := far.Read(make([]byte, 9)); err == nil || n != 0 || err.Error() != "EOF" {
		t.Errorf("%d bytes, %v", n, err)
	}
	select {
	case <-w.lost:
		t.Error("lost at a stop")
	default:
	}
}

func TestWatchNothing(t *testing.T) {
	if fd := findSocket(netip.MustParseAddrPort("127.0.0.1:1")); fd >= 0 {
		t.Errorf("found %d", fd)
	}
}
