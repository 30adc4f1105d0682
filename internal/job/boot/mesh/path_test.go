package mesh

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/authconn"
)

// banner is a program that says something to whoever calls, and hangs up.
func banner(t *testing.T, text string) netip.AddrPort {
	t.Helper()
	return listener(t, func(c net.Conn) { _, _ = c.Write([]byte(text)) })
}

// listener hands every caller to f, until the end of the test.
func listener(t *testing.T, f func(net.Conn)) netip.AddrPort {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				f(c)
				c.Close()
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		wg.Wait()
	})
	return ln.Addr().(*net.TCPAddr).AddrPort()
}

// nobody is an address at which nobody listens.
func nobody(t *testing.T) netip.AddrPort {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).AddrPort()
}

// TestPaths: of several addresses the one of the rank is found; the others may be other machines', or another rank's.
func TestPaths(t *testing.T) {
	w := newWorld(t, 3, 10, Config{})
	bad := []netip.AddrPort{nobody(t), banner(t, "220 mail.example.org\r\n"), w.addrs[2][0]}
	good := w.addrs[1][0]
	w.addrs[1] = append(bad, good)
	for range 2 {
		if err := w.nodes[0].Send(t.Context(), 1, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if x := <-w.news; x != (news{1, 0, "x"}) {
			t.Errorf("got %v", x)
		}
	}
	if got := w.nodes[0].peerOf(1).proven; len(got) != 1 || got[0] != good {
		t.Errorf("kept %v, want %v", got, good)
	}
}

// TestNowhere: when only others are found at its addresses, the rank is gone.
func TestNowhere(t *testing.T) {
	w := newWorld(t, 3, 10, Config{})
	stranger, err := Listen(Config{Rank: 1, Size: 3, Key: make([]byte, 32)}, loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	w.addrs[1] = []netip.AddrPort{nobody(t), banner(t, "220 mail.example.org\r\n"), w.addrs[2][0], stranger.Addrs()[0]}
	if err := w.nodes[0].Send(t.Context(), 1, nil); !errors.Is(err, ErrGone) || !errors.Is(err, authconn.ErrStranger) {
		t.Errorf("got %v", err)
	}
}

// relay passes connections on to a rank, and lets a test see and cut them.
type relay struct {
	mu   sync.Mutex
	seen bytes.Buffer // what has gone through, in either direction
	cut  bool         // the next thing that the rank says is lost, and its connection with it
}

func (r *relay) pass(t *testing.T, to netip.AddrPort) func(net.Conn) {
	return func(c net.Conn) {
		far, err := net.Dial("tcp", to.String())
		if err != nil {
			t.Error(err)
			return
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _ = io.Copy(far, io.TeeReader(c, r))
			far.Close()
		})
		r.back(c, far)
		c.Close()
		far.Close()
		wg.Wait()
	}
}

// back passes on what the rank says, until it is to be cut.
func (r *relay) back(c, far net.Conn) {
	b := make([]byte, 4096)
	for {
		n, err := far.Read(b)
		if err != nil {
			return
		}
		r.mu.Lock()
		cut := r.cut
		r.cut = false
		r.seen.Write(b[:n])
		r.mu.Unlock()
		if cut {
			return
		}
		if _, err := c.Write(b[:n]); err != nil {
			return
		}
	}
}

func (r *relay) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen.Write(b)
}

// TestSecret: what ranks say cannot be read on the way.
func TestSecret(t *testing.T) {
	w := newWorld(t, 2, 1, Config{})
	var r relay
	w.addrs[1] = []netip.AddrPort{listener(t, r.pass(t, w.addrs[1][0]))}
	text := bytes.Repeat([]byte("secret"), 10)
	if err := w.nodes[0].Send(t.Context(), 1, text); err != nil {
		t.Fatal(err)
	}
	w.nodes[0].Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen.Len() < len(text) || bytes.Contains(r.seen.Bytes(), []byte("secret")) {
		t.Errorf("%d bytes were seen: %q", r.seen.Len(), r.seen.Bytes())
	}
}

