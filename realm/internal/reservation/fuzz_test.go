package reservation

import (
	"math/rand/v2"
	"testing"
)

// play lets choose pick one of n steps until nothing is left to do, and checks each state against what the world knows.
func play(t *testing.T, w *world, choose func(n int) int) {
	t.Helper()
	for n := 0; ; n++ {
		steps := w.steps()
		if err := w.Check(len(steps) == 0); err != nil {
			t.Fatalf("after %d steps: %v", n, err)
		}
		if len(steps) == 0 {
			return
		}
		if n > 100_000 {
			t.Fatal("it does not come to rest")
		}
		steps[choose(len(steps))].do(w)
	}
}

// randomPlan has up to six ranks with up to 20 acquires each.
func randomPlan(choose func(n int) int) plan {
	p := plan{turns: 1 + choose(4), carry: choose(5), destroys: -1, once: choose(2) == 0}
	for range 1 + choose(6) {
		var modes []Mode
		for range choose(20) {
			modes = append(modes, Mode(max(0, choose(6)-2))) // half are exclusive
		}
		p.acquires = append(p.acquires, modes)
	}
	p.home = choose(len(p.acquires))
	switch choose(6) {
	case 0:
		for range 1 + choose(2) {
			p.dies = append(p.dies, choose(len(p.acquires)))
		}
	case 1:
		p.destroys = choose(len(p.acquires))
	case 2:
		p.foreign = true
	}
	return p
}

// TestRandom runs larger jobs in random orders.
func TestRandom(t *testing.T) {
	runs := 2000
	if testing.Short() {
		runs = 300
	}
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := randomPlan(r.IntN)
		w := newWorld(p)
		ok := t.Run("", func(t *testing.T) { play(t, w, r.IntN) })
		if !ok {
			t.Fatalf("seed %d, %+v", seed, p)
		}
		want := 0
		for _, modes := range p.acquires {
			want += len(modes)
		}
		if p.dies == nil && p.destroys < 0 && w.grants != want {
			t.Fatalf("seed %d: %d of %d acquires were granted", seed, w.grants, want)
		}
	}
}

// FuzzLock lets the bytes pick a job and the order of what happens in it.
func FuzzLock(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("a reservation migrates between ranks"))
	f.Fuzz(func(t *testing.T, data []byte) {
		choose := func(n int) int {
			if len(data) == 0 {
				return 0
			}
			k := int(data[0]) % n
			data = data[1:]
			return k
		}
		play(t, newWorld(randomPlan(choose)), choose)
	})
}
