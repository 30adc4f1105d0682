package udp

import (
	"net/netip"
	"time"
)

const (
	// maxPaths is how many ways to a peer are used.
	maxPaths = 8
	// pathTurn is how many datagrams follow each other on one path: on one path they seldom overtake each other.
	pathTurn = 16
	// leaveOut is how long after the last datagram by any path one must have come by a path that is used.
	leaveOut = 200 * time.Millisecond
	// tryEvery is how often a path that is left out carries a datagram all the same, so that the peer can hear of it.
	// Where little is sent it waits for tryAtLast: it may be lost, and what is little may be urgent.
	tryEvery  = 25 * time.Millisecond
	tryAtLast = time.Second
	// seekAfter is after how much silence every datagram goes another way than the one before: what is sent, or the
	// answer, may get lost.
	seekAfter = 50 * time.Millisecond
)

// router chooses among several paths to a peer. Those by which something has come of late take turns. The others
// carry one datagram now and then; as both ends do so, a path that works is soon used by both, and one that has gone
// by neither. Under engine.
type router struct {
	paths int
	heard [maxPaths]time.Duration // when the last datagram came, by path
	last  time.Duration           // the latest of these
	tried time.Duration           // when a path that is left out was used last
	turn  int                     // the path that was
	count uint64                  // of datagrams then
	doubt bool                    // something has come back since anything came
}

func newRouter(paths int) router { return router{paths: min(paths, maxPaths)} }

// hearPath notes that a datagram came by a path.
func (r *router) hearPath(path int, now time.Duration) {
	r.heard[path], r.last, r.doubt = now, now, false
}

// path is the one for the n-th datagram to the peer.
func (r *router) path(n uint64, now time.Duration) int {
	switch {
	case r.paths == 1:
		return 0
	case r.doubt: // all are to be tried
		return int(n % uint64(r.paths))
	case now-r.last > seekAfter:
		// Not in turns: if the same two datagrams left each time, the same one would always take the same path.
		return int(n * 0x9e3779b97f4a7c15 >> 32 % uint64(r.paths))
	}
	if now-r.tried >= tryEvery && n-r.count >= pathTurn || now-r.tried >= tryAtLast {
		r.tried, r.count = now, n
		for range r.paths {
			if r.turn = (r.turn + 1) % r.paths; !r.works(r.turn) {
				return r.turn
			}
		}
	}
	k := int(n / pathTurn % uint64(r.working()))
	for p := range r.paths {
		if !r.works(p) {
			continue
		}
		if k == 0 {
			return p
		}
		k--
	}
	return 0
}

// works tells whether something has come by a path of late.
func (r *router) works(path int) bool { return r.last-r.heard[path] < leaveOut }

// working is how many do: one at least.
func (r *router) working() (n int) {
	for p := range r.paths {
		if r.works(p) {
			n++
		}
	}
	return n
}

// cameBy notes by which path a datagram came. What comes from elsewhere says that the peer is there, by whatever path.
func (c *Conduit) cameBy(peer int, from netip.AddrPort) {
	ln := c.peerState(peer)
	r := &ln.route
	if r.paths == 1 {
		return
	}
	known := false
	for p, path := range ln.paths[:r.paths] {
		if path.Addr == from {
			r.hearPath(p, c.now)
			known = true
		}
	}
	for p := 0; p < r.paths && !known; p++ {
		r.hearPath(p, c.now)
	}
}
