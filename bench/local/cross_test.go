package local

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/hashtable"
)

// meeting is the progress of a pair of goroutines, one of which posts while the other matches; one line for each
// writer.
type meeting struct {
	posted  atomic.Int64 // rounds, by the poster
	_       [120]byte
	matched atomic.Int64 // rounds, by the matcher
	_       [120]byte
}

// crosses are the tables, of which each pair of goroutines posts and matches a window of keys of its own at a time.
func crosses() (all []contender) {
	for _, t := range tables {
		all = append(all, contender{t.impl, func(goroutines, n int) (time.Duration, error) {
			m, err := t.create()
			if err != nil {
				return 0, err
			}
			pairs := make([]meeting, goroutines/2)
			rounds := int64(n+window-1) / window
			return together(goroutines, func(g int) error {
				base := uint64(g/2) << tagBits
				if g%2 == 0 {
					pairs[g/2].post(m, base, rounds)
					return nil
				}
				return pairs[g/2].match(m, base, rounds)
			})
		}})
	}
	return all
}

// banks windows of a pair are in flight at most, so that both sides work at once.
const banks = 4

func (c *meeting) post(m matcher, base uint64, rounds int64) {
	var posts [banks][]node
	for i := range posts {
		posts[i] = nodes(base, window)
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

func (c *meeting) match(m matcher, base uint64, rounds int64) error {
	arrivals := nodes(base, window)
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

func roundKey(base uint64, r int64) uint64 { return base + uint64(r)*window%(entries/8) }

func await(c *atomic.Int64, at int64) {
	for c.Load() < at {
		runtime.Gosched()
	}
}

func TestCross(t *testing.T) {
	b := benchmark{contenders: crosses()}
	for _, c := range b.contenders {
		if ns, err := b.measure(c, 2, time.Millisecond); err != nil || ns <= 0 {
			t.Errorf("%s: %v ns, %v", c.impl, ns, err)
		}
	}
}

func TestMismatchIsFound(t *testing.T) {
	m, err := tables[0].create()
	if err != nil {
		t.Fatal(err)
	}
	m.insertOrMatch(5, new(node), 0) // in the way of the fifth post
	if err := (workload{window, window}).run(m, 0, 2*window); err == nil {
		t.Error("a wrong match went unnoticed")
	}
}

func BenchmarkPool(b *testing.B) { run(b, pools, 1, 2, 4, 8) }

func BenchmarkTable(b *testing.B) { run(b, benchmarks["table"].contenders, 1, 2, 4, 8) }

// BenchmarkSweep never uses a key twice. So each goroutine walks over the whole table, and finds most lines in another
// core's cache.
func BenchmarkSweep(b *testing.B) { run(b, workload{window, 1 << tagBits}.contenders(), 1, 2) }

// BenchmarkFull has one key a bucket in the table, shared evenly by the goroutines.
func BenchmarkFull(b *testing.B) {
	for _, g := range []int{1, 2} {
		run(b, workload{entries / g, entries / g}.contenders(), g)
	}
}

// BenchmarkCross posts on one goroutine of a pair and matches on the other.
func BenchmarkCross(b *testing.B) { run(b, crosses(), 2, 4, 8) }

func run(b *testing.B, contenders []contender, goroutines ...int) {
	for _, c := range contenders {
		for _, g := range goroutines {
			b.Run(fmt.Sprintf("impl=%s/goroutines=%d", c.impl, g), func(b *testing.B) {
				took, err := c.run(g, b.N)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(new(benchmark).perOp(took, g, b.N), "ns/op")
			})
		}
	}
}
