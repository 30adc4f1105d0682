package reliable

import (
	"math/rand/v2"
	"time"
)

// wire is what a packet costs beyond its own bytes: Ethernet, IP and UDP, preamble and gap.
const wire = 66

// cables differ by up to so much for each packet, so that senders do not march in step.
const cables = 2 * time.Microsecond

// link is one direction of a path: a rate with a buffer before it, and a delay.
type link struct {
	rate  float64 // bytes per second
	queue time.Duration
	free  time.Duration // when what is in the buffer has left
}

// pass puts a packet on the link; false if the buffer has no room for it.
func (l *link) pass(size int, now time.Duration) (gone time.Duration, ok bool) {
	l.free = max(l.free, now)
	if l.free-now > l.queue {
		return 0, false
	}
	l.free += time.Duration(float64(size+wire) / l.rate * 1e9)
	return l.free, true
}

// faults are what happens to a packet beside.
type faults struct {
	loss, reorder, dup float64
	within             time.Duration // of lateness, and between the two copies
	dice               *rand.Rand
}

// fate returns the times at which a packet that should come at due does come.
func (f *faults) fate(due time.Duration) []time.Duration {
	if f.chance(f.loss) {
		return nil
	}
	if f.chance(f.reorder) {
		due += f.some()
	}
	if f.chance(f.dup) {
		return []time.Duration{due, due + f.some()}
	}
	return []time.Duration{due}
}

func (f *faults) chance(p float64) bool { return p > 0 && f.dice.Float64() < p }

func (f *faults) some() time.Duration { return time.Duration(f.dice.Int64N(int64(f.within))) }
