package reliable

import "time"

const (
	startSegments   = 32 // window at the start
	leastSegments   = 4
	smallSegments   = 8 // a window of this size has twice the target of a large one
	fewLost         = 2 // segments; their loss alone shows nothing: one packet is a great share of a small burst
	calmRounds      = 4 // rounds without a queue before growth doubles
	baseFor         = 10 * time.Second
	leastQueue      = 200 * time.Microsecond
	mostQueue       = 2 * time.Millisecond
	drainAfterQueue = 32  // rounds with a queue
	drainAfterAll   = 128 // rounds without one in which the window was the limit
	drainFirst      = 8   // such rounds after slow start, which fills queues
	halfSeen        = 2   // rounds until round trips show that the window was halved
)

// congestion controls the window of one peer in bytes, by delay. Once a round trip it compares the shortest round trip
// of that round with the shortest of all. The difference is a standing queue of this sender and others. Loss counts
// only with a queue, or if it is heavy. Light loss without a queue says nothing of congestion.
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
	busy                bool          // the window was the limit in this round
	long                int           // rounds since the last drain or respite; those with a queue count more
	before              time.Duration // shortest of the round before
	restore             int           // window after a drain, 0: there is none

	// What varies of itself, on long paths.
	noise  time.Duration // of the difference, what does not depend on the window
	tall   int           // the window before it was made smaller for the difference, 0: it is not
	high   time.Duration // the difference then
	halved int           // rounds since the window is at most half as large
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
		c.noise -= c.noise / 4
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

// onAck takes in n acknowledged bytes; round is the length of a round trip.
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
	queue, target := c.shortest-c.unloaded(), c.targetDelay() // a queue below zero, where there was no sample, is none
	if most := c.unloaded()/4 - mostQueue; most > 0 {
		queue = c.ownQueue(queue, target, most)
	}
	if !c.drainQueue(queue, target) {
		start := c.slowStart
		if c.steer(queue, target); start && !c.slowStart {
			c.long = drainAfterAll - drainFirst
		}
	}
	c.began, c.acked, c.lost, c.shortest, c.busy = now, 0, 0, 0, false
}

// ownQueue is what of a difference is a queue, at most the difference less most. On long paths round trips vary by more
// than the target, whatever is sent. Such a difference shows when the window is halved: a queue of this sender would
// become less than half as long. If it does not, the window is as before, and grows as at the start.
func (c *congestion) ownQueue(queue, target, most time.Duration) time.Duration {
	excess := queue - c.noise
	if excess <= target && c.tall == 0 || c.restore > 0 {
		return excess
	}
	if c.tall == 0 || c.window > c.tall {
		c.tall, c.high, c.halved = c.window, queue, 0
	}
	if c.window > c.tall/2 && c.window > c.least {
		return excess
	}
	if c.halved++; c.halved < halfSeen {
		return excess
	}
	if queue > c.high/2 && excess > target {
		c.noise = min(2*queue, most)
		c.window, c.slowStart, c.calm = max(c.window, c.tall), true, 0
	}
	c.tall = 0
	return queue - c.noise
}

// drainQueue shrinks the window to its minimum for one round if the queue has not been short for long. A sender that
// joins late measures its base delay over a full queue. So its target is too high until it sees the queue without its
// own share. A sender that sees no queue at all may be so wrong too. It drains less often, because a drain costs as
// much without a queue. All senders must drain in the same round, because one sender's share of a shared queue is
// small. So a queue that has become shorter by an eighth starts a drain: another sender drains now.
func (c *congestion) drainQueue(queue, target time.Duration) bool {
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
		c.growWindow(queue < target/4)
	}
}

// targetDelay is the queueing delay that the controller tolerates. All pairs of a cluster use the same value: of two
// flows on one link, the one that tolerates less is starved. On long paths it is longer, because their round trips
// vary. A small window tolerates more. It has few samples a round, and the shortest of few is longer. With the same
// target it would stay small.
func (c *congestion) targetDelay() time.Duration {
	t := min(max(c.unloaded()/16, leastQueue), mostQueue)
	return t + t*time.Duration(smallSegments*c.segment)/time.Duration(max(c.window, c.least))
}

// shrink takes share/256 off the window.
func (c *congestion) shrink(share int) {
	c.window = max(c.window-c.window/256*share, c.least)
	c.slowStart, c.calm = false, 0
}

// growWindow adds two segments a round. With no queue it adds more each time, up to a sixteenth of the window.
func (c *congestion) growWindow(calm bool) {
	if !calm {
		c.calm = 0
	} else {
		c.calm++
	}
	step := min(2*c.segment<<min(c.calm/calmRounds, 12), max(c.window/16, 2*c.segment))
	c.window = min(c.window+step, c.most)
}

// onTimeout halves the window. It then grows fast, because earlier measurements may no longer hold.
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
