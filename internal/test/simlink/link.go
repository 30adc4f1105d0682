package simlink

import "time"

// Overhead is what a packet costs on a Link beyond its own bytes: Ethernet, IP and UDP, preamble and gap.
const Overhead = 66

// Link is one direction of a path: a rate with a queue before it, and a delay. Packets do not overtake each other on
// it.
type Link struct {
	Rate  float64       // bytes per second
	Queue time.Duration // what the queue holds, in time on the link; a packet that finds more in it is lost
	Delay time.Duration // from when a packet has left the queue until it arrives
	free  time.Duration // when what is in the queue has left
}

// Pass puts a packet of size bytes on the link at now, and returns when it arrives; false if the queue has no room for
// it.
func (l *Link) Pass(size int, now time.Duration) (arrives time.Duration, ok bool) {
	l.free = max(l.free, now)
	if l.free-now > l.Queue {
		return 0, false
	}
	l.free += time.Duration(float64(size+Overhead) / l.Rate * 1e9)
	return l.free + l.Delay, true
}
