package reliable

import (
	"errors"
	"testing"
	"time"
)

// TestStuck: packets beyond a size vanish from some time on, smaller ones pass both ways. The peer is heard all the
// time, and given up within twice the time of a silent one.
func TestStuck(t *testing.T) {
	w := newWorld(t, seedOf(t), 2, Config{}, Link{MTU: 1400})
	n := w.ranks[0]
	n.count = true
	w.Fate = func(_, _ int, packet []byte, now time.Duration) []time.Duration {
		if len(packet) > 400 && now > 5*time.Millisecond {
			return nil
		}
		return []time.Duration{now + 100*time.Microsecond}
	}
	n.feed = flood(1, 4000)
	var died error
	small := make([]byte, 20)
	for d := time.Second; d < 25*time.Second && n.e.peers.peerAt(1) != nil; d += time.Second {
		p := n.e.peers.peerAt(1)
		n.e.Send(1, Message{Data: small, Urgent: true}, w.Now)
		w.Run(d)
		died = p.dead
	}
	if !errors.Is(died, ErrStuck) {
		t.Errorf("at %v the peer has died of %v", w.Now, died)
	}
}

// TestSignsOfLifeAreShort: long packets vanish, and all that is to be sent is long. The peer is asked for a sign of life
// by short ones, which pass, also when a long one leaves at that moment. So it is not taken for silent, nor for dead
// where somebody suspects it.
func TestSignsOfLifeAreShort(t *testing.T) {
	w := newWorld(t, 1, 2, Config{}, Link{MTU: 1400})
	n := w.ranks[0]
	n.count = true
	w.Fate = func(_, _ int, packet []byte, now time.Duration) []time.Duration {
		if len(packet) > MinMTU {
			return nil
		}
		return []time.Duration{now}
	}
	n.feed = flood(1, 1300)
	p := n.e.peers.peerAt(1)
	for w.Poll(); w.Now < 8*time.Second; { // at each of these times a long packet is sent again
		w.Now += p.e.cfg.MaxRTO
		w.Poll()
		w.Deliver()
	}
	if p.heard == 0 {
		t.Errorf("the peer was not heard in %v", w.Now)
	}
	w.Now += p.e.cfg.MaxRTO
	n.e.Suspect(1, w.Now)
	w.Poll()
	w.Deliver()
	for end := w.Now + 50*time.Millisecond; w.Step(end); {
		w.check(t)
	}
	if p.dead != nil {
		t.Errorf("suspected, the peer has died of %v", p.dead)
	}
}

// TestNotStuck: neither heavy loss nor outages, each a bit shorter than what a silent peer lives, are taken for it.
func TestNotStuck(t *testing.T) {
	slow(t)
	seed := seedOf(t)
	for name, lost := range map[string]func(w *world, now time.Duration) bool{
		"loss of half":  func(w *world, _ time.Duration) bool { return w.r.IntN(2) == 0 },
		"outages":       func(_ *world, now time.Duration) bool { return now%(10*time.Second) < 9*time.Second },
		"short outages": func(_ *world, now time.Duration) bool { return now%(1100*time.Millisecond) < 900*time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, seed, 2, Config{}, Link{MTU: 1400})
			n := w.ranks[0]
			n.feed, n.count, w.ranks[1].count = flood(1, 4000), true, true
			w.Fate = func(_, _ int, _ []byte, now time.Duration) []time.Duration {
				if lost(w, now) {
					return nil
				}
				return []time.Duration{now + time.Millisecond}
			}
			w.Run(40 * time.Second)
			w.check(t)
			if len(n.died)+len(w.ranks[1].died) > 0 {
				t.Errorf("given up: %v, %v", n.died, w.ranks[1].died)
			}
		})
	}
}
