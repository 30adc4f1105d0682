package udp

import (
	"testing"
	"time"
)

// network loses what it is told to, by path, and lets the router look every millisecond.
type network struct {
	r          router
	now        time.Duration
	loss       []int // of 100
	sent, lost uint64
	used       []int
}

func (n *network) run(d time.Duration) {
	n.used = make([]int, len(n.loss))
	for end := n.now + d; n.now < end; n.now += time.Millisecond {
		for range 4 {
			p := n.r.path(n.sent + n.lost)
			n.used[p]++
			if int(n.sent*37%100) < n.loss[p] {
				n.lost++
			}
			n.sent++
		}
		n.r.judge(n.now, n.sent, n.lost)
	}
}

func TestRouter(t *testing.T) {
	n := &network{r: newRouter(3), loss: []int{0, 0, 0}}
	n.run(time.Second)
	for p, used := range n.used {
		if used < 1200 {
			t.Errorf("path %d: %d of 4000 datagrams while all is well", p, used)
		}
	}
	n.loss = []int{0, 100, 0}
	n.run(time.Second)
	n.run(time.Second)
	if n.used[1] > 0 || n.used[0] < 1500 || n.used[2] < 1500 {
		t.Errorf("a dead path is used: %v", n.used)
	}
	n.loss = []int{0, 0, 0}
	n.run(2 * retryDown)
	n.run(time.Second)
	if n.used[1] < 1200 {
		t.Errorf("a path that came back is not used: %v", n.used)
	}
	n.loss = []int{60, 60, 60}
	n.run(5 * time.Second)
	for p, used := range n.used {
		if used == 0 {
			t.Errorf("all paths are bad, and path %d is not used: %v", p, n.used)
		}
	}
	one := newRouter(1)
	if one.judge(time.Second, 100, 100); one.path(17) != 0 {
		t.Error("the only path is not used")
	}
}
