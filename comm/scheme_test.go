package comm

import (
	"slices"
	"testing"
)

// TestPaths: of messages under way together, the scheme that takes the least time is used, for each class by itself and
// also after that has changed.
func TestPaths(t *testing.T) {
	const window = 64
	var p paths
	var now uint64
	run := func(n int64, tr traffic, cost map[Scheme]uint64) (used map[Scheme]int) {
		used = make(map[Scheme]int)
		var under []schemeTiming
		for range 20000 {
			m := p.beginTiming(n, tr, now)
			used[m.scheme]++
			if under = append(under, m); len(under) == window {
				m, under = under[0], under[1:]
				now += cost[m.scheme]
				p.endTiming(m, n, true, now)
			}
		}
		for _, m := range under {
			now += cost[m.scheme]
			p.endTiming(m, n, true, now)
		}
		return used
	}
	for _, c := range []struct {
		n    int64
		tr   traffic
		cost map[Scheme]uint64
		best Scheme
	}{
		{64 << 10, oneWay, map[Scheme]uint64{Halves: 300, Get: 400, Stream: 100}, Stream},
		{64 << 10, bothWays, map[Scheme]uint64{Get: 200, Stream: 500}, Get},
		{1 << 20, bothWays, map[Scheme]uint64{Halves: 2000, Get: 3000, Stream: 5000}, Halves},
		{1 << 20, oneWay, map[Scheme]uint64{Halves: 3000, Get: 4000, Stream: 5000}, Halves},
		{64 << 10, oneWay, map[Scheme]uint64{Halves: 300, Get: 400, Stream: 900}, Halves},
		{64 << 10, alone, map[Scheme]uint64{Get: 400, Stream: 300}, Stream},
	} {
		run(c.n, c.tr, c.cost)
		if used := run(c.n, c.tr, c.cost); used[c.best] < 16000 {
			t.Errorf("%+v: used %v", c, used)
		}
	}
}

// TestClassOf: sizes of all lengths have a class, which has schemes; short messages both ways do not go in halves.
func TestClassOf(t *testing.T) {
	for n, want := range map[int64]int{
		1: 0, 4 << 10: 0, 8 << 10: 0, 8<<10 + 1: 1, 256 << 10: 5, 256<<10 + 1: 6, 1 << 20: 7, 1 << 30: 9, 1 << 62: 9,
	} {
		if got := sizeClassOf(n); got != want {
			t.Errorf("%d bytes: class %d, want %d", n, got, want)
		}
	}
	for tr := range traffics {
		for size := range sizeClasses {
			if tr == ofSender {
				continue
			}
			halves := slices.Contains(orders[tr][size], Halves)
			if want := tr == oneWay || tr == bothWays && size > 5; halves != want || len(orders[tr][size]) < 2 {
				t.Errorf("traffic %d, class %d: %v", tr, size, orders[tr][size])
			}
		}
	}
}

// TestPathsForget: messages that fail, and an epoch whose last message never ends, tell nothing and stop nothing.
func TestPathsForget(t *testing.T) {
	var p paths
	const n = 1 << 20
	for now := uint64(1); now < 100; now++ {
		m := p.beginTiming(n, oneWay, now)
		if now%2 == 0 {
			p.endTiming(m, n, false, now)
		}
	}
	c := p.classes[oneWay][sizeClassOf(n)]
	for w := range orders[oneWay][sizeClassOf(n)] {
		if c.picker.Cost(w) != 0 {
			t.Errorf("way %d has cost %v", w, c.picker.Cost(w))
		}
	}
	if c.under != 50 {
		t.Errorf("%d under way", c.under)
	}
}

// TestFollow: the scheme of the last message is followed for so many messages, and no longer.
func TestFollow(t *testing.T) {
	var p paths
	const n = 32 << 10
	if w := p.followHeard(&p.received, n); w != Auto {
		t.Errorf("way %d before a message has come", w)
	}
	p.hearScheme(&p.received, withEnvelope, n)
	p.hearScheme(&p.received, asking, n)
	for range bothFor {
		if w := p.followHeard(&p.received, n); w != asking {
			t.Fatalf("way %d, want the last one", w)
		}
	}
	if w := p.followHeard(&p.received, n); w != Auto {
		t.Errorf("way %d long after the last message", w)
	}
	if w := p.followHeard(&p.received, 4*n); w != Auto {
		t.Errorf("way %d of another class", w)
	}
	if p.hearScheme(&p.received, asking, n); p.followHeard(&p.went, n) != Auto {
		t.Error("the way of a message that came, for one that went")
	}
}
