package mesh

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/authconn"
)

func dial(t *testing.T, addr netip.AddrPort) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// wantHungUp wants the other side to end the connection.
func wantHungUp(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := io.Copy(io.Discard, c); err != nil && errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// stillServes: rank 0 reaches rank 1 whatever else goes on, and nobody else has been heard.
func (w *world) stillServes(t *testing.T) {
	t.Helper()
	if err := w.nodes[0].Send(t.Context(), 1, []byte("good")); err != nil {
		t.Fatal(err)
	}
	if x := <-w.news; x != (news{1, 0, "good"}) || len(w.news) > 0 {
		t.Errorf("got %v, and %d more", x, len(w.news))
	}
}

// TestStrangers: whoever cannot prove that he belongs to the job is hung up on.
func TestStrangers(t *testing.T) {
	w := newWorld(t, 2, 10, Config{auth: time.Second}) // one of them is waited for
	other, err := authconn.New(make([]byte, 32), label)
	if err != nil {
		t.Fatal(err)
	}
	own := w.nodes[1].id
	flipped := own.Greet(0)
	flipped[authconn.GreetingBytes-1] ^= 1
	for name, f := range map[string]func(c net.Conn) error{
		"garbage":       func(c net.Conn) error { _, err := c.Write(bytes.Repeat([]byte("GET / "), 100)); return err },
		"no key":        func(c net.Conn) error { _, err := c.Write(other.Greet(0)); return err },
		"a bit flipped": func(c net.Conn) error { _, err := c.Write(flipped); return err },
		"no TLS":        func(c net.Conn) error { _, err := c.Write(append(own.Greet(0), make([]byte, 1000)...)); return err },
		"a huge hello": func(c net.Conn) error {
			_, err := c.Write(append(own.Greet(0), 22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff))
			return err
		},
		"a greeting overheard": func(c net.Conn) error { return intrude(c, own) },
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, w.addrs[1][0])
			if err := f(c); err != nil {
				t.Fatal(err)
			}
			wantHungUp(t, c)
			w.stillServes(t)
		})
	}
}

// intrude talks as rank 0 to rank 1, with a greeting that was overheard.
func intrude(c net.Conn, job *authconn.Identity) error {
	if _, err := c.Write(job.Greet(0)); err != nil {
		return err
	}
	t := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	if err := t.Handshake(); err != nil {
		return err
	}
	// it may have been hung up on already
	_, _ = t.Write(append(hello(0, 1), 9, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 'b', 'a', 'd'))
	return nil
}

// hello is what a caller says first.
func hello(from, to uint32) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, from), to)
}

// TestMembers: ranks that say what makes no sense are hung up on, too.
func TestMembers(t *testing.T) {
	w := newWorld(t, 2, 10, Config{})
	id := w.nodes[0].id
	for name, say := range map[string][]byte{
		"another rank":  hello(0, 0),
		"no rank":       hello(2, 1),
		"a huge rank":   hello(1<<32-1, 1),
		"a long frame":  append(hello(0, 1), 1, 0, 0, 0, 0, 0, 0, 0, maxMessage+1, 0, 0, 0),
		"an old number": append(hello(0, 1), make([]byte, frameFront)...),
	} {
		t.Run(name, func(t *testing.T) {
			raw := dial(t, w.addrs[1][0])
			c, err := id.Call(raw, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Write(say); err != nil {
				t.Fatal(err)
			}
			if name != "an old number" {
				wantHungUp(t, c)
			}
			w.stillServes(t)
		})
	}
}

// TestSlow: any number of callers who say nothing, or the half of it, have few places, and keep no rank out.
func TestSlow(t *testing.T) {
	w := newWorld(t, 2, 1, Config{})
	var wg sync.WaitGroup
	greeting := w.nodes[1].id.Greet(0)
	for i := range 3 * maxEarly {
		c := dial(t, w.addrs[1][0])
		if _, err := c.Write(greeting[:i%authconn.GreetingBytes]); err != nil {
			continue // it has been turned away already
		}
		wg.Go(func() { wantHungUp(t, c) })
		if i%maxEarly == 0 {
			w.stillServes(t)
		}
		if n := w.nodes[1].door.Early(); n > maxEarly {
			t.Errorf("%d places are taken", n)
		}
	}
	w.stillServes(t)
	w.nodes[1].Close() // the last ones would wait for authTime
	wg.Wait()
}

// TestSlowTime: who is slow loses his place even when nobody else wants it.
func TestSlowTime(t *testing.T) {
	n, err := Listen(Config{Rank: 1, Size: 2, Key: testKey, auth: 50 * time.Millisecond}, loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for _, said := range [][]byte{nil, n.id.Greet(0)} {
		c := dial(t, n.Addrs()[0])
		if _, err := c.Write(said); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
	}
}
