package local

import (
	"fmt"
	"time"
)

// A handOver lets pairs of threads pass a permit back and forth, rounds times each. It returns the time from the
// common start to the last thread's end.
type handOver func(pairs, rounds int) (time.Duration, error)

// switchNs is the time from one thread's signal to the next thread's run. threads/2 pairs hand over at the same time,
// all on one core. Two threads are a ring of two; of 1,024 threads 512 are always runnable.
func switchNs(impl string, threads int, d time.Duration) (float64, error) {
	if threads < 2 || threads%2 != 0 {
		return 0, fmt.Errorf("%w: %d, switch needs an even number", ErrThreads, threads)
	}
	run := handOvers[impl]
	pairs := threads / 2
	for rounds := max(1, 1000/pairs); ; {
		took, err := run(pairs, rounds)
		if err != nil {
			return 0, err
		}
		if took >= d/2 {
			return float64(took.Nanoseconds()) / float64(2*pairs*rounds), nil
		}
		rounds = more(rounds, took, d)
	}
}

// more aims at d, and grows at most a hundredfold at a time, because a short first run says little.
func more(rounds int, took, d time.Duration) int {
	factor := min(100, float64(d)/float64(max(took, 1)))
	return int(float64(rounds)*factor) + 1
}
