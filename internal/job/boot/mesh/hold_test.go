package mesh

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"
)

// TestHold: a connection that is held ends with the other rank or with ctx. Messages between the two go on beside it.
func TestHold(t *testing.T) {
	w := newWorld(t, 2, 10, Config{})
	hold := func(ctx context.Context) chan error {
		out := make(chan error, 1)
		go func() { out <- w.nodes[0].Hold(ctx, 1) }()
		w.awaitIn(t, 1, ^0)
		return out
	}
	ctx, cancel := context.WithCancel(t.Context())
	held := hold(ctx)
	for range 3 {
		if err := w.nodes[0].Send(t.Context(), 1, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if x := <-w.news; x != (news{1, 0, "x"}) {
			t.Errorf("got %v", x)
		}
	}
	select {
	case err := <-held:
		t.Fatalf("a message has ended it: %v", err)
	default:
	}
	cancel()
	if err := <-held; !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
	w.nodes[1].forget(^0)
	held = hold(t.Context())
	w.nodes[1].Close()
	if err := <-held; err != nil {
		t.Errorf("got %v", err)
	}
	if err := w.nodes[0].Hold(t.Context(), 1); !errors.Is(err, ErrGone) {
		t.Errorf("got %v", err)
	}
}

// forget has awaitIn wait for the next connection of a rank.
func (n *Node) forget(from int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.in, from)
}

// awaitIn waits until a rank has a connection of another.
func (w *world) awaitIn(t *testing.T, rank, from int) {
	t.Helper()
	n := w.nodes[rank]
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		n.mu.Lock()
		c := n.in[from]
		n.mu.Unlock()
		if c != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal("no connection")
		}
	}
}

// TestHoldSilent: a machine that says nothing is no reason to take its ranks for gone, and neither is a process that
// hangs up on callers before they have proved themselves: it may have no room.
func TestHoldSilent(t *testing.T) {
	w := newWorld(t, 2, 1, Config{Silence: 50 * time.Millisecond})
	for _, addr := range []netip.AddrPort{
		listener(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1<<10)); time.Sleep(time.Second) }), // says nothing
		listener(t, func(c net.Conn) {}), // hangs up
	} {
		w.addrs[1] = []netip.AddrPort{addr}
		if err := w.nodes[0].Hold(t.Context(), 1); err == nil || errors.Is(err, ErrGone) {
			t.Errorf("got %v", err)
		}
	}
}
