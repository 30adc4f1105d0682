//go:build unix

package launch

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

// TestEarly: strangers who hold all places do not keep a helper out.
func TestEarly(t *testing.T) {
	f := &fleet{early: map[net.Conn]bool{}}
	var strangers []*idle
	for range earlyMost {
		c := &idle{}
		strangers = append(strangers, c)
		if !f.enter(c) {
			t.Fatal("a place was refused")
		}
	}
	helper := &idle{}
	if !f.enter(helper) || len(f.early) != earlyMost || !f.early[helper] {
		t.Errorf("the helper has no place among %d", len(f.early))
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
	if !f.leave(helper) || f.early[helper] {
		t.Error("who has proved himself keeps his early place")
	}
	f.over = true
	if f.enter(&idle{}) || f.leave(helper) {
		t.Error("taken although all is over")
	}
}
