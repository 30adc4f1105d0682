package reliable

import "time"

const (
	startSegments   = 32 // window at the start
	leastSegments   = 4
	smallSegments   = 8 // window for which the target is twice that of a great one
	fewLost         = 2 // segments, of which nothing follows: of a burst of a few packets one is a great share
	calmRounds      = 4 // rounds without a queue before growth doubles
	baseFor         = 10 * time.Second
	leastQueue      = 200 * time.Microsecond
	mostQueue       = 2 * time.Millisecond
	drainAfterQueue = 32  // rounds with a queue
	drainAfterAll   = 128 // rounds without one in which the window was in the way
	drainFirst      = 8   // such rounds after slow start, which fills queues
)

// congestion is the control of one peer's window in bytes. It steers by delay: once a round trip it compares the shortest
// round trip of that round with the shortest at all. The difference is a standing queue, its own share of it or others'.
// Loss counts when there is a queue or when it is heavy; light loss without a queue says nothing of congestion.
type congestion struct {
	window, least, most int
	segment             int // bytes of a full one
	slowStart           bool
	calm                int           // rounds in a row without a queue
	base, older         time.Duration // shortest round trip of this period, of the one before
	period              time.Duration // when this period began
	shortest            time.Duration // of this round; 0: no sample
	began               time.Duration // the round
	acked, lost         int           // bytes in this round
	busy                bool          // the window was in the way in this round
	long                int           // rounds since the last drain or respite; those with a queue count more
	before              time.Duration // shortest of the round before
	restore             int           // window after a drain, 0: there is none
}

func newCongestion(mtu int, now time.Duration) congestion {
	c := congestion{slowStart: true, began: now, period: now}
	c.resize(mtu)
	c.window = startSegments * mtu
	return c
}

func (c *congestion) resize(mtu int) {
	c.segment, c.least, c.most = mtu, leastSegments*mtu, Window*mtu
	c.window = min(max(c.window, c.least), c.most)
}

// onSample takes in a round trip.
func (c *congestion) onSample(d, now time.Duration) {
	if now-c.period > baseFor { // routes change
		c.older, c.base, c.period = c.base, 0, now
	}
	if c.base == 0 || d < c.base {
		c.base = d
	}
	if c.shortest == 0 || d < c.shortest {
		c.shortest = d
	}
}

func (c *congestion) unloaded() time.Duration {
	if c.older != 0 && c.older < c.base {
		return c.older
	}
	return c.base
}

// onAck takes in n bytes acknowledged, while round is the time of a round trip.
func (c *congestion) onAck(n int, round, now time.Duration) {
	c.acked += n
	if c.slowStart && c.busy {
		c.window = min(c.window+n, c.most)
	}
	if now-c.began >= round && c.acked > 0 {
		c.turn(now)
	}
}

// turn ends a round.
func (c *congestion) turn(now time.Duration) {
	queue, target := c.shortest-c.unloaded(), c.target() // a queue below zero, where there was no sample, is none
	if !c.drain(queue, target) {
		start := c.slowStart
		if c.steer(queue, target); start && !c.slowStart {
			c.long = drainAfterAll - drainFirst
		}
	}
	c.began, c.acked, c.lost, c.shortest, c.busy = now, 0, 0, 0, false
}

// drain has the window be least for a round where the queue has not been short for long: who came late took a full queue
// for an empty one, and aims too high until it sees what is there without its own share. Who is so wrong that it sees no queue at all
// must look too, though less often, since a round costs as much where there is none. And all must look at once, for the share of one is
// little of a queue that many made: a queue that became shorter by an eighth tells that another looks now.
func (c *congestion) drain(queue, target time.Duration) bool {
	if c.restore > 0 {
		c.window, c.restore, c.long = max(c.window, c.restore), 0, 0
		return true
	}
	seen := queue > target/4
	switch {
	case seen:
		c.long += drainAfterAll / drainAfterQueue
	case c.busy:
		c.long++
	default:
		c.long = 0
	}
	dip := c.shortest > 0 && c.shortest < c.before-c.before/8
	c.before = c.shortest
	if c.slowStart || c.long < drainAfterAll && !(dip && c.long >= drainAfterAll/2) {
		return false
	}
	if c.restore = c.window; seen {
		c.restore -= c.window / 8
	}
	c.window = c.least
	return true
}

// steer sets the window for the next round.
func (c *congestion) steer(queue, target time.Duration) {
	total := c.acked + c.lost
	switch {
	case queue > target:
		c.shrink(min(int(128*(queue-target)/queue), 96))
	case c.lost > 0 && queue > target/2:
		c.shrink(64)
	case c.lost*8 > total && c.lost > fewLost*c.segment:
		c.shrink(128 * c.lost / total)
	case c.slowStart:
		c.slowStart = queue <= target/2
	case c.busy:
		c.grow(queue < target/4)
	}
}

// target is the standing queue that is aimed at: the same for all pairs of a cluster, since of two that share a link the one that
// bears less gets next to nothing; far away it is longer, for round trips that vary. A small window bears more: it has few samples a
// round, of which the shortest is longer than that of many, and would stay small.
func (c *congestion) target() time.Duration {
	t := min(max(c.unloaded()/16, leastQueue), mostQueue)
	return t + t*time.Duration(smallSegments*c.segment)/time.Duration(max(c.window, c.least))
}

// shrink takes share/256 off the window.
func (c *congestion) shrink(share int) {
	c.window = max(c.window-c.window/256*share, c.least)
	c.slowStart, c.calm = false, 0
}

// grow adds two segments a round; with no queue in sight ever more, up to a sixteenth of the window.
func (c *congestion) grow(calm bool) {
	if !calm {
		c.calm = 0
	} else {
		c.calm++
	}
	step := min(2*c.segment<<min(c.calm/calmRounds, 12), max(c.window/16, 2*c.segment))
	c.window = min(c.window+step, c.most)
}

// onTimeout halves the window. Growth is fast again from there, since what was measured before may be true no more.
func (c *congestion) onTimeout(now time.Duration) {
	c.window = max(c.window/2, c.least)
	c.slowStart, c.calm, c.restore, c.long = true, 0, 0, 0
	c.began, c.acked, c.lost, c.shortest = now, 0, 0, 0
}

// pause is how long n bytes take at the pace that spreads a window over a bit less than a round trip.
func (c *congestion) pause(n int, round time.Duration) time.Duration {
	full := 5 * c.window / 4
	if c.slowStart {
		full = 2 * c.window
	}
	return time.Duration(int64(n) * int64(round) / int64(full))
}
