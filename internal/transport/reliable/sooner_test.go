package reliable

import (
	"testing"
	"time"
)

// TestShorterWayAfterOutage loses all that is under way, and then has a way that is a hundred times shorter: what was
// sent again is acknowledged sooner than any packet was before. That must not be taken for the acknowledgement of
// what was lost, over and over.
func TestShorterWayAfterOutage(t *testing.T) {
	const (
		under  = 300
		cut    = 200 * time.Millisecond
		healed = 400 * time.Millisecond
	)
	w := newWorld(t, seedOf(t), 2, Config{}, Link{MTU: 1400})
	w.Fate = func(_, _ int, _ []byte, now time.Duration) []time.Duration {
		switch {
		case now < cut:
			return []time.Duration{now + 5*time.Millisecond}
		case now < healed:
			return nil
		}
		return []time.Duration{now + 50*time.Microsecond}
	}
	n := w.ranks[0]
	sent := 0
	send := func(size int) bool {
		ok := n.e.Send(1, Message{ID: uint64(sent), Data: payload(uint64(sent), size)}, w.Now) < Full
		if ok {
			sent++
		}
		return ok
	}
	n.feed = func(*node) { // so that the window grows
		for w.Now < cut/2 && send(1300) {
			continue
		}
	}
	w.Poll()
	w.Run(cut)
	for range under { // each leaves by itself
		send(64)
		w.Poll()
	}
	w.Run(time.Minute)
	w.check(t)
	s := w.ranks[0].e.Stats(1)
	t.Logf("%d timeouts, %d resent, %d spurious", s.Timeouts, s.Resent, s.Spurious)
	if got := len(w.ranks[1].got); got != sent {
		t.Errorf("%d of %d messages came", got, sent)
	}
	if s.Timeouts > 20 {
		t.Errorf("%d timeouts for one outage", s.Timeouts)
	}
}
