package tablebench

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/golci/golci/hashtable"
)

// crossing is the progress of a pair, one line for each writer.
type crossing struct {
	posted  atomic.Int64 // rounds, by the poster
	_       [120]byte
	matched atomic.Int64 // rounds, by the matcher
	_       [120]byte
}

// CrossN lets each goroutine do n operations as in Cross, and returns the time it took.
func CrossN(impl string, goroutines, n int) (time.Duration, error) {
	m, err := newMatcher(impl)
	if err != nil {
		return 0, err
	}
	if goroutines < 2 || goroutines%2 != 0 {
		return 0, fmt.Errorf("%w: %d, Cross needs an even one", ErrGoroutines, goroutines)
	}
	pairs := make([]crossing, goroutines/2)
	rounds := int64(n+Window-1) / Window
	return timed(goroutines, func(g int) error {
		base := uint64(g/2) << tagBits
		if g%2 == 0 {
			pairs[g/2].post(m, base, rounds)
			return nil
		}
		return pairs[g/2].match(m, base, rounds)
	})
}

// banks windows of a pair are in flight at most, so that both sides work at once.
const banks = 4

func (c *crossing) post(m matcher, base uint64, rounds int64) {
	var posts [banks][]node
	for i := range posts {
		posts[i] = nodes(base, Window)
	}
	for r := range rounds {
		await(&c.matched, r-banks+1)
		key := roundKey(base, r)
		for i := range posts[r%banks] {
			m.insertOrMatch(key+uint64(i), &posts[r%banks][i], hashtable.Post)
		}
		c.posted.Store(r + 1)
	}
}

func (c *crossing) match(m matcher, base uint64, rounds int64) error {
	arrivals := nodes(base, Window)
	defer c.matched.Store(rounds) // lets the poster end after an error
	for r := range rounds {
		await(&c.posted, r+1)
		key := roundKey(base, r)
		for i := range arrivals {
			n := m.insertOrMatch(key+uint64(i), &arrivals[i], hashtable.Arrive)
			if n == nil || n.Value != base+uint64(i) {
				return errMismatch
			}
		}
		c.matched.Store(r + 1)
	}
	return nil
}

func roundKey(base uint64, r int64) uint64 { return base + uint64(r)*Window%(Entries/8) }

func await(c *atomic.Int64, at int64) {
	for c.Load() < at {
		runtime.Gosched()
	}
}
