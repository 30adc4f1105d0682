package simlink

import (
	"math/rand/v2"
	"time"
)

// Overhead is what a packet costs on a Link beyond its own bytes: Ethernet, IP and UDP, preamble and gap.
const Overhead = 66

// Link is one direction of a path: a rate with a queue before it, and a delay. Packets do not overtake each other on it.
type Link struct {
	Rate  float64       // bytes per second
	Queue time.Duration // what the queue holds, in time on the link; a packet that finds more in it is lost
	Delay time.Duration // from when a packet has left the queue until it arrives
	free  time.Duration // when what is in the queue has left
}

// Pass puts a packet of so many bytes on the link at now, and returns when it arrives; false if the queue had no room for it.
func (l *Link) Pass(size int, now time.Duration) (arrives time.Duration, ok bool) {
	l.free = max(l.free, now)
	if l.free-now > l.Queue {
		return 0, false
	}
	l.free += time.Duration(float64(size+Overhead) / l.Rate * 1e9)
	return l.free + l.Delay, true
}

// Faults are what else happens to packets, each independently of the others. Chances are from 0 to 1.
type Faults struct {
	Loss    float64       // chance to be lost
	Reorder float64       // chance to come late
	Dup     float64       // chance to come twice
	Within  time.Duration // lateness, and time between the two, are less than that; more than 0 if there is either
	Dice    *rand.Rand    // not asked where a chance is 0
}

// Fate returns the times at which a packet that should arrive at due does arrive.
func (f *Faults) Fate(due time.Duration) []time.Duration {
	if f.chance(f.Loss) {
		return nil
	}
	if f.chance(f.Reorder) {
		due += f.some()
	}
	if f.chance(f.Dup) {
		return []time.Duration{due, due + f.some()}
	}
	return []time.Duration{due}
}

func (f *Faults) chance(p float64) bool { return p > 0 && f.Dice.Float64() < p }

func (f *Faults) some() time.Duration { return time.Duration(f.Dice.Int64N(int64(f.Within))) }
