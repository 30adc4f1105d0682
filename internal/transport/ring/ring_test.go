package ring

import (
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"go.uber.org/goleak"

	"github.com/golci/golci/conduit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var seedFlag = flag.Uint64("ring.seed", 0, "replay the random ring tests from this seed")

func random(t *testing.T) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with -ring.seed=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

func geometry(t testing.TB, cfg conduit.Config, ranks int) Geometry {
	g, err := NewGeometry(cfg, ranks)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

type collect struct{ recs [][]byte }

func (c *collect) Record(_ int, rec []byte)        { c.recs = append(c.recs, append([]byte(nil), rec...)) }
func (c *collect) Bulk(int, uint64, int64, []byte) {}

// Gone implements conduit.Sink.
func (*collect) Gone(int, error) {}

// oneRing makes both ends of one ring with its counters at start.
func oneRing(t testing.TB, cfg conduit.Config, start uint64) (*Producer, *Consumer) {
	g := geometry(t, cfg, 1)
	s, err := NewSegment(conduit.HeapMemory(g.Size()), g, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := s.pair(0)
	p.head.Store(start)
	prod := newProducer(p.data, p.head, s.g)
	prod.tail, prod.seen, prod.replyEnd, prod.clean = start, start, start, start+Line
	return &prod, &Consumer{data: p.data, head: p.head, g: s.g, taken: start, published: start}
}

// TestAgainstModel runs random operations on a ring and on a plain queue. The counters begin just before they wrap.
func TestAgainstModel(t *testing.T) {
	r := random(t)
	for _, cfg := range []conduit.Config{
		{Loan: 4, MaxRecord: 700, ReplySpace: 1, BulkChunk: -1},
		{MaxRecord: 2000, BulkChunk: -1, TinyQueues: true},
		{Loan: 1, MaxRecord: 64, ReplySpace: 64, BulkChunk: -1},
		{Loan: 40, MaxRecord: 5000, BulkChunk: -1},
	} {
		p, c := oneRing(t, cfg, ^uint64(10000))
		var model [][]byte
		delivered, lines := 0, 0
		for range 50000 {
			switch r.IntN(5) {
			case 4:
				data := make([]byte, r.IntN(conduit.InjectBytes+2))
				for i := range data {
					data[i] = byte(r.Uint32()) | 1
				}
				first := uint64(r.Uint32())<<32 | uint64(24+len(data))
				if p.inject(first, 3, 4, data) {
					want := binary.LittleEndian.AppendUint64(nil, first)
					want = binary.LittleEndian.AppendUint64(want, 3)
					want = binary.LittleEndian.AppendUint64(want, 4)
					model = append(model, append(want, data...))
					lines++
				}
				if r.IntN(2) == 0 {
					p.cleanAhead()
				}
			case 0, 1:
				n := 8 + r.IntN(p.g.MaxRecord-7)
				space := p.reserveBytes(conduit.Class(r.IntN(3)), n)
				if space == nil {
					continue
				}
				if len(space) != (n+7)&^7 || uintptr(unsafe.Pointer(&space[0]))%Line != 0 {
					t.Fatalf("reserved %d bytes at %p for %d", len(space), &space[0], n)
				}
				for i := range space[8:] {
					space[8+i] = byte(r.Uint32()) | 1
				}
				if r.IntN(8) == 0 {
					continue // never committed: the next reservation takes its place
				}
				n = 8 + r.IntN(n-7) // shorter than reserved is allowed
				first := uint64(r.Uint32())<<32 | uint64(n)
				want := append(binary.LittleEndian.AppendUint64(nil, first), space[8:max(n, 8)]...)
				model = append(model, want[:n])
				p.publishOpen(first, r.IntN(2) == 0)
				if r.IntN(2) == 0 {
					p.cleanAhead()
				}
			default:
				s := &collect{}
				n, dry, ok := c.poll(r.IntN(5), s)
				if !ok || n != len(s.recs) || (dry && delivered+n != len(model)) {
					t.Fatalf("poll: %d, %v, %v; %d of %d delivered", n, dry, ok, delivered, len(model))
				}
				for _, rec := range s.recs {
					if string(rec) != string(model[delivered]) {
						t.Fatalf("record %d is %x, want %x", delivered, rec, model[delivered])
					}
					model[delivered] = nil
					delivered++
				}
				if c.isReady() != (delivered < len(model)) {
					t.Fatalf("ready() = %v with %d of %d delivered", c.isReady(), delivered, len(model))
				}
			}
		}
		if delivered < 1000 || p.tail > 1<<63 {
			t.Errorf("%d delivered, tail at %d: the test did not get anywhere", delivered, p.tail)
		}
		if (lines == 0) != (p.inUse < Line) {
			t.Errorf("%+v: %d records in one step, with %d bytes for them", cfg, lines, p.inUse)
		}
	}
}

// TestCleansForLongRecords: the producer clears room for another record as long as the recent ones. It clears nothing
// that is in use.
func TestCleansForLongRecords(t *testing.T) {
	p, c := oneRing(t, conduit.Config{MaxRecord: 64 << 10}, 0)
	put := func(n int) bool {
		space := p.reserveBytes(conduit.Request, n)
		if space == nil {
			return false
		}
		for i := range space {
			space[i] = 0xFF
		}
		p.publishOpen(uint64(n), false)
		p.cleanAhead()
		if p.clean > p.seen+uint64(len(p.data)) {
			t.Fatalf("cleaned up to %d, of a ring of %d with %d consumed", p.clean, len(p.data), p.seen)
		}
		for at := p.tail; at != p.clean; at += Line {
			if w := p.wordAt(int(at) % len(p.data)).Load(); w != 0 {
				t.Fatalf("the line at %d begins with %#x", at, w)
			}
		}
		return true
	}
	for _, c := range []struct{ n, least, most int }{
		{64, Line, cleanHigh},
		{8192, 8192 + Line, 8192 + cleanLow},
		{64 << 10, cleanMost, cleanMost + cleanLow},
	} {
		if !put(c.n) || int(p.clean-p.tail) < c.least || int(p.clean-p.tail) > c.most {
			t.Errorf("after a record of %d bytes %d are clean, want %d to %d", c.n, p.clean-p.tail, c.least, c.most)
		}
	}
	for range 2000 { // without a consumer at first, then round and round
		for put(3000) {
		}
		c.poll(5, &collect{})
	}
	for range 1000 {
		c.poll(100, &collect{})
		put(64)
	}
	if n := int(p.clean - p.tail); n > cleanHigh {
		t.Errorf("%d bytes are clean after many short records, want %d at most", n, cleanHigh)
	}
}

// TestTinyAdmitsTwo checks what TinyQueues promises.
func TestTinyAdmitsTwo(t *testing.T) {
	p, c := oneRing(t, conduit.Config{TinyQueues: true}, 0)
	put := func(class conduit.Class, n int) bool {
		space := p.reserveBytes(class, n)
		if space != nil {
			p.publishOpen(uint64(n), false)
		}
		return space != nil
	}
	for round := range 300 {
		n := 8 + round%57
		small := 0
		for put(conduit.Request, n) {
			small++
		}
		if small != 2 {
			t.Fatalf("round %d: %d small requests, want two", round, small)
		}
		if !put(conduit.Reply, p.g.MaxRecord-round) || put(conduit.Reply, n) || put(conduit.System, n) {
			t.Fatalf("round %d: want one reply, no more", round)
		}
		if k, dry, ok := c.poll(100, &collect{}); k != 3 || !dry || !ok {
			t.Fatalf("poll: %d %v %v", k, dry, ok)
		}
		if !put(conduit.Request, p.g.MaxRecord) || put(conduit.Request, n) {
			t.Fatalf("round %d: want one large request, no more", round)
		}
		c.poll(100, &collect{})
	}
}

func TestGeometry(t *testing.T) {
	r := random(t)
	for range 2000 {
		cfg := conduit.Config{
			Loan: 1 + r.IntN(1000), MaxRecord: 64 + r.IntN(20000), ReplySpace: 1 + r.IntN(100000),
			BulkChunk: r.IntN(100000) - 100, BulkSlots: 1 + r.IntN(16), TinyQueues: r.IntN(4) == 0,
		}
		g := geometry(t, cfg, 1+r.IntN(100))
		record := align(g.MaxRecord, Line)
		if g.Cap%pageBytes != 0 || g.MaxRecord%8 != 0 || g.Publish <= 0 || g.Cap < 4*record && g.Tiny {
			t.Fatalf("%+v gives %+v", cfg, g)
		}
		if g.Tiny {
			continue
		}
		// The loan, one pad, and what the consumer has not reported yet must fit; so must a reply with its pad.
		if g.ReqLimit < max(cfg.Loan*conduit.CreditBytes, record)+record-Line+g.Publish {
			t.Fatalf("%+v gives %+v: the loan does not fit", cfg, g)
		}
		if g.Cap-Line-g.ReqLimit < max(cfg.ReplySpace, record) {
			t.Fatalf("%+v gives %+v: replies do not fit", cfg, g)
		}
	}
}

func TestNextBit(t *testing.T) {
	r := random(t)
	for range 3000 {
		var todo [64]uint64
		var summary uint64
		want := map[int]bool{}
		for range 1 + r.IntN(6) {
			i := r.IntN(maxRanks)
			todo[i>>6] |= 1 << (i & 63)
			summary |= 1 << (i >> 6)
			want[i] = true
		}
		for range 10 {
			from := r.IntN(maxRanks + 1)
			i := from % maxRanks
			for !want[i] {
				i = (i + 1) % maxRanks
			}
			if got := next(&todo, summary, from); got != i {
				t.Fatalf("next from %d is %d, want %d of %v", from, got, i, want)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(slotHead{}); n != Line {
		t.Errorf("slot header takes %d bytes", n)
	}
	if n := unsafe.Sizeof(segHeader{}); n > bellAt {
		t.Errorf("segment header takes %d bytes and runs into the bell", n)
	}
	if wordsAt+64*8 > pageBytes || dataAt%Line != 0 {
		t.Error("the header page overflows")
	}
}
