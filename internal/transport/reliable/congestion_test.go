package reliable

import (
	"testing"
	"time"

	"github.com/golci/golci/internal/test/simlink"
)

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// TestSteer is one round of a window of 256,000 bytes and segments of 1000, where a queue of 200 us is aimed at.
func TestSteer(t *testing.T) {
	for _, c := range []struct {
		what        string
		queue       time.Duration
		acked, lost int
		slow, idle  bool
		window      int
		slowAfter   bool
	}{
		{what: "twice the queue", queue: 400 * us, window: 192_000},
		{what: "half as much again", queue: 300 * us, window: 214_000},
		{what: "much more", queue: 2 * ms, window: 160_000},
		{what: "hardly more", queue: 200*us + 1, slow: true, window: 256_000},
		{what: "as it should be", queue: 200 * us, window: 258_000},
		{what: "as it should be, and enough", queue: 200 * us, idle: true, window: 256_000},
		{what: "no queue", window: 258_000},
		{what: "a queue and loss", queue: 101 * us, acked: 255_000, lost: 1000, window: 192_000},
		{what: "half a queue and loss", queue: 100 * us, acked: 255_000, lost: 1000, window: 258_000},
		{what: "heavy loss", acked: 70_000, lost: 30_000, window: 218_000},
		{what: "an eighth is lost", acked: 70_000, lost: 10_000, window: 258_000},
		{what: "more than an eighth is lost", acked: 70_000, lost: 10_001, window: 240_000},
		{what: "few are lost", acked: 1000, lost: fewLost * 1000, window: 258_000},
		{what: "slow start", queue: 100 * us, slow: true, window: 256_000, slowAfter: true},
		{what: "slow start ends", queue: 101 * us, slow: true, window: 256_000},
	} {
		x := newCongestion(1000, 0)
		x.window, x.slowStart, x.busy, x.acked, x.lost = 256_000, c.slow, !c.idle, c.acked, c.lost
		x.steer(c.queue, 200*us)
		if x.window != c.window || x.slowStart != c.slowAfter {
			t.Errorf("%s: a window of %d, slow start %v; want %d, %v",
				c.what, x.window, x.slowStart, c.window, c.slowAfter)
		}
	}
}

// TestRounds: the queue of a round is its shortest round trip beyond the shortest of all. A round without a sample
// has none.
func TestRounds(t *testing.T) {
	c := newCongestion(1000, 0)
	c.slowStart, c.window = false, 256_000 // a queue of 206.25 us is aimed at
	now := time.Duration(0)
	for _, r := range []struct {
		what    string
		samples []time.Duration
		window  int
	}{
		{"a first sample", []time.Duration{ms}, 258_000},
		{"no sample", nil, 260_000},
		{"a queue in half of the round", []time.Duration{3 * ms, ms, 2 * ms}, 262_000},
		{"a queue of 400 us", []time.Duration{3 * ms, 1400 * us, 2 * ms}, 262_000 - 262_000/256*62},
		{"no sample, again", nil, 198_574 + 2000},
	} {
		now += 2 * ms
		for _, d := range r.samples {
			c.onSample(d, now)
		}
		c.busy = true
		if c.onAck(1000, ms, now); c.window != r.window {
			t.Errorf("%s: a window of %d, want %d", r.what, c.window, r.window)
		}
	}
}

// TestStandingQueue floods a link that has room for 50 ms: what waits there stays far less, and the link is busy all
// the same.
func TestStandingQueue(t *testing.T) {
	w := newWorld(t, 1, 2, Config{Queue: 64}, Link{MTU: 1400})
	link := simlink.Link{Rate: gigabit / 10, Queue: 50 * ms, Delay: 500 * us}
	w.through(0, link, link)
	w.ranks[0].feed, w.ranks[1].count, w.ranks[0].count = flood(1, 64<<10), true, true
	const from, to = 500 * ms, time.Second
	w.Run(from)
	before := w.ranks[1].bytes[0]
	longest := time.Duration(0)
	for w.Step(to) {
		longest = max(longest, w.ranks[0].e.Stats(1).SmoothRTT)
	}
	w.check(t)
	use := float64(w.ranks[1].bytes[0]-before) / (to - from).Seconds() / link.Rate
	t.Logf("round trips of up to %v, %.2f of the capacity", longest, use)
	if longest > 5*ms || use < 0.75 {
		t.Errorf("round trips of up to %v, want 5 ms, and %.2f of the capacity", longest, use)
	}
}
