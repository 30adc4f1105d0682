package reliable

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/simlink"
)

// tails measures how long messages are on their way where each burst is waited for, so that nothing comes behind its
// end.
type tails struct {
	rtt   time.Duration
	rate  float64 // bytes a second
	loss  float64
	burst int  // messages of 700 bytes at once
	pong  bool // the peer answers each burst with a message; else it says nothing
}

// result is what a run of tails has to tell.
type result struct {
	times   []time.Duration // of bursts, sorted
	packets float64         // of both sides, a burst
	spoilt  float64         // spurious resends a burst
}

func (r *result) at(share float64) time.Duration {
	return r.times[min(int(share*float64(len(r.times))), len(r.times)-1)]
}

func (c *tails) run(t *testing.T, seed uint64, bursts int) result {
	t.Helper()
	w := newWorld(t, seed, 2, Config{}, Link{MTU: 1400})
	packets := 0
	link := simlink.Link{Rate: c.rate, Queue: 100 * time.Millisecond, Delay: c.rtt / 2}
	w.through(c.loss, link, link)
	on := w.Fate
	w.Fate = func(src, dst int, packet []byte, now time.Duration) []time.Duration {
		packets++
		return on(src, dst, packet, now)
	}
	a, b := w.ranks[0], w.ranks[1]
	data := payload(1, 700)
	a.count, b.count = true, true
	var res result
	answered := 0
	b.feed = func(n *node) {
		for c.pong && n.bytes[0]/(len(data)*c.burst) > answered && n.e.Send(0, Message{Data: data}, w.Now) < Full {
			answered++
		}
	}
	for i := range bursts {
		start := w.Now
		for k := range c.burst {
			binary.LittleEndian.PutUint64(data, uint64(i*c.burst+k))
			if st := a.e.Send(1, Message{Data: data}, w.Now); st != Copied {
				t.Fatal(st)
			}
		}
		w.Poll()
		done := func() bool {
			return b.bytes[0] == (i+1)*c.burst*len(data) && (!c.pong || a.bytes[1] == (i+1)*len(data))
		}
		for !done() && w.Step(start+time.Minute) {
		}
		if !done() {
			t.Fatalf("burst %d has not arrived", i)
		}
		res.times = append(res.times, w.Now-start)
		if !c.pong { // until the next burst all is quiet
			w.Run(w.Now + 10*c.rtt + 10*time.Millisecond)
		}
	}
	w.check(t)
	slices.Sort(res.times)
	res.packets = float64(packets) / float64(bursts)
	res.spoilt = float64(a.e.Stats(1).Spurious+b.e.Stats(0).Spurious) / float64(bursts)
	return res
}

// TestTails bounds how long one burst of a hundred may take, in virtual time: the timeout would be 2 ms beside the
// round trip.
func TestTails(t *testing.T) {
	slow(t)
	seed := seedOf(t)
	for _, c := range []struct {
		name  string
		burst int
		pong  bool
		most  [2][4]time.Duration // p99 in us by round trip and loss, with a margin of a quarter or so
	}{
		{"alone", 1, false, [2][4]time.Duration{{30, 200, 220, 600}, {520, 2700, 2700, 7000}}},
		{"20 at once", 20, false, [2][4]time.Duration{{40, 250, 500, 1500}, {520, 3300, 6500, 12000}}},
		{"ping-pong", 1, true, [2][4]time.Duration{{55, 250, 600, 700}, {1010, 3300, 6500, 8000}}},
	} {
		for i, rtt := range []time.Duration{50 * time.Microsecond, time.Millisecond} {
			for k, loss := range []float64{0, 0.01, 0.05, 0.1} {
				t.Run(fmt.Sprintf("%s/rtt=%v/loss=%g", c.name, rtt, loss), func(t *testing.T) {
					x := tails{rtt: rtt, rate: 10 * gigabit, loss: loss, burst: c.burst, pong: c.pong}
					r := x.run(t, seed, 3000)
					t.Logf("half %v, p99 %v, p99.9 %v, most %v; %.3f packets, %.3f needless resends", r.at(.5), r.at(.99), r.at(.999), r.at(1), r.packets, r.spoilt)
					if most := c.most[i][k] * time.Microsecond; r.at(.99) > most {
						t.Errorf("p99 is %v, want at most %v", r.at(.99), most)
					}
					if loss == 0 && r.packets > float64(c.burst+1) {
						t.Errorf("%.3f packets a burst of %d", r.packets, c.burst)
					}
				})
			}
		}
	}
}

// TestNoProbesOfQueues sends bursts over a link on which they take far longer than a round trip, and loses nothing:
// what waits there is not sent again.
func TestNoProbesOfQueues(t *testing.T) {
	for _, rtt := range []time.Duration{50 * time.Microsecond, time.Millisecond} {
		c := tails{rtt: rtt, rate: gigabit / 50, burst: 30}
		r := c.run(t, 1, 300)
		t.Logf("round trip %v: half %v, most %v; %.3f packets, %.3f needless resends", rtt, r.at(.5), r.at(1), r.packets, r.spoilt)
		if r.spoilt > 0.5 {
			t.Errorf("round trip %v: %.3f needless resends a burst of %d", rtt, r.spoilt, c.burst)
		}
	}
}
