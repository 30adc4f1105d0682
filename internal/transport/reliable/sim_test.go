package reliable

import (
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/simlink"
)

// slow skips what takes seconds with -short, and under the race detector: a simulation is one goroutine.
func slow(t *testing.T) {
	t.Helper()
	if invariants.Race || testing.Short() {
		t.Skip("one goroutine, and too slow for -short or the race detector")
	}
}

// flood has a rank send to peer as much as is taken.
func flood(peer, size int) func(*node) {
	data := make([]byte, size)
	return func(n *node) {
		for n.e.Send(peer, Message{Data: data, Put: true}, n.w.Now) < Full {
		}
	}
}

const gigabit = 125e6

// goodput runs one flow over a link of 1 Gbit/s and 1 ms for a second. It returns bytes per second, and the bytes that
// were resent and lost.
func goodput(t *testing.T, seed uint64, size int, rate float64, loss float64) (perSecond, resent, lost float64) {
	t.Helper()
	w := newWorld(t, seed, 2, Config{Queue: 64}, Link{MTU: 1400})
	link := simlink.Link{Rate: rate, Queue: time.Millisecond, Delay: 500 * time.Microsecond}
	w.through(loss, link, link)
	w.ranks[0].feed, w.ranks[1].count, w.ranks[0].count = flood(1, size), true, true
	const d = time.Second
	w.Run(d)
	w.check(t)
	return float64(w.ranks[1].bytes[0]) / d.Seconds(), float64(w.ranks[0].e.Stats(1).ResentBytes), float64(w.lost)
}

func TestGoodputUnderLoss(t *testing.T) {
	slow(t)
	seed := seedOf(t)
	for _, c := range []struct {
		name  string
		rate  float64
		size  int
		light float64
	}{{"rate=1G/size=64K", gigabit, 64 << 10, 0.8}, {"rate=1G/size=512", gigabit, 512, 0.8}, {"rate=10G/size=64K", 10 * gigabit, 64 << 10, 0.8}} {
		t.Run(c.name, func(t *testing.T) {
			clean, _, _ := goodput(t, seed, c.size, c.rate, 0)
			t.Logf("loss 0: %.1f MB/s", clean/1e6)
			if clean < 0.75*c.rate {
				t.Errorf("%.0f bytes a second over a link of %.0f", clean, c.rate)
			}
			for _, l := range []struct{ loss, least float64 }{{0.01, 0.8}, {0.05, 0.5}, {0.10, 0.25}} {
				got, resent, lost := goodput(t, seed, c.size, c.rate, l.loss)
				t.Logf("loss %g: %.1f MB/s, %.3f of lossless; resent %.2f of the lost bytes", l.loss, got/1e6, got/clean, resent/lost)
				if got < l.least*clean {
					t.Errorf("at a loss of %g goodput is %.2f of lossless, want %.2f", l.loss, got/clean, l.least)
				}
				if resent > 1.5*lost {
					t.Errorf("at a loss of %g %.0f bytes were resent for %.0f lost", l.loss, resent, lost)
				}
			}
		})
	}
}
