package portals

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/invariants"
)

// once checks that each source's serials arrive exactly once.
type once struct {
	t    *testing.T
	seen []map[uint64]bool
	n    int
}

func (o *once) Record(src int, rec []byte) {
	serial := binary.LittleEndian.Uint64(rec[8:])
	if o.seen[src][serial] {
		o.t.Errorf("from %d came %x twice", src, serial)
	}
	if rec[len(rec)-1] != byte(serial) {
		o.t.Errorf("from %d came %x with other bytes", src, serial)
	}
	o.seen[src][serial] = true
	o.n++
}
func (o *once) Bulk(int, uint64, int64, []byte) {}

// Gone implements conduit.Sink.
func (*once) Gone(int, error) {}

// TestManyGoroutines has several goroutines of each rank flood every rank, in all classes, with sleeping receivers, stalls between
// reserving and publishing, cancelled places, and records that overtake each other.
func TestManyGoroutines(t *testing.T) {
	const n, senders = 4, 3
	each := 4000
	if invariants.Race || testing.Short() {
		each = 500
	}
	s := seed(t)
	cfg := small(250, 2) // more credits than tickets
	cfg.Shuffle, cfg.Seed = 50, s
	cs := ranks(t, n, cfg)
	var wg sync.WaitGroup
	stop := time.AfterFunc(time.Minute, func() { panic("records were lost") })
	defer stop.Stop()
	for i, c := range cs {
		locks := make([]sync.Mutex, n)
		for g := range senders {
			r := rand.New(rand.NewPCG(s, uint64(i*senders+g)))
			wg.Go(func() { flood(t, c, locks, uint64(g)<<32, each, r) })
		}
		wg.Go(func() {
			o := &once{t: t, seen: make([]map[uint64]bool, n)}
			for p := range o.seen {
				o.seen[p] = map[uint64]bool{}
			}
			for o.n < n*senders*each {
				if c.Poll(16, o) == 0 {
					c.Sleep(time.Hour, nil)
				}
			}
		})
	}
	wg.Wait()
	for i, c := range cs {
		if st := c.Stats(); st.Overflow != 0 || c.Pending() {
			t.Errorf("rank %d: %+v", i, st)
		}
	}
}

func flood(t *testing.T, c *Conduit, locks []sync.Mutex, serial uint64, each int, r *rand.Rand) {
	for k := range each {
		for peer := range locks {
			// One credit a request, so that tickets keep the senders within the loan.
			size := 24 + r.IntN(conduit.CreditBytes-24)
			for !tryOnce(t, c, &locks[peer], peer, conduit.Class(r.IntN(3)), size, serial|uint64(k), r.IntN(100)) {
				runtime.Gosched()
			}
		}
	}
}

func tryOnce(t *testing.T, c *Conduit, mu *sync.Mutex, peer int, class conduit.Class, size int, serial uint64, mood int) bool {
	mu.Lock()
	defer mu.Unlock()
	space, st := c.Reserve(peer, class, size)
	if st == conduit.Dead {
		t.Errorf("dead: %v", c.Failed(peer))
		return true
	}
	if st != conduit.OK {
		return false
	}
	switch mood {
	case 0:
		time.Sleep(20 * time.Microsecond)
	case 1, 2:
		c.drop(peer)
		return false
	}
	binary.LittleEndian.PutUint64(space[8:], serial)
	space[size-1] = byte(serial)
	c.Commit(peer, uint64(size))
	return true
}

// TestStalledInside stops a sender after the reservation that ends a buffer, before it has moved the others on.
func TestStalledInside(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("needs the hooks of a checking build")
	}
	cs := ranks(t, 3, small(16, 2))
	q := &cs[2].seg.queues[amQueue]
	l := &log{}
	reached, release := make(chan struct{}), make(chan struct{})
	stopped := false
	hookReserved = func() {
		if !stopped && q.fills[0].Load()&fillMask > uint64(q.last) {
			stopped = true
			close(reached)
			<-release
		}
	}
	defer func() { hookReserved = nil }()
	done := make(chan int)
	go func() {
		for n := 1; ; n++ {
			sendTo(cs[0], 2, conduit.Request, 250, 0)
			if q.cur.Load() > 1 {
				done <- n
				return
			}
		}
	}()
	<-reached
	pollAll(cs[2], l)
	laps(t, cs[1], cs[2], l, 1000)
	close(release)
	n := <-done
	pollAll(cs[2], l)
	if len(l.serials) != 1000+n {
		t.Errorf("%d records, %d were sent", len(l.serials), 1000+n)
	}
}

// fixture is a queue with its receiver, without ranks.
type fixture struct {
	q    *queue
	t    *taker
	got  map[uint32]int // by serial, which is written into the record
	held map[uint32]place
	size map[uint32]uint32
}

