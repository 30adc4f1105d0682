package authconn

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// acceptPause is the time to the next try when a connection cannot be accepted.
const acceptPause = 10 * time.Millisecond

// ErrUser means that a process of another user is at the other end.
var ErrUser = errors.New("the process there belongs to another user")

// Door bounds the connections that have proved nothing yet. It is safe for concurrent use.
type Door struct {
	most int

	mu    sync.Mutex
	early map[net.Conn]bool // guarded by mu
	shut  bool              // guarded by mu
}

// NewDoor makes a door with so many places.
func NewDoor(most int) *Door { return &Door{most: most, early: map[net.Conn]bool{}} }

// Accept calls serve with each connection of ln that gets a place. serve must not block. It calls Leave when the caller
// has proved itself or the connection is closed. Accept blocks until ln is closed.
func (d *Door) Accept(ln net.Listener, serve func(net.Conn)) {
	acceptConns(ln, d.Enter, serve)
}

// AcceptOwn calls serve with each connection of ln, a Unix socket, that is of a process of this user and that keep says
// yes to. It closes the others; nothing is read from strangers or kept for them. Neither function may block. AcceptOwn
// blocks until ln is closed.
func AcceptOwn(ln net.Listener, keep func(net.Conn) bool, serve func(net.Conn)) {
	acceptConns(ln, func(c net.Conn) bool {
		_, err := SameUser(c.(*net.UnixConn))
		return err == nil && keep(c)
	}, serve)
}

func acceptConns(ln net.Listener, keep func(net.Conn) bool, serve func(net.Conn)) {
	for {
		c, err := ln.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // no descriptors, perhaps
			time.Sleep(acceptPause)
		case !keep(c):
			c.Close()
		default:
			serve(c)
		}
	}
}

// Pause waits for a moment; false if ctx ends first.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// Enter gives c a place, until Leave. It says whether c may prove itself. If there are too many connections, any
// other one is closed for it. A program of ours that is closed so calls again: strangers cannot fill the places for
// long.
func (d *Door) Enter(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		return false
	}
	if len(d.early) >= d.most {
		for other := range d.early {
			other.Close()
			delete(d.early, other)
			break
		}
	}
	d.early[c] = true
	return true
}

// Leave frees the place of c and says whether c may be kept: the door is not closed. A second call does no harm.
func (d *Door) Leave(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.early, c)
	return !d.shut
}

// Early is the number of places that are taken.
func (d *Door) Early() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.early)
}

// Close closes the connections that have proved nothing, and lets nobody in any more.
func (d *Door) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = true
	for c := range d.early {
		c.Close()
	}
}
