package reliable

import (
	"testing"
	"time"

	"github.com/golci/golci/internal/test/simlink"
)

const senders = 8

// bottleneck is 8 senders into one receiver behind one link.
type bottleneck struct {
	name    string
	rate    float64 // bytes a second
	queue   time.Duration
	stagger time.Duration // sender i begins i times as late
	delays  [senders]time.Duration
	from    time.Duration // what came before does not count
	span    time.Duration // what comes later neither
	jain    float64       // least
}

func alike(delay time.Duration) (d [senders]time.Duration) {
	for i := range d {
		d[i] = delay
	}
	return d
}

// share runs the senders; it returns the share of the capacity and Jain's index.
func (b *bottleneck) share(t *testing.T, seed uint64) (use, jain float64) {
	var got [senders]float64
	w := newWorld(t, seed, senders+1, Config{Queue: 64}, Link{MTU: 1400})
	link := simlink.Link{Rate: b.rate, Queue: b.queue}
	w.Fate = func(src, dst int, packet []byte, now time.Duration) []time.Duration {
		now += time.Duration(w.r.IntN(2000)) // cables differ
		if dst != senders {
			return []time.Duration{now + b.delays[dst]}
		}
		if at, ok := link.Pass(len(packet), now); ok {
			return []time.Duration{at + b.delays[src]}
		}
		return nil
	}
	for i, n := range w.ranks {
		n.count = true
		if i < senders {
			feed, begin := flood(senders, 64<<10), time.Duration(i)*b.stagger
			n.feed = func(n *node) {
				if w.Now >= begin {
					feed(n)
				}
			}
		}
	}
	if b.stagger > 0 { // who has not begun is not polled by a timer
		for i := range senders {
			w.Run(time.Duration(i) * b.stagger)
			w.Now = max(w.Now, time.Duration(i)*b.stagger)
		}
	}
	w.Run(b.from)
	for i := range got {
		got[i] = -float64(w.ranks[senders].bytes[i])
	}
	w.Run(b.from + b.span)
	w.check(t)
	var sum, squares float64
	for i := range got {
		got[i] = (got[i] + float64(w.ranks[senders].bytes[i])) / b.span.Seconds()
		sum += got[i]
		squares += got[i] * got[i]
	}
	t.Logf("%.3f of the capacity, Jain %.3f, MB/s %.1f, %d bytes lost", sum/b.rate, sum*sum/senders/squares, scaled(got), w.lost)
	return sum / b.rate, sum * sum / senders / squares
}

func scaled(v [senders]float64) [senders]float64 {
	for i := range v {
		v[i] /= 1e6
	}
	return v
}

func TestBottleneckIsShared(t *testing.T) {
	slow(t)
	seed := seedOf(t)
	spread := [senders]time.Duration{}
	for i := range spread {
		spread[i] = time.Duration(125<<(i/2)) * time.Microsecond // round trips of 0.25, 0.5, 1 and 2 ms, two of each
	}
	const us, ms = time.Microsecond, time.Millisecond
	late := 300 * ms
	for _, b := range []bottleneck{
		{name: "queue=1ms", queue: ms, delays: alike(500 * us), jain: 0.9},
		{name: "queue=8ms", queue: 8 * ms, delays: alike(500 * us), jain: 0.9},
		{name: "queue=200us", queue: 200 * us, delays: alike(500 * us), jain: 0.9},
		{name: "staggered=10ms", queue: ms, stagger: 10 * ms, delays: alike(500 * us), jain: 0.9},
		{name: "staggered=100ms", queue: ms, stagger: 100 * ms, delays: alike(500 * us), jain: 0.9},
		{name: "staggered=300ms/queue=1ms", queue: ms, stagger: late, delays: alike(500 * us), jain: 0.9},
		{name: "staggered=300ms/queue=8ms", queue: 8 * ms, stagger: late, delays: alike(500 * us), jain: 0.9},
		{name: "staggered=300ms/queue=200us", queue: 200 * us, stagger: late, delays: alike(500 * us), jain: 0.9},
		{name: "cluster/queue=100us", rate: 10 * gigabit, queue: 100 * us, stagger: 3 * ms, delays: alike(30 * us), from: 300 * ms, span: 200 * ms, jain: 0.9},
		{name: "cluster/queue=1ms", rate: 10 * gigabit, queue: ms, stagger: 3 * ms, delays: alike(30 * us), from: 300 * ms, span: 200 * ms, jain: 0.9},
		{name: "unequal/queue=1ms", queue: ms, delays: spread, jain: 0.7},
		{name: "unequal/queue=8ms", queue: 8 * ms, delays: spread, jain: 0.7},
	} {
		if b.span == 0 {
			b.rate, b.from, b.span = gigabit, time.Second+(senders-1)*b.stagger, 3*time.Second
		}
		t.Run(b.name, func(t *testing.T) {
			use, jain := b.share(t, seed)
			if use < 0.8 || jain < b.jain {
				t.Errorf("%.3f of the capacity, Jain %.3f, want 0.8 and %.2f", use, jain, b.jain)
			}
		})
	}
}
