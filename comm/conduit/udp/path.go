package udp

import (
	"math/bits"
	"time"
)

// pathTurn is how many datagrams follow each other on one path: on one path they seldom overtake each other.
const pathTurn = 16

// Times and counts by which paths are judged.
const (
	judgeEvery  = 50 * time.Millisecond
	judgeAtLast = 200 * time.Millisecond // on whatever evidence there is
	evidence    = 32                     // segments
	retryDown   = 5 * time.Second
	calmAfter   = time.Second
)

const noTrial = -1

// router chooses among several paths to a peer. While all is well they take turns. When much is lost, each is used alone for a moment,
// and those on which most is lost are left out for a while. Nothing but the core's counts of segments is needed for that. Under
// engine.
type router struct {
	paths int
	down  uint64 // a bit for each path that is left out
	trial int    // the path that is used alone, or noTrial
	only  uint64 // the paths still to be tried, the one on trial included

	from       time.Duration // when the counts below were taken
	sent, lost uint64
	retry      time.Duration // when those that are left out are tried again
	calm       time.Duration // no new trials before
	heard      time.Duration // when the peer's last datagram came
}

func newRouter(paths int) router { return router{paths: min(paths, 64), trial: noTrial} }

// path is the one for the n-th datagram to the peer.
func (r *router) path(n uint64) int {
	switch {
	case r.paths == 1:
		return 0
	case r.trial != noTrial:
		return r.trial
	}
	up := r.all() &^ r.down
	k := int(n / pathTurn % uint64(bits.OnesCount64(up)))
	for ; k > 0; k-- {
		up &= up - 1
	}
	return bits.TrailingZeros64(up)
}

// seekAfter is after how much silence every datagram goes another way than the one before.
const seekAfter = 50 * time.Millisecond

// seek is path for a peer that has been silent, maybe because what it is sent, or sends, gets lost: all paths are used, those that
// are left out, too, and none twice in a row, so that a turn on a dead path does not outlast the peer's patience.
func (r *router) seek(n uint64) int { return int(n % uint64(r.paths)) }

func (r *router) all() uint64 { return 1<<r.paths - 1 }

// judge looks at how many segments have been sent in all, and sent again because they were lost.
func (r *router) judge(now time.Duration, sent, lost uint64) {
	if r.paths == 1 || now-r.from < judgeEvery {
		return
	}
	ds, dl := sent-r.sent, lost-r.lost
	if ds+dl < evidence && now-r.from < judgeAtLast {
		return
	}
	r.from, r.sent, r.lost = now, sent, lost
	switch {
	case r.trial != noTrial:
		r.verdict(now, 2*dl > ds)
	case 10*dl > ds && ds+dl > 0 && now >= r.calm:
		r.begin(r.all() &^ r.down)
	case r.down != 0 && now >= r.retry && ds > 0:
		r.begin(r.down)
	}
}

// begin tries the given paths, one after the other.
func (r *router) begin(only uint64) {
	r.only, r.trial = only, bits.TrailingZeros64(only)
}

// verdict ends a trial.
func (r *router) verdict(now time.Duration, bad bool) {
	bit := uint64(1) << r.trial
	if r.down &^= bit; bad {
		r.down |= bit
		r.retry = now + retryDown
	}
	r.only &^= bit
	if r.only != 0 {
		r.trial = bits.TrailingZeros64(r.only)
		return
	}
	r.trial, r.calm = noTrial, now+calmAfter
	if r.down == r.all() { // none is better than another
		r.down = 0
	}
}
