package udp

import (
	"testing"
	"time"
)

// link is two routers and the paths between them; each sends every tenth of a millisecond.
type link struct {
	ends [2]router
	now  time.Duration
	sent [2]uint64
	dead []bool
	used []int
	lost int
}

func newLink(paths int) *link {
	return &link{ends: [2]router{newRouter(paths), newRouter(paths)}, dead: make([]bool, paths)}
}

func (l *link) run(d time.Duration) {
	l.used, l.lost = make([]int, len(l.dead)), 0
	for end := l.now + d; l.now < end; l.now += 100 * time.Microsecond {
		for i := range l.ends {
			p := l.ends[i].path(l.sent[i], l.now)
			l.sent[i]++
			l.used[p]++
			if l.dead[p] {
				l.lost++
			} else {
				l.ends[1-i].hearPath(p, l.now)
			}
		}
	}
}

func TestRouter(t *testing.T) {
	l := newLink(3)
	l.run(time.Second)
	l.run(time.Second)
	for p, used := range l.used {
		if used < 6000 || l.lost > 0 {
			t.Errorf("path %d: %d of 20000 datagrams while all is well", p, used)
		}
	}
	l.dead[1] = true
	l.run(time.Second)
	if l.lost > 20000/3/4 {
		t.Errorf("%d datagrams are lost before a dead path is left", l.lost)
	}
	l.run(time.Second)
	if l.lost > 2*int(time.Second/tryEvery) {
		t.Errorf("%d datagrams in a second try a dead path", l.lost)
	}
	l.dead[1] = false
	l.run(time.Second)
	l.run(time.Second)
	if l.used[1] < 6000 {
		t.Errorf("a path that came back is not used: %v", l.used)
	}
	l.dead = []bool{true, true, true}
	l.run(time.Second)
	l.run(time.Second)
	for p, used := range l.used {
		if used < 6000 {
			t.Errorf("nothing comes, and path %d is not tried: %v", p, l.used)
		}
	}
	l.dead = []bool{true, true, false}
	l.run(time.Second)
	l.run(time.Second)
	if l.used[2] < 19000 {
		t.Errorf("the only path that works is not used: %v", l.used)
	}
}

func TestOnlyPath(t *testing.T) {
	if r := newRouter(1); r.path(17, time.Hour) != 0 {
		t.Error("the only path is not used")
	}
}
