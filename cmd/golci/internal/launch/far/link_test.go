//go:build unix

package far

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/authconn"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFrames(t *testing.T) {
	var b []byte
	sent := []frame{{frameHello, 0, nil}, {framePMI, 4095, []byte("cmd=init\n")}, {frameFile, 0, make([]byte, maxPayload)}}
	for _, f := range sent {
		b = f.appendTo(b)
	}
	r := bytes.NewReader(b)
	for _, want := range sent {
		got, err := readFrame(r)
		if err != nil || got.kind != want.kind || got.num != want.num || !bytes.Equal(got.data, want.data) {
			t.Errorf("kind %d: got kind %d, number %d, %d bytes, %v", want.kind, got.kind, got.num, len(got.data), err)
		}
	}
	if _, err := readFrame(r); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	for name, wrong := range map[string][]byte{
		"long": frame{framePing, 0, make([]byte, maxPayload+1)}.appendTo(nil), "kind": frame{frameLast, 0, nil}.appendTo(nil),
		"short": {4, 0, 0, 0, 1, 0, 0, 0, 0}, "number": {5, 0, 0, 0, 1, 0, 0, 0, 0xff}, "huge": {255, 255, 255, 255, 1, 0, 0, 0, 0},
	} {
		if _, err := readFrame(bytes.NewReader(wrong)); !errors.Is(err, errFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range 4 + frameFront + 2 {
		if _, err := readFrame(bytes.NewReader(frame{framePMI, 1, []byte("abc")}.appendTo(nil)[:n])); err == nil {
			t.Errorf("%d bytes of a frame were taken for one", n)
		}
	}
}

// FuzzFrame: no input makes the reader allocate beyond the bound, and what it takes it would write the same.
func FuzzFrame(f *testing.F) {
	f.Add(frame{framePMI, 3, []byte("x")}.appendTo(nil))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := readFrame(bytes.NewReader(in))
		if err == nil && !bytes.HasPrefix(in, got.appendTo(nil)) {
			t.Errorf("%v of %x", got, in)
		}
	})
}

// quick is the beat of these tests.
const quick = 20 * time.Millisecond

// pair is a link and what its other side is.
func pair(t *testing.T) (*link, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	l := startLink(near, 2, quick)
	t.Cleanup(func() {
		l.closeLink()
		far.Close()
	})
	return l, far
}

// TestLinkOrder: frames leave in order, and flush waits for them.
func TestLinkOrder(t *testing.T) {
	l, far := pair(t)
	got := make(chan int, 100)
	go func() {
		for {
			f, err := readFrame(far)
			if err != nil {
				close(got)
				return
			}
			if f.kind == frameNote {
				got <- f.num
			}
		}
	}()
	for i := range 100 {
		l.sendFrame(frameNote, i, nil)
	}
	l.flushQueue(time.Minute)
	l.closeLink()
	l.sendFrame(frameNote, 100, nil) // too late, and harmless
	next := 0
	for i := range got {
		if i != next {
			t.Fatalf("frame %d came as number %d", i, next)
		}
		next++
	}
	if next != 100 {
		t.Errorf("%d frames came", next)
	}
}

// TestLinkSilence: a silent side is given up, unless it has said beforehand that it will be silent.
func TestLinkSilence(t *testing.T) {
	l, far := pair(t)
	go func() { _, _ = io.Copy(io.Discard, far) }()
	if err := l.readFrames(func(frame) error { return nil }); !errors.Is(err, errSilent) {
		t.Errorf("the link ended with: %v", err)
	}
	l, far = pair(t)
	go func() { _, _ = io.Copy(io.Discard, far) }()
	ended := make(chan error, 1)
	go func() { ended <- l.readFrames(func(frame) error { return nil }) }()
	if _, err := far.Write(frame{framePause, 0, nil}.appendTo(nil)); err != nil {
		t.Fatal(err)
	}
	for l.silent.Load() < 4 { // twice its patience
		select {
		case err := <-ended:
			t.Fatalf("the link ended with: %v", err)
		case <-time.After(quick / 10):
		}
	}
	far.Close()
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("the link ended with: %v", err)
	}
}

