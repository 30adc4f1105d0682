package am

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// counter is a waiter that counts how often it is tried.
type counter struct {
	waiter
	tries int
}

func (x *counter) Emit() bool {
	x.tries++
	return x.waiter.Emit()
}

// TestStarvedIsNotTried: a request that finds too few credits is tried again when the peer has returned some, and else
// only now and then.
func TestStarvedIsNotTried(t *testing.T) {
	twoWays(t, func(t *testing.T, v variant) {
		es := endpoints(t, 2, v, Config{Credits: terms(0)}) // a loan of 6, which does not grow
		ignore(t, es)
		stallOnCredits(t, es[0])
		x := &counter{waiter: waiter{e: es[0]}}
		es[0].Enqueue(1, x)
		tried := func(polls, want int) {
			t.Helper()
			x.tries = 0
			for range polls {
				es[0].Poll()
			}
			if x.tries != want {
				t.Errorf("%d polls try it %d times, want %d", polls, x.tries, want)
			}
		}
		tried(1, 1)
		tried(10*shortLooks, 10)
		es[1].Poll()
		tried(1, 1)
		if !x.sent {
			t.Error("it is not sent, though its credits have come")
		}
	})
}

// TestWaiting: peers that come and go while others are served are served as long as they stay, each once a turn.
func TestWaiting(t *testing.T) {
	seed := rand.Uint64()
	defer func() {
		if t.Failed() {
			t.Logf("the seed is %d", seed)
		}
	}()
	rnd := rand.New(rand.NewPCG(seed, 0))
	var l pendingPeers
	const peers = 20
	in := [peers]bool{}
	come := func() {
		if p := rnd.IntN(peers); !in[p] {
			in[p] = true
			l.addPeer(p)
		}
	}
	for turn := range 1000 {
		come()
		want, got := in, [peers]bool{}
		did := l.eachPeer(func(p int) (int, bool) {
			if got[p] {
				t.Fatalf("turn %d serves peer %d twice", turn, p)
			}
			got[p] = true
			stay := rnd.IntN(4) > 0
			in[p] = stay
			if rnd.IntN(4) == 0 {
				come()
			}
			return 1, stay
		})
		for p := range peers {
			if got[p] != want[p] {
				t.Fatalf("turn %d: peer %d is served: %v, want %v", turn, p, got[p], want[p])
			}
		}
		left := l.snapshot(nil)
		if slices.Sort(left); did != count(want) || int(l.n.Load()) != count(in) || len(left) != count(in) {
			t.Fatalf("turn %d: %d served, %d left, %v listed; want %v, then %v", turn, did, l.n.Load(), left, want, in)
		}
	}
}

func count(set [20]bool) (n int) {
	for _, x := range set {
		if x {
			n++
		}
	}
	return n
}
