package reliable

import "time"

// rtt estimates the round trip and the retransmit timeout from it, as RFC 6298 does, section 2.
type rtt struct {
	smooth, variance time.Duration
	min, max         time.Duration // of the timeout
	backoff          uint8         // timeouts since the last progress
}

// sample takes in the round trip of a segment that was sent once (Karn's rule). It ends the back-off. Before the first
// sample nothing else does: where a round trip is longer than the first timeout, all would be sent twice, and there
// would be no sample.
func (r *rtt) sample(d time.Duration) {
	d = max(d, 1)
	r.backoff = 0
	if r.smooth == 0 {
		r.smooth, r.variance = d, d/2
		return
	}
	dev := r.smooth - d
	if dev < 0 {
		dev = -dev
	}
	r.variance += (dev - r.variance) / 4
	r.smooth += (d - r.smooth) / 8
}

// base is the timeout without back-off. The variance of a full queue is next to nothing, so the margin has a least
// value (the granularity of the RFC). Before the first sample it is ten times the least.
func (r *rtt) base() time.Duration {
	if r.smooth == 0 {
		return min(10*r.min, r.max)
	}
	return min(r.smooth+max(4*r.variance, r.min), r.max)
}

// timeout doubles with each timeout in a row.
func (r *rtt) timeout() time.Duration {
	return min(r.base()<<min(r.backoff, 12), r.max)
}

// patience is how long to wait for an acknowledgement that leaves at once before something is likely to be lost.
func (r *rtt) patience() time.Duration {
	if r.smooth == 0 {
		return 2 * r.min
	}
	return r.smooth + max(r.smooth, 4*r.variance, minProbeDelay)
}

// round is how long a round trip takes, a guess before the first sample.
func (r *rtt) round() time.Duration {
	if r.smooth == 0 {
		return r.min
	}
	return r.smooth
}
