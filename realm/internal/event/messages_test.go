package event

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestMessages counts the messages of an event that all of N ranks wait for, for each place of its trigger, with
// messages in random orders. The bound is 2N-2.
func TestMessages(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for n := 2; n <= 64; n++ {
		for _, shape := range []struct {
			by       int
			stranger bool // the rank that triggers does not wait
			want     int
		}{{0, false, 2*n - 2}, {n - 1, false, 2*n - 2}, {n - 1, true, 2*n - 3}} {
			for _, order := range []string{"all subscribed", "mixed"} {
				x := newSystem(n, 0)
				x.encode = true
				gen := x.create(0)
				trigger := func() { x.trigger(shape.by, 0, gen, because(gen)) }
				waits := 0
				for _, rank := range rng.Perm(n) {
					if order == "mixed" && rng.IntN(n) == 0 && !x.truth(0, gen).triggered {
						trigger()
					}
					if rank == shape.by && (shape.stranger || x.truth(0, gen).triggered) {
						continue
					}
					waits++
					x.wait(&job{name: fmt.Sprint(rank), rank: rank, gen: gen})
					for order == "mixed" && len(x.msgs) > 0 && rng.IntN(2) == 0 {
						x.deliver(rng.IntN(len(x.msgs)))
					}
				}
				if order != "mixed" {
					x.drain(rng)
				}
				if !x.truth(0, gen).triggered {
					trigger()
				}
				x.drain(rng)
				got := x.truth(0, gen).messages
				if err := x.check(true); err != nil || got > 2*n-2 || order != "mixed" && got != shape.want {
					t.Fatalf("%d ranks, %+v, %s: %d messages, %v", n, shape, order, got, err)
				}
			}
		}
	}
}

// drain delivers all messages in a random order.
func (x *system) drain(rng *rand.Rand) {
	for len(x.msgs) > 0 {
		if i := rng.IntN(len(x.msgs)); x.deliverable(i) {
			x.deliver(i)
		}
	}
}