// meeting is a head that listens, and the ticket to it.
func meeting(t *testing.T) (net.Listener, *joinTicket) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln, &joinTicket{Host: 1, Addrs: []string{ln.Addr().String()}, Key: testKeys[1]}
}

// testKeys are those of three machines.
var testKeys, _ = ticketKeys([]byte("secret"), 3)

// identities are those of some keys.
func identities(t *testing.T, keys [][]byte) (ids []*authconn.Identity) {
	t.Helper()
	for _, k := range keys {
		id, err := newIdentity(k)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// admitted takes one call.
func admitted(ln net.Listener, ids []*authconn.Identity) (int, error) {
	raw, err := ln.Accept()
	if err != nil {
		return 0, err
	}
	defer raw.Close()
	_, host, err := admitHelper(raw, ids)
	return host, err
}

func TestSecure(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*joinTicket)
		ours   bool // the helper takes the head for its own
		host   int  // -1: refused
	}{
		"right":      {func(*joinTicket) {}, true, 1},
		"guess":      {func(k *joinTicket) { k.Key = []byte("guess") }, false, -1},
		"other host": {func(k *joinTicket) { k.Host = 0 }, false, -1},
		"no host":    {func(k *joinTicket) { k.Host, k.Key = 2, testKeys[2] }, false, -1},
		"negative":   {func(k *joinTicket) { k.Host = -1 }, false, -1},
	} {
		t.Run(name, func(t *testing.T) {
			ln, k := meeting(t)
			c.change(k)
			called := make(chan error, 1)
			go func() {
				conn, err := callHead(context.Background(), k)
				if err == nil {
					defer conn.Close()
				}
				called <- err
			}()
			host, err := admitted(ln, identities(t, testKeys[:2]))
			if (err == nil) != (c.host >= 0) || err == nil && host != c.host {
				t.Errorf("admitted host %d, %v", host, err)
			}
			if err := <-called; (err == nil) != c.ours {
				t.Errorf("the call: %v", err)
			}
		})
	}
}

// TestNotChosen: a helper that has found the head at several addresses is admitted at the one that it has chosen.
func TestNotChosen(t *testing.T) {
	ln, k := meeting(t)
	ids := identities(t, testKeys)
	for _, word := range []string{"", "\x00"} {
		said := make(chan error, 1)
		go func() {
			_, err := admitted(ln, ids)
			said <- err
		}()
		c, err := dialHead(context.Background(), k.Addrs[0], ids[1], k.Host)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(word)); err != nil {
			t.Error(err)
		}
		c.Close()
		if err := <-said; err == nil {
			t.Errorf("admitted by the word %q", word)
		}
	}
}

// TestCallFindsHead: of several addresses the head's is found. At the others there is nobody, or a stranger.
func TestCallFindsHead(t *testing.T) {
	ln, k := meeting(t)
	stranger, _ := meeting(t)
	strangers := identities(t, [][]byte{[]byte("guess"), []byte("guess")})
	go func() { _, _ = admitted(stranger, strangers) }()
	k.Addrs = append([]string{"127.0.0.1:1", stranger.Addr().String()}, k.Addrs...)
	go func() {
		if conn, err := callHead(context.Background(), k); err == nil {
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	if host, err := admitted(ln, identities(t, testKeys[:2])); host != 1 || err != nil {
		t.Errorf("host %d, %v", host, err)
	}
}

func TestCallBack(t *testing.T) {
	addrs := []string{"10.0.0.1:70", "[::1]:70"}
	for from, want := range map[string]string{
		"10.0.0.9 5000 10.0.0.2 22": "[10.0.0.9:70]", "fe80::9 5000 fe80::2 22": "[[fe80::9]:70]", "10.0.0.1 5000 10.0.0.2 22": "[]", "": "[]",
	} {
		if got := fmt.Sprint(callBack(from, addrs)); got != want {
			t.Errorf("%q: %s, want %s", from, got, want)
		}
	}
	if got := callBack("10.0.0.9 5000 10.0.0.2 22", addrs[:1]); got != nil {
		t.Errorf("the head is at one address only: %v", got)
	}
}
