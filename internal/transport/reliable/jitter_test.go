package reliable

import (
	"fmt"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/simlink"
)

// longLink runs one flow over a link of 50 ms each way, where packets are delayed by up to jitter more, a new delay
// every so often, and none overtakes another. The flow ends after size bytes or at end.
func longLink(t *testing.T, seed uint64, rate float64, queue, jitter, every time.Duration, size int, end time.Duration) *world {
	t.Helper()
	w := newWorld(t, seed, 2, Config{}, Link{MTU: 1400})
	type way struct {
		link              simlink.Link
		extra, next, last time.Duration
	}
	var ways [2]way
	for i := range ways {
		ways[i].link = simlink.Link{Rate: rate, Queue: queue, Delay: 50 * time.Millisecond}
	}
	w.Fate = func(src, _ int, packet []byte, now time.Duration) []time.Duration {
		y := &ways[src]
		at, ok := y.link.Pass(len(packet), now)
		if !ok {
			return nil
		}
		if jitter > 0 && now >= y.next {
			y.extra, y.next = time.Duration(w.r.Int64N(int64(jitter))), now+every
		}
		y.last = max(y.last, at+y.extra)
		return []time.Duration{y.last}
	}
	w.ranks[0].count, w.ranks[1].count = true, true
	left, data := size, make([]byte, 64<<10)
	w.ranks[0].feed = func(n *node) {
		for left > 0 && n.e.Send(1, Message{Data: data, Put: true}, w.Now) < Full {
			left -= len(data)
		}
	}
	w.Poll()
	for w.ranks[1].bytes[0] < size && w.Step(end) {
		continue
	}
	w.check(t)
	return w
}

// TestJitter: on a long link whose delay varies by more than the queue that is aimed at, data take six times as long as
// without that at most, on the average of some runs. The varying delay is no queue, and windows that shrank for it would
// shrink to nothing.
func TestJitter(t *testing.T) {
	const size, runs = 8 << 20, 8
	steady := longLink(t, 1, gigabit, 20*time.Millisecond, 0, 0, size, time.Minute).Now
	for _, every := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond} {
		t.Run(fmt.Sprintf("every=%v", every), func(t *testing.T) {
			var sum time.Duration
			for seed := range uint64(runs) {
				sum += longLink(t, seed, gigabit, 20*time.Millisecond, 10*time.Millisecond, every, size, time.Minute).Now
			}
			t.Logf("%v, without jitter %v", sum/runs, steady)
			if sum/runs > 6*steady {
				t.Errorf("%v, without jitter %v", sum/runs, steady)
			}
		})
	}
}

// TestFirstRoundTripIsLong: where a round trip is longer than the first timeout, it is measured all the same, and what is
// sent twice meanwhile is little. A queue that the flow fills itself becomes less when its window does, so it stays
// short, however long it might be.
func TestFirstRoundTripIsLong(t *testing.T) {
	for _, rate := range []float64{gigabit / 100, gigabit / 10} {
		const d = 10 * time.Second
		w := longLink(t, 1, rate, 500*time.Millisecond, 0, 0, 1<<40, d)
		s, p := w.ranks[0].e.Stats(1), w.ranks[0].e.peers.peerAt(1)
		got, queue := float64(w.ranks[1].bytes[0])/d.Seconds(), s.SmoothRTT-p.cc.unloaded()
		t.Logf("rate %.0f: %.0f bytes a second; a queue of %v; %d of %d resent", rate, got, queue, s.Resent, s.Sent)
		if got < rate/2 || s.Resent > s.Sent/20 {
			t.Errorf("rate %.0f: %.0f bytes a second; %d of %d were resent", rate, got, s.Resent, s.Sent)
		}
		if queue > 10*mostQueue || s.SmoothRTT < 100*time.Millisecond {
			t.Errorf("rate %.0f: a round trip takes %v, the shortest %v", rate, s.SmoothRTT, p.cc.unloaded())
		}
	}
}