// TestOnce: a message whose answer is lost with the connection is sent again, and taken once.
func TestOnce(t *testing.T) {
	w := newWorld(t, 2, 10, Config{})
	var r relay
	w.addrs[1] = []netip.AddrPort{listener(t, r.pass(t, w.addrs[1][0]))}
	for _, text := range []string{"a", "b", "c"} {
		if err := w.nodes[0].Send(t.Context(), 1, []byte(text)); err != nil {
			t.Fatal(err)
		}
		r.mu.Lock()
		if text == "b" && r.cut {
			t.Error("nothing was cut")
		}
		r.cut = text == "a"
		r.mu.Unlock()
	}
	w.nodes[1].Close()
	w.nodes[0].Close()
	close(w.news)
	var got string
	for x := range w.news {
		got += x.text
	}
	if got != "abc" {
		t.Errorf("got %q", got)
	}
}

// refuser answers the next calls as somebody else would, and passes the others on to a rank.
type refuser struct {
	relay
	next atomic.Int32 // calls to be refused
	how  func(net.Conn)
}

func (r *refuser) open(t *testing.T, to netip.AddrPort) netip.AddrPort {
	pass := r.pass(t, to)
	return listener(t, func(c net.Conn) {
		if r.next.Add(-1) >= 0 {
			r.how(c)
			return
		}
		pass(c)
	})
}

// TestRefusalIsDoubted: an answer that says that the rank is not there is not believed at once: anybody on the way can
// make it. It is believed even less where the rank has proved itself before.
func TestRefusalIsDoubted(t *testing.T) {
	for name, how := range map[string]func(net.Conn){
		"another job": authconn.Refuse,
		"mail server": func(c net.Conn) { _, _ = c.Write([]byte("220 mail.example.org\r\n")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2, 1, Config{Silence: 8 * time.Second})
			r := refuser{how: how}
			w.addrs[1] = []netip.AddrPort{nobody(t), r.open(t, w.addrs[1][0])}
			for i := range 2 { // the second time the rank is known
				r.next.Store(1)
				if err := w.nodes[0].Send(t.Context(), 1, []byte("x")); err != nil {
					t.Fatalf("message %d: %v", i, err)
				}
				if x := <-w.news; x != (news{1, 0, "x"}) {
					t.Errorf("got %v", x)
				}
				w.nodes[0].mu.Lock()
				for c := range w.nodes[0].live { // as a reset would
					c.Close()
				}
				w.nodes[0].mu.Unlock()
			}
		})
	}
}

// TestVerdicts: a rank is not there only if all its addresses say so.
func TestVerdicts(t *testing.T) {
	w := newWorld(t, 2, 1, Config{})
	unreachable := netip.MustParseAddrPort("[fe80::1]:1") // of which interface, it does not say
	hangsUp := listener(t, func(net.Conn) {})
	other := listener(t, func(c net.Conn) { // which reads all, or its answer might be lost with the connection
		authconn.Refuse(c)
		_, _ = io.Copy(io.Discard, c)
	})
	for _, c := range []struct {
		addrs []netip.AddrPort
		want  verdict
	}{
		{[]netip.AddrPort{nobody(t), other}, absent},
		{[]netip.AddrPort{nobody(t), unreachable}, noAnswer},
		{[]netip.AddrPort{unreachable, other}, noAnswer},
		{[]netip.AddrPort{nobody(t), hangsUp, unreachable}, present},
	} {
		if got := w.nodes[0].tryAll(t.Context(), &peer{rank: 1, addrs: c.addrs}); got.err == nil || got.verdict != c.want {
			t.Errorf("%v: verdict %d, want %d: %v", c.addrs, got.verdict, c.want, got.err)
		}
	}
}
