package authconn

import (
	"net"
	"testing"
)

// idle is a connection that only tells whether it was closed.
type idle struct {
	net.Conn
	closed bool
}

func (c *idle) Close() error {
	c.closed = true
	return nil
}

// TestDoor: strangers who hold all places keep nobody out.
func TestDoor(t *testing.T) {
	const most = 8
	d := NewDoor(most)
	var strangers []*idle
	for range most {
		c := &idle{}
		strangers = append(strangers, c)
		if !d.Enter(c) {
			t.Fatal("a place was refused")
		}
	}
	friend := &idle{}
	if !d.Enter(friend) || d.Early() != most || !d.early[friend] {
		t.Errorf("the friend has no place among %d", d.Early())
	}
	out := 0
	for _, c := range strangers {
		if c.closed {
			out++
		}
	}
	if out != 1 {
		t.Errorf("%d were turned away for one", out)
	}
	if !d.Leave(friend) || d.Early() != most-1 || friend.closed {
		t.Error("who has proved himself keeps his early place")
	}
	d.Close()
	for i, c := range strangers {
		if !c.closed {
			t.Errorf("stranger %d is still there", i)
		}
	}
	if d.Enter(&idle{}) || d.Leave(friend) || friend.closed {
		t.Error("taken although the door is closed")
	}
}

// TestAccept: a listener's connections are handed on until it is closed; none after the door is.
func TestAccept(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := NewDoor(1)
	served, ended := make(chan net.Conn, 2), make(chan struct{})
	go func() {
		defer close(ended)
		d.Accept(ln, func(c net.Conn) { served <- c })
	}()
	call := func() net.Conn {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := call()
	defer first.Close()
	inside := <-served
	if !d.Leave(inside) || inside.Close() != nil {
		t.Error("the first could not be kept")
	}
	d.Close()
	second := call()
	defer second.Close()
	if _, err := second.Read(make([]byte, 1)); err == nil {
		t.Error("somebody answers behind a closed door")
	}
	if err := ln.Close(); err != nil {
		t.Error(err)
	}
	<-ended
	if len(served) > 0 {
		t.Error("a caller was let in by a closed door")
	}
}
