package conformance

import (
	"bytes"
	"sync"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

func needBulk(t suite, c conduit.Conduit) {
	if c.Caps().BulkChunk == 0 {
		t.Skip("no bulk channel")
	}
}

func testBulk(t suite, cs []conduit.Conduit) {
	caps := cs[0].Caps()
	if caps.BulkChunk == 0 {
		if n, _ := cs[0].BulkSend(1, 1, 0, []byte{1}, nil); n != 0 {
			t.Errorf("BulkSend without a bulk channel: %d", n)
		}
		return
	}
	c, k := caps.BulkChunk, caps.BulkSlots
	sizes := []int{1, 7, 8, 63, 64, 65, c - 1, c, c + 1, 2*c - 1, c * k, c*k + 1}
	if !invariants.Race {
		sizes = append(sizes, 5*c*k+17)
	}
	for id, n := range sizes {
		data := make([]byte, n)
		fill(data, uint64(n))
		s := &sink{t: t, scattered: !caps.Ordered}
		bulkSend(t, cs[0], cs[1], s, 1, uint64(id), data)
		pollWhile(t, cs[1], s, 4, func() bool { return s.have(bulkKey{0, uint64(id)}) < n }, "%d bytes", n)
		if !bytes.Equal(s.bulk[bulkKey{0, uint64(id)}], data) {
			t.Errorf("%d bytes: other bytes arrived", n)
		}
	}
	if n, _ := cs[0].BulkSend(1, 1, 0, nil, nil); n != 0 {
		t.Errorf("BulkSend of nothing: %d", n)
	}
}

// bulkSend sends all of data from c to peer; poller polls meanwhile.
func bulkSend(t testing.TB, c, poller conduit.Conduit, s conduit.Sink, peer int, id uint64, data []byte) {
	w := newWaiter(t, "bulk slots")
	for off := 0; off < len(data); {
		n, _ := c.BulkSend(peer, id, int64(off), data[off:], nil)
		if n < 0 {
			t.Fatalf("bulk to %d: %v", peer, c.Failed(peer))
		}
		off += n
		if poller.Poll(2, s) <= 0 && n == 0 {
			w.pause()
		}
	}
}

// testBulkReserved fills chunks in place, in turn with chunks that are copied. Some are reserved twice, or not sent in
// full. What was not reserved, or is longer, is not sent.
func testBulkReserved(t suite, cs []conduit.Conduit) {
	c, caps := cs[0], cs[0].Caps()
	for _, peer := range []int{-1, len(cs), 1 << 40} {
		c.BulkCommit(peer, 1, 0, 1)
		if space, st := c.BulkReserve(peer, 8); st != conduit.Dead || space != nil {
			t.Errorf("BulkReserve to rank %d: %v, %d bytes", peer, st, len(space))
		}
	}
	c.BulkCommit(1, 1, 0, 1)
	if space, st := c.BulkReserve(1, 0); st != conduit.Retry || space != nil {
		t.Errorf("BulkReserve of nothing: %v, %d bytes", st, len(space))
	}
	if caps.BulkChunk == 0 {
		if space, st := c.BulkReserve(1, 1); st != conduit.Retry || space != nil {
			t.Errorf("BulkReserve without a bulk channel: %v, %d bytes", st, len(space))
		}
		return
	}
	for peer := range cs { // itself, too
		data := make([]byte, 5*caps.BulkChunk*min(caps.BulkSlots, 4)+17)
		fill(data, uint64(peer))
		s, w := &sink{t: t, scattered: !caps.Ordered}, newWaiter(t, "bulk slots")
		key := bulkKey{0, 7}
		for off, lap := 0, 0; s.have(key) < len(data); lap++ {
			n := 0
			if off < len(data) {
				n = bulkPut(t, c, peer, key.id, off, data[off:], lap)
			}
			off += n
			if cs[peer].Poll(2, s) <= 0 && n == 0 {
				w.pause()
			}
		}
		if !bytes.Equal(s.bulk[key], data) {
			t.Errorf("to rank %d: other bytes arrived", peer)
		}
	}
}

// bulkPut sends some of data: a chunk filled in place, or in every third lap what BulkSend takes.
func bulkPut(t testing.TB, c conduit.Conduit, peer int, id uint64, off int, data []byte, lap int) int {
	if lap%3 == 0 {
		n, _ := c.BulkSend(peer, id, int64(off), data, nil)
		return max(n, 0)
	}
	space, st := c.BulkReserve(peer, len(data))
	if st != conduit.OK {
		return 0
	}
	if len(space) == 0 || len(space) > min(len(data), c.Caps().BulkChunk) {
		t.Fatalf("BulkReserve gives %d bytes for %d", len(space), len(data))
	}
	if lap%4 == 0 { // it is not wanted after all
		fill(space, 99)
		if again, st := c.BulkReserve(peer, len(data)); st != conduit.OK || len(again) != len(space) {
			t.Logf("reserved again: %v", st) // by a fault
			return 0
		}
	}
	n := copy(space, data)
	if lap%5 == 0 {
		n = (n + 1) / 2
	}
	c.BulkCommit(peer, id, 0, len(space)+1)
	c.BulkCommit(peer, id, int64(off), n)
	c.BulkCommit(peer, id, 0, 1)
	return n
}

// testBulkBesideRecords sends records and bulk data from every rank to every rank at once, from two goroutines.
func testBulkBesideRecords(t suite, cs []conduit.Conduit) {
	caps := cs[0].Caps()
	needBulk(t, cs[0])
	records := t.rounds(500)
	laps := 7
	if invariants.Race {
		laps = 2
	}
	size := laps*caps.BulkChunk*min(caps.BulkSlots, 4) + 5
	var wg sync.WaitGroup
	for i, c := range cs {
		s := &sink{t: t, scattered: !caps.Ordered}
		y := newTally(t, c)
		s.each = y.add
		var mu sync.Mutex
		c := &shared{Conduit: c}
		guarded := &lockedSink{mu: &mu, s: s}
		wg.Go(func() {
			data := make([]byte, size)
			for p := range cs {
				fill(data, uint64(i*100+p))
				bulkSend(t, c, c, guarded, p, uint64(i), data)
			}
		})
		wg.Go(func() {
			for k := range records {
				for p := range cs {
					send(t, c, guarded, p, conduit.Request, 24+k%64, uint64(k))
				}
			}
			pollWhile(t, c, guarded, 8, func() bool {
				return !complete(&mu, s, y, len(cs), records, size)
			}, "everything at rank %d", i)
			want := make([]byte, size)
			for p := range cs {
				y.want(p, records)
				fill(want, uint64(p*100+i))
				if !bytes.Equal(s.bulk[bulkKey{p, uint64(p)}], want) {
					t.Errorf("rank %d: other bytes arrived from %d", i, p)
				}
			}
		})
	}
	wg.Wait()
}

// shared is a conduit that several goroutines poll, one at a time.
type shared struct {
	conduit.Conduit
	polling sync.Mutex
}

// Poll implements conduit.Conduit. It does nothing while another goroutine polls.
func (c *shared) Poll(budget int, sink conduit.Sink) int {
	if !c.polling.TryLock() {
		return 0
	}
	defer c.polling.Unlock()
	return c.Conduit.Poll(budget, sink)
}

func complete(mu *sync.Mutex, s *sink, y *tally, ranks, records, size int) bool {
	mu.Lock()
	defer mu.Unlock()
	for p := range ranks {
		if s.have(bulkKey{p, uint64(p)}) < size || y.next[p] < uint64(records) {
			return false
		}
	}
	return true
}

// lockedSink lets the test look at a sink while another goroutine may poll into it.
type lockedSink struct {
	mu *sync.Mutex
	s  conduit.Sink
}

func (l *lockedSink) Record(src int, rec []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.Record(src, rec)
}

func (l *lockedSink) Bulk(src int, id uint64, off int64, b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.Bulk(src, id, off, b)
}

func (l *lockedSink) Gone(peer int, err error) { l.s.Gone(peer, err) }

// testBulkTurns keeps both channels full and polls with small budgets: both must move.
func testBulkTurns(t suite, cs []conduit.Conduit) {
	caps := cs[0].Caps()
	needBulk(t, cs[0])
	data := make([]byte, caps.BulkChunk)
	for _, budget := range []int{1, 2, 3, 4, 16} {
		records, chunks := 0, 0
		s := &sink{
			t: t, each: func(got) { records++ },
			chunk: func(int, uint64, int64, []byte) { chunks++ },
		}
		const polls = 400
		w := newWaiter(t, "records and chunks in turn")
		for n := 0; n < polls || !caps.Ordered && (records < polls/10 || chunks < polls/10); n++ {
			if n >= polls {
				w.pause() // a network takes its time
			}
			fillUp(t, cs[0], 1, constant(64), 0)
			for n := 1; n > 0; {
				n, _ = cs[0].BulkSend(1, 1, 0, data, nil)
			}
			cs[1].Poll(budget, s)
			pollSenders(cs[:1], s)
		}
		if records < polls/10 || chunks < polls/10 {
			t.Errorf("budget %d: %d records and %d chunks in %d polls", budget, records, chunks, polls)
		}
	}
}

func testCreditWords(t suite, cs []conduit.Conduit) {
	if cs[0].Mine(0) == nil {
		t.Skip("no credit words")
	}
	for i, c := range cs {
		for p := range cs {
			if (c.Mine(p) == nil) != (c.Theirs(p) == nil) || (c.Mine(p) == nil) != (cs[p].Mine(i) == nil) {
				t.Fatalf("ranks %d and %d: words one way only", i, p)
			}
			if w := c.Mine(p); w != nil {
				w.Store(uint64(i*100 + p + 1))
			}
		}
	}
	for i, c := range cs {
		for p := range cs {
			if c.Theirs(p) == nil {
				continue // a mixed job has words towards some
			}
			if got := c.Theirs(p).Load(); got != uint64(p*100+i+1) {
				t.Errorf("rank %d reads %d from %d, want %d", i, got, p, p*100+i+1)
			}
		}
	}
	if cs[0].Mine(1) == nil {
		return
	}
	total := uint64(t.rounds(20000))
	base := cs[0].Mine(1).Load()
	var wg sync.WaitGroup
	wg.Go(func() {
		w := newWaiter(t, "room")
		for i := uint64(1); i <= total; {
			if trySend(cs[0], 1, conduit.Request, 24, 0, i-1) != conduit.OK {
				w.pause()
				continue
			}
			cs[0].Mine(1).Store(base + i)
			i++
		}
	})
	if cs[0].Caps().Ordered {
		checkNotEarlier(t, cs[1], base, total)
	} else {
		drain(t, cs[1], &sink{t: t}, int(total))
	}
	wg.Wait()
}

// checkNotEarlier checks that a counter value is never there before the record committed ahead of it.
func checkNotEarlier(t testing.TB, c conduit.Conduit, base, total uint64) {
	var seen uint64
	s := &sink{t: t, each: func(got) { seen++ }}
	w := newWaiter(t, "records")
	for seen < total {
		told := c.Theirs(0).Load() - base
		if told > seen && !c.Pending() {
			t.Fatalf("the counter tells of %d records, %d came, and nothing is pending", told, seen)
		}
		if c.Poll(8, s) <= 0 {
			w.pause()
		}
	}
}
