package reliable

import (
	"time"

	"github.com/golci/golci/internal/test/simlink"
)

// traffic is what a sender sends: as much as the core takes, or a message every so often.
type traffic struct {
	data  []byte // of every message; never written to
	start time.Duration
	gap   time.Duration // between messages; 0: none, a flood
	most  int           // messages; 0: no limit
	sent  int
}

// leastGap bounds how many small messages are sent at a low load.
const leastGap = 10 * time.Microsecond

func flood(c Config, start time.Duration) *traffic {
	return &traffic{data: make([]byte, c.Size), start: start}
}

// steady offers a part of the link's rate, evenly.
func steady(c Config) *traffic {
	gap := time.Duration(float64(c.Size) / (c.Load * c.Rate) * 1e9)
	return &traffic{data: make([]byte, c.Size), gap: max(gap, leastGap), most: c.Count}
}

func (t *traffic) next() time.Duration { return t.start + time.Duration(t.sent)*t.gap }

// feed sends what is due, as far as the core takes it. What it does not take is sent later, and late.
func (t *traffic) feed(n *node) {
	for !t.done() && t.next() <= n.w.Now && n.send(t.data, t.next()) {
		t.sent++
	}
}

func (t *traffic) done() bool { return t.most > 0 && t.sent >= t.most }

// wakes is when the node has to be polled for its traffic. What is overdue waits for the core, not for the time.
func (n *node) wakes() time.Duration {
	t := n.traffic
	if t == nil || t.done() || t.next() <= n.w.Now {
		return simlink.Never
	}
	return t.next()
}
