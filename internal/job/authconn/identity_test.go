package authconn

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const label = "test 1"

func newIdentity(t *testing.T, key, label string) *Identity {
	t.Helper()
	id, err := New([]byte(key), label)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// meeting is a new connection. What the side that was called thinks of the caller comes from said: his number, if he
// has proved himself and sent "hello".
func meeting(t *testing.T, of func(uint32) *Identity) (raw net.Conn, said <-chan error, number *uint32) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	result, number := make(chan error, 1), new(uint32)
	go func() {
		c, err := ln.Accept()
		if err != nil {
			result <- err
			return
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		inside, n, err := Admit(c, of)
		*number = n
		if err == nil {
			_, err = io.ReadFull(inside, make([]byte, 5))
		}
		result <- err
	}()
	raw, err = net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { raw.Close() })
	return raw, result, number
}

// only is the identity of everybody.
func only(id *Identity) func(uint32) *Identity { return func(uint32) *Identity { return id } }

func TestCall(t *testing.T) {
	ids := []*Identity{newIdentity(t, "a", label), newIdentity(t, "b", label)}
	raw, said, number := meeting(t, func(n uint32) *Identity { return ids[n] })
	c, err := newIdentity(t, "b", label).Call(raw, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := <-said; err != nil || *number != 1 {
		t.Errorf("admitted %d, %v", *number, err)
	}
}

// TestStrangers: who does not know the key, or speaks of another conversation, or has a number that there is not,
// gets no answer, and no handshake.
func TestStrangers(t *testing.T) {
	ours := newIdentity(t, "a", label)
	flipped := ours.Greet(0)
	flipped[GreetingBytes-1] ^= 1
	renumbered := ours.Greet(0)
	renumbered[0]++
	for name, c := range map[string]struct {
		greeting []byte
		of       func(uint32) *Identity
	}{
		"another key":    {newIdentity(t, "b", label).Greet(0), only(ours)},
		"another label":  {newIdentity(t, "a", "test 2").Greet(0), only(ours)},
		"a bit flipped":  {flipped, only(ours)},
		"another number": {renumbered, only(ours)},
		"no such number": {ours.Greet(7), only(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			raw, said, _ := meeting(t, c.of)
			if _, err := raw.Write(c.greeting); err != nil {
				t.Fatal(err)
			}
			counted := &counter{Conn: raw}
			if err := tls.Client(counted, ours.tls).Handshake(); err == nil {
				t.Error("the handshake was done")
			}
			if err := <-said; !errors.Is(err, ErrStranger) || counted.n > 0 {
				t.Errorf("admitted: %v; %d bytes of answer", err, counted.n)
			}
		})
	}
}

// counter counts what is read.
type counter struct {
	net.Conn
	n int
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.n += n
	return n, err
}

// TestOverheardGreeting: who repeats a greeting gets a handshake, in which he must prove himself.
func TestOverheardGreeting(t *testing.T) {
	ours, other := newIdentity(t, "a", label), newIdentity(t, "b", label)
	for name, cfg := range map[string]*tls.Config{
		"no certificate":         {InsecureSkipVerify: true},
		"somebody's certificate": {InsecureSkipVerify: true, Certificates: other.tls.Certificates},
		"an older TLS":           {InsecureSkipVerify: true, Certificates: ours.tls.Certificates, MaxVersion: tls.VersionTLS12},
	} {
		t.Run(name, func(t *testing.T) {
			raw, said, _ := meeting(t, only(ours))
			if _, err := raw.Write(ours.Greet(0)); err != nil {
				t.Fatal(err)
			}
			c := tls.Client(raw, cfg)
			_, _ = c.Write([]byte("hello")) // he may have been hung up on already
			if err := <-said; err == nil {
				t.Error("admitted")
			}
		})
	}
}

// TestImpostor: who answers a call without the key is found out by the caller.
func TestImpostor(t *testing.T) {
	near, far := net.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer far.Close()
		if _, err := io.ReadFull(far, make([]byte, GreetingBytes)); err != nil {
			t.Error(err)
			return
		}
		_ = tls.Server(far, newIdentity(t, "b", label).tls).Handshake()
	}()
	c, err := newIdentity(t, "a", label).Call(near, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("hello")); !errors.Is(err, ErrStranger) {
		t.Errorf("said to an impostor: %v", err)
	}
	near.Close()
	<-ended
}

// TestGreetingsDiffer: a nonce keeps calls of one caller apart for whoever listens.
func TestGreetingsDiffer(t *testing.T) {
	id := newIdentity(t, "a", label)
	if a, b := id.Greet(1), id.Greet(1); len(a) != GreetingBytes || string(a) == string(b) {
		t.Errorf("%x and %x", a, b)
	}
}
