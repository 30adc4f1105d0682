package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// patient bounds what would go on for ever if the tested limits were missing.
const patient = 20 * time.Second

// crowd is a port at which somebody takes calls and says nothing, but for those that are passed on to a rank.
type crowd struct {
	to    netip.AddrPort
	first int // calls that are passed on from the beginning
	deaf  int // calls that nobody answers after them; all later ones are passed on
	calls chan int

	mu   sync.Mutex
	n    int
	mute int // what is said to the first so many calls is lost from now on
}

// open makes the port.
func (c *crowd) open(t *testing.T) netip.AddrPort {
	c.calls = make(chan int, 1000)
	return listener(t, func(conn net.Conn) {
		c.mu.Lock()
		c.n++
		nth := c.n
		c.mu.Unlock()
		c.calls <- nth
		if nth > c.first && nth <= c.first+c.deaf {
			_, _ = io.Copy(io.Discard, conn)
			return
		}
		c.pass(t, conn, nth)
	})
}

func (c *crowd) pass(t *testing.T, conn net.Conn, nth int) {
	far, err := net.Dial("tcp", c.to.String())
	if err != nil {
		t.Error(err)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(far, conn)
		far.Close()
	})
	b := make([]byte, 4096)
	for {
		n, err := far.Read(b)
		if err != nil {
			break
		}
		c.mu.Lock()
		mute := nth <= c.mute
		c.mu.Unlock()
		if !mute {
			_, _ = conn.Write(b[:n]) // an error ends the copying, and that the reading
		}
	}
	conn.Close()
	wg.Wait()
}

// TestTakenOver: a call that is taken by somebody who says nothing ends by itself, and others follow as long as the
// sender may wait. The rank may be stopped, so it is not gone; the error says where it was looked for.
func TestTakenOver(t *testing.T) {
	w := newWorld(t, 2, 1, Config{Silence: 50 * time.Millisecond})
	c := crowd{deaf: 1000}
	addr := c.open(t)
	w.addrs[1] = []netip.AddrPort{addr}
	defer w.nodes[0].Close() // before the port, which waits for the ends of calls
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	go func() {
		for range 3 {
			<-c.calls
		}
		cancel()
	}()
	err := w.nodes[0].Send(ctx, 1, nil)
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrGone) {
		t.Errorf("got %v", err)
	}
	if want := fmt.Sprintf("rank 1 at %v has taken the call, and has said nothing for ", addr); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not say %q", err, want)
	}
}

// stalledDial is dialTCP on a machine that stands still during the first call, for longer than silence: its timer has
// run out although the peer has answered at once.
func stalledDial(calls *atomic.Int32) dialer {
	return func(ctx context.Context, addr netip.AddrPort, silence time.Duration) (net.Conn, error) {
		if calls.Add(1) == 1 {
			time.Sleep(2 * silence)
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
		}
		return dialTCP(ctx, addr, time.Minute)
	}
}

// TestStall: a rank is not gone because the caller's own machine stood still during a dial.
func TestStall(t *testing.T) {
	var calls atomic.Int32
	w := newWorld(t, 2, 1, Config{Silence: 300 * time.Millisecond, dial: stalledDial(&calls)})
	if err := w.nodes[0].Send(t.Context(), 1, []byte("x")); errors.Is(err, ErrGone) {
		t.Fatal(err)
	}
	if n := calls.Load(); n < 2 {
		t.Errorf("%d dials", n)
	}
}

// TestProbeLetsGo: asking whether a rank is there does not keep messages to it waiting for ever.
func TestProbeLetsGo(t *testing.T) {
	w := newWorld(t, 2, 1, Config{Silence: 50 * time.Millisecond})
	c := crowd{to: w.addrs[1][0], deaf: 2}
	w.addrs[1] = []netip.AddrPort{c.open(t)}
	defer w.nodes[0].Close() // before the port, which waits for the ends of calls
	if w.nodes[0].Gone(1) {
		t.Error("nothing is known of rank 1")
	}
	<-c.calls // of the probe, which has the turn
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	if err := w.nodes[0].Send(ctx, 1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if x := <-w.news; x != (news{1, 0, "x"}) {
		t.Errorf("got %v", x)
	}
}

// TestSilentLink: a message that nothing is heard of goes over another connection, and is taken once.
func TestSilentLink(t *testing.T) {
	w := newWorld(t, 2, 10, Config{Silence: 50 * time.Millisecond})
	c := crowd{to: w.addrs[1][0]}
	w.addrs[1] = []netip.AddrPort{c.open(t)}
	defer w.nodes[0].Close() // before the port, which waits for the ends of calls
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	for _, text := range []string{"a", "b", "c"} {
		if err := w.nodes[0].Send(ctx, 1, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if x := <-w.news; x != (news{1, 0, text}) {
			t.Errorf("got %v, want %s", x, text)
		}
		c.mu.Lock()
		if text == "a" {
			c.mute = c.n
		} else if c.n <= c.mute {
			t.Errorf("%s was answered over a connection on which nothing can be heard", text)
		}
		c.mu.Unlock()
	}
	if len(w.news) > 0 {
		t.Errorf("%v was taken again", <-w.news)
	}
}
