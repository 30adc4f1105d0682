package reliable

import (
	"math"
	"testing"
	"time"
)

// TestOvertaken: a segment is lost if three later ones of its channel have arrived, or one that was sent 100 us later.
// One of the other channel tells as much if it was sent 2 ms later. Of one that fewer have overtaken it is certain
// after a round trip of 1 ms and 100 us.
func TestOvertaken(t *testing.T) {
	const (
		sent  = 10 * ms
		slack = 100 * us
		far   = 2 * ms
		sure  = sent + ms + slack
	)
	for _, c := range []struct {
		what       string
		order      uint32        // of the segment
		own, other latestArrived // the latest that have arrived
		now        time.Duration
		lost       bool
		due        time.Duration
	}{
		{what: "nothing has arrived", order: 5, now: sent, due: never},
		{what: "nothing has arrived, and all is late", order: math.MaxUint32, now: time.Second, due: never},
		{
			what: "nothing has arrived of its channel", order: math.MaxUint32 - 2, own: latestArrived{sent: sent + far},
			now: time.Second, due: never,
		},
		{
			what: "nothing has arrived of the other", order: 5, other: latestArrived{sent: time.Second},
			now: time.Second, due: never,
		},
		{what: "an earlier one", order: 5, own: latestArrived{4, sent, true}, now: time.Second, due: never},
		{what: "a later one", order: 5, own: latestArrived{6, sent, true}, now: sent, due: sure},
		{what: "two later ones", order: 5, own: latestArrived{7, sent, true}, now: sent, due: sure},
		{what: "three later ones", order: 5, own: latestArrived{8, sent, true}, now: sent, lost: true, due: never},
		{
			what: "two later ones of a new round of numbers", order: math.MaxUint32, own: latestArrived{1, sent, true},
			now: sent, due: sure,
		},
		{
			what: "three of a new round", order: math.MaxUint32, own: latestArrived{2, sent, true},
			now: sent, lost: true, due: never,
		},
		{what: "one that was sent later", order: 5, own: latestArrived{6, sent + slack, true}, now: sent + slack, due: sure},
		{
			what: "one that was sent too late", order: 5, own: latestArrived{6, sent + slack + 1, true},
			now: sent + slack + 1, lost: true, due: never,
		},
		{what: "not yet sure", order: 5, own: latestArrived{6, sent, true}, now: sure - 1, due: sure},
		{what: "sure", order: 5, own: latestArrived{6, sent, true}, now: sure, lost: true, due: never},
		{
			what: "a later one of the other channel", order: 5, other: latestArrived{9, sent + far, true},
			now: sent + far, due: never,
		},
		{
			what: "one of the other that was sent too late", order: 5, other: latestArrived{0, sent + far + 1, true},
			now: sent + far + 1, lost: true, due: never,
		},
		{
			what: "one of each, both early", order: 5, own: latestArrived{6, sent, true}, other: latestArrived{9, sent, true},
			now: sent, due: sure,
		},
	} {
		for ch := range Channel(channels) {
			w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
			p := w.ranks[0].e.peers.peerAt(1)
			p.rtt.smooth = ms
			p.hotel.checkIn(&segment{order: c.order, channel: ch}, ch, sent)
			p.newest[ch], p.newest[Priority-ch] = c.own, c.other
			p.overtaken(ch, slack, far, c.now)
			if lost := p.resends.n == 1; lost != c.lost || lost == (p.hotel.guests == 1) || p.passed != c.due {
				t.Errorf("%s, on channel %d: lost %v, due %v; want %v, %v", c.what, ch, lost, p.passed, c.lost, c.due)
			}
		}
	}
}

// TestPatience: repeated errors make a peer wait longer before it takes for lost what was overtaken. Losses in a row
// without an error end that by and by.
func TestPatience(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	p := w.ranks[0].e.peers.peerAt(1)
	err := func() { p.learnArrival(&segment{tries: 2}, &ackInfo{}, true) }
	loss := func() { p.repair(&segment{charge: 100}) }
	patience := func(what string, want uint32) {
		t.Helper()
		if p.reorder != want {
			t.Errorf("%s: %d may overtake, want %d", what, p.reorder, want)
		}
	}
	patience("at first", leastReorder)
	for range repairs {
		loss()
	}
	patience("losses only", leastReorder)
	err()
	err()
	patience("two errors", 4*leastReorder)
	for range repairs - 1 {
		loss()
	}
	patience("too few losses", 4*leastReorder)
	err()
	patience("another error", 8*leastReorder)
	for range repairs - 1 {
		loss()
	}
	patience("too few losses since", 8*leastReorder)
	loss()
	patience("enough losses", 4*leastReorder)
	for range 2*repairs - 1 {
		loss()
	}
	patience("nearly twice as many more", 2*leastReorder)
	for range 10 * repairs {
		loss()
	}
	patience("many losses", leastReorder)
	if p.cc.lost != 0 {
		t.Errorf("%d bytes were counted as lost twice", p.cc.lost)
	}
	p.repair(&segment{charge: 100, timed: true})
	if p.cc.lost != 100 {
		t.Errorf("%d bytes were counted as lost when a timer was right, want 100", p.cc.lost)
	}
}