func newFixture(first uint64, spares int, shuffle uint64) *fixture {
	const longest = 12
	s := newShape(smallUnit, 40*smallUnit, 100*smallUnit, longest*smallUnit, spares)
	q := newQueue(s, heapMemory(s.size()))
	// As if first-1 turns had gone by.
	q.linked.Store(first - 1)
	q.cur.Store(first)
	for b := range s.buffers {
		q.link(uint32(b))
	}
	f := &fixture{q: &q, got: map[uint32]int{}, held: map[uint32]place{}, size: map[uint32]uint32{}}
	f.t = newTaker(&q, &geometry{spares: spares, shuffle: shuffle})
	f.t.open, f.t.next = f.t.open[:0], first
	f.t.openNext()
	f.t.serve = func(_ int, _ uint32, rec []byte) { f.got[binary.LittleEndian.Uint32(rec)]++ }
	return f
}

// TestQueueAgainstModel reserves, publishes late and in any order, cancels and serves at random, also over the turn where
// tags begin again, and has each record arrive once, untouched by others.
func TestQueueAgainstModel(t *testing.T) {
	s := seed(t)
	for _, first := range []uint64{1, 1<<20 - 5, 1<<24 - 20, 1<<24 - 1, 1 << 24} {
		for _, shuffle := range []uint64{0, 300} {
			f := newFixture(first, 3, shuffle)
			r := rand.New(rand.NewPCG(s, first))
			published := 0
			for serial := uint32(1); serial < 20000; serial++ {
				k := 1 + uint32(r.IntN(12))
				if p, st := f.q.reserve(k); st == conduit.OK {
					binary.LittleEndian.PutUint32(f.q.space(p, 4), serial)
					f.held[serial], f.size[serial] = p, k
				}
				published += f.some(r)
				f.t.take(r.IntN(6))
			}
			for serial := range f.held {
				f.finish(serial)
				published++
			}
			for f.t.ready() {
				f.t.take(100)
			}
			if len(f.got) != published || f.q.padded.Load() != 0 {
				t.Fatalf("from turn %d: %d of %d records, %d units of pads", first, len(f.got), published, f.q.padded.Load())
			}
			for serial, n := range f.got {
				if n != 1 || f.size[serial] == 0 {
					t.Fatalf("record %d came %d times", serial, n)
				}
			}
			if f.q.cur.Load() < first+100 {
				t.Errorf("only %d turns", f.q.cur.Load()-first)
			}
		}
	}
}

// some publishes or cancels part of what is held and returns how many it published.
func (f *fixture) some(r *rand.Rand) (n int) {
	for serial := range f.held {
		switch {
		case len(f.held) < 6 && r.IntN(3) > 0:
		case r.IntN(8) == 0:
			f.q.cancel(f.held[serial], f.size[serial])
			delete(f.held, serial)
			delete(f.size, serial)
		default:
			f.finish(serial)
			n++
		}
	}
	return n
}

func (f *fixture) finish(serial uint32) {
	f.q.publish(f.held[serial], 5, f.size[serial])
	delete(f.held, serial)
}

// TestOldMarks drives buffers over the turn at which all marks are cleared, so that none is left when its tag comes round again.
func TestOldMarks(t *testing.T) {
	const era = 1 << 20
	f := newFixture(era-10, 2, 0)
	for turns := era + 2*uint64(f.q.buffers); f.q.cur.Load() < turns; {
		k := uint32(1) // a mark in each unit; later ones leave most of them as they are
		if f.q.cur.Load() >= era {
			k = 12
		}
		p, st := f.q.reserve(k)
		if st != conduit.OK {
			t.Fatal(st)
		}
		f.q.publish(p, 5, k)
		f.t.take(1)
	}
	for i := range f.q.marks {
		if m := f.q.marks[i].Load(); m != 0 && m>>tagShift < era {
			t.Fatalf("unit %d has a mark of turn %d", i, m>>tagShift)
		}
	}
}

func TestBitmap(t *testing.T) {
	r := rand.New(rand.NewPCG(seed(t), 0))
	for range 2000 {
		bits := make([]uint64, 1+r.IntN(4))
		size := uint32(64 * len(bits))
		want := make([]bool, size)
		for range r.IntN(5) {
			u := uint32(r.IntN(int(size)))
			k := uint32(r.IntN(int(size-u) + 1))
			cover(bits, u, k)
			for i := u; i < u+k; i++ {
				want[i] = true
			}
		}
		u := uint32(r.IntN(int(size)))
		next := u
		for next < size && want[next] {
			next++
		}
		if got := uncovered(bits, u); got != next {
			t.Fatalf("first clear bit from %d in %x: %d, want %d", u, bits, got, next)
		}
	}
}
