package hashtable

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/golci/golci/bench/contend"
)

type node = Node[uint64]

// matcher is what the measured structures have in common: add n, or take out what is there.
type matcher interface {
	insertOrMatch(key uint64, n *node, side Side) *node
}

// entries is the size of the tables: 2^16 buckets.
const entries = 1 << 16

var tables = []struct {
	impl   string
	create func() (matcher, error)
}{
	{"golci", func() (matcher, error) { t, err := New[uint64](entries); return &plainTable{t}, err }},
	{"mutexmap", func() (matcher, error) { return &mutexMap{m: make(map[uint64]*node, entries)}, nil }},
	{"syncmap", func() (matcher, error) { return new(syncMap), nil }},
	{"xsync", func() (matcher, error) { return xsyncMap{xsync.NewMap[uint64, *node](xsync.WithPresize(entries))}, nil }},
}

type plainTable struct{ *Table[uint64] }

func (t *plainTable) insertOrMatch(key uint64, n *node, side Side) *node {
	m, _ := t.InsertOrMatch(key, n, side)
	return m
}

// The rivals hold one node a key and need no side: whatever is there is the match. That is less than the table does.

type mutexMap struct {
	mu sync.Mutex
	m  map[uint64]*node
}

func (t *mutexMap) insertOrMatch(key uint64, n *node, _ Side) *node {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old, ok := t.m[key]; ok {
		delete(t.m, key)
		return old
	}
	t.m[key] = n
	return nil
}

type syncMap struct{ m sync.Map }

func (t *syncMap) insertOrMatch(key uint64, n *node, _ Side) *node {
	old, loaded := t.m.LoadOrStore(key, n)
	if !loaded {
		return nil
	}
	t.m.Delete(key)
	return old.(*node)
}

type xsyncMap struct{ m *xsync.Map[uint64, *node] }

func (t xsyncMap) insertOrMatch(key uint64, n *node, _ Side) *node {
	old, loaded := t.m.LoadOrStore(key, n)
	if !loaded {
		return nil
	}
	t.m.Delete(key)
	return old
}

// contender is one implementation. run lets each of so many goroutines make n operations, about, and returns the time
// from their common start to the end of the last.
type contender struct {
	impl string
	run  func(goroutines, n int) (time.Duration, error)
}

const (
	window  = 256 // keys that a goroutine has in the table at a time
	tagBits = 28  // of the tag, the low bits of a key
)

var errMismatch = errors.New("a match returned the wrong item")

// workload says which keys a goroutine uses: consecutive ones, window at a time in the table, keys in all before it
// begins again. keys is a multiple of window.
type workload struct{ window, keys int }

// contenders run w, each goroutine with keys of its own: different sources in the upper bits.
func (w workload) contenders() (all []contender) {
	for _, t := range tables {
		all = append(all, contender{t.impl, func(goroutines, n int) (time.Duration, error) {
			m, err := t.create()
			if err != nil {
				return 0, err
			}
			return contend.Start(goroutines, func(g int) error { return w.run(m, uint64(g)<<tagBits, n) })
		}})
	}
	return all
}

// run posts and matches, n operations in all, rounded up to whole windows, under keys from base on.
func (w workload) run(m matcher, base uint64, n int) error {
	posts, arrivals := nodes(base, w.window), nodes(base, w.window)
	for done, tag := 0, 0; done < n; done += 2 * w.window {
		key := base + uint64(tag)
		ok := false
		if t, own := m.(*plainTable); own {
			ok = tableWindow(t.Table, key, posts, arrivals)
		} else {
			ok = anyWindow(m, key, posts, arrivals)
		}
		if !ok {
			return errMismatch
		}
		if tag += w.window; tag == w.keys {
			tag = 0
		}
	}
	return nil
}

// anyWindow posts and matches one window of consecutive keys, and tells whether each post was matched.
func anyWindow(m matcher, key uint64, posts, arrivals []node) bool {
	for i := range posts {
		m.insertOrMatch(key+uint64(i), &posts[i], Post)
	}
	ok := true
	for i := range arrivals {
		ok = ok && m.insertOrMatch(key+uint64(i), &arrivals[i], Arrive) == &posts[i]
	}
	return ok
}

// tableWindow is anyWindow without the interface call, as the message path calls the table.
func tableWindow(t *Table[uint64], key uint64, posts, arrivals []node) bool {
	for i := range posts {
		t.InsertOrMatch(key+uint64(i), &posts[i], Post)
	}
	ok := true
	for i := range arrivals {
		m, _ := t.InsertOrMatch(key+uint64(i), &arrivals[i], Arrive)
		ok = ok && m == &posts[i]
	}
	return ok
}

func nodes(base uint64, n int) []node {
	s := make([]node, n)
	for i := range s {
		s[i].Value = base + uint64(i)
	}
	return s
}

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
			return contend.Start(goroutines, func(g int) error {
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
			m.insertOrMatch(key+uint64(i), &posts[r%banks][i], Post)
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
			n := m.insertOrMatch(key+uint64(i), &arrivals[i], Arrive)
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

// TestRivals: every implementation matches what is posted, on one goroutine and across two.
func TestRivals(t *testing.T) {
	for _, c := range append(crosses(), workload{window, 2 * window}.contenders()...) {
		if took, err := c.run(2, 3*window); err != nil || took <= 0 {
			t.Errorf("%s: %v, %v", c.impl, took, err)
		}
	}
	m, err := tables[0].create()
	if err != nil {
		t.Fatal(err)
	}
	m.insertOrMatch(5, new(node), Post) // in the way of the fifth post
	if err := (workload{window, window}).run(m, 0, 2*window); err == nil {
		t.Error("a wrong match went unnoticed")
	}
}

// BenchmarkTable posts and matches a window of keys at a time. One operation is a post or a match.
func BenchmarkTable(b *testing.B) { compare(b, workload{window, entries / 8}.contenders(), 1, 2, 4, 8) }

// BenchmarkSweep never uses a key twice. So each goroutine walks over the whole table, and finds most lines in another
// core's cache.
func BenchmarkSweep(b *testing.B) { compare(b, workload{window, 1 << tagBits}.contenders(), 1, 2) }

// BenchmarkFull has one key a bucket in the table, shared evenly by the goroutines.
func BenchmarkFull(b *testing.B) {
	for _, g := range []int{1, 2} {
		compare(b, workload{entries / g, entries / g}.contenders(), g)
	}
}

// BenchmarkCross posts on one goroutine of a pair and matches on the other.
func BenchmarkCross(b *testing.B) { compare(b, crosses(), 2, 4, 8) }

func compare(b *testing.B, contenders []contender, goroutines ...int) {
	for _, c := range contenders {
		for _, g := range goroutines {
			b.Run(fmt.Sprintf("impl=%s/goroutines=%d", c.impl, g), func(b *testing.B) {
				contend.Run(b, g, false, func(n int) (time.Duration, error) { return c.run(g, n) })
			})
		}
	}
}
