package ring

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/golci/golci/conduit"
)

// idle is a bell for endpoints that nobody sleeps at.
type idle struct{}

func (idle) Fence() bool                        { return true }
func (idle) Wait(*atomic.Uint32, time.Duration) {}
func (idle) Ring(*atomic.Uint32)                {}

// node makes endpoints over heap memory, and gives access to their segments.
func node(t *testing.T, n int, cfg conduit.Config) ([]*Endpoint, []*Segment) {
	g := geometry(t, cfg, n)
	s := Setup{Name: "test", Size: n, Memory: nowhere{}}
	for i := range n {
		seg, err := NewSegment(conduit.HeapMemory(g.Size()), g, i)
		if err != nil {
			t.Fatal(err)
		}
		s.Segments, s.Ranks, s.Bells = append(s.Segments, seg), append(s.Ranks, i), append(s.Bells, idle{})
	}
	es := make([]*Endpoint, n)
	for i := range n {
		s.Rank, s.Self = i, i
		var err error
		if es[i], err = NewEndpoint(s); err != nil {
			t.Fatal(err)
		}
	}
	return es, s.Segments
}

func put(t *testing.T, e *Endpoint, peer, n int) {
	if _, st := e.Reserve(peer, conduit.Request, n); st != conduit.OK {
		t.Fatalf("Reserve: %v", st)
	}
	e.Commit(peer, uint64(n))
}

// TestCorruptSender has rank 1 write nonsense into its part of rank 0's segment. Rank 0 must name it, and go on with
// rank 2.
func TestCorruptSender(t *testing.T) {
	first := func(v uint64) func(pair) {
		return func(p pair) { *(*uint64)(unsafe.Pointer(&p.data[64])) = v }
	}
	for name, spoil := range map[string]func(pair){
		"short":         first(7),
		"one":           first(1),
		"long":          first(8193 + 256),
		"beyond":        first(1<<31 - 1),
		"pad too long":  first(padFlag | 1<<30),
		"pad too short": first(padFlag | 64),
		"pad of none":   first(padFlag),
		"bulk counter":  func(p pair) { p.sent.Store(9) },
		"bulk back":     func(p pair) { p.sent.Store(^uint64(0)) },
		"bulk size": func(p pair) {
			(*slotHead)(unsafe.Pointer(&p.slots[0])).size = 32<<10 + 1
			p.sent.Store(1)
		},
		"bulk size negative": func(p pair) {
			(*slotHead)(unsafe.Pointer(&p.slots[0])).size = ^uint64(0)
			p.sent.Store(1)
		},
	} {
		for _, scan := range []int{8, -1} {
			t.Run(fmt.Sprintf("%s/scan=%d", name, scan), func(t *testing.T) {
				es, segs := node(t, 3, conduit.Config{ScanLimit: scan})
				put(t, es[1], 0, 64) // makes rank 1's first record end at 64
				spoil(segs[0].pair(1))
				put(t, es[2], 0, 64)
				c := &collect{}
				for range 5 {
					es[0].Poll(10, c)
				}
				if len(c.recs) != 2 {
					t.Errorf("%d records, want the two good ones", len(c.recs))
				}
				var pe *conduit.PeerError
				if err := es[0].Failed(1); !errors.Is(err, conduit.ErrCorrupt) || !errors.As(err, &pe) || pe.Peer != 1 {
					t.Errorf("Failed(1) = %v", err)
				}
				if err := es[0].Failed(2); err != nil {
					t.Errorf("Failed(2) = %v", err)
				}
				if es[0].Pending() {
					t.Error("the corrupt ring is still pending")
				}
				put(t, es[2], 0, 64)
				if n := es[0].Poll(10, c); n != 1 {
					t.Errorf("then %d records from rank 2", n)
				}
			})
		}
	}
}

// TestPadOfAll has rank 1 write a pad as long as the ring, which leads back to itself. Rank 0 must not go round for
// ever.
func TestPadOfAll(t *testing.T) {
	es, segs := node(t, 2, conduit.Config{})
	put(t, es[1], 0, 64)
	data := segs[0].pair(1).data
	*(*uint64)(unsafe.Pointer(&data[0])) = padFlag | uint64(len(data))
	c := &collect{}
	es[0].Poll(10, c)
	if err := es[0].Failed(1); !errors.Is(err, conduit.ErrCorrupt) || len(c.recs) != 0 {
		t.Errorf("Failed(1) = %v, %d records", err, len(c.recs))
	}
}

// TestCorruptReceiver has rank 1 report impossible progress to rank 0.
func TestCorruptReceiver(t *testing.T) {
	for name, head := range map[string]uint64{"ahead": 1 << 40, "behind": ^uint64(100), "a little ahead": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			es, segs := node(t, 2, conduit.Config{})
			segs[1].pair(0).head.Store(head)
			for i := 0; ; i++ {
				_, st := es[0].Reserve(1, conduit.Request, 64)
				if st == conduit.Dead {
					break
				}
				if st != conduit.OK || i > 1<<20 {
					t.Fatalf("after %d records: %v", i, st)
				}
				es[0].Commit(1, 64)
			}
			if err := es[0].Failed(1); !errors.Is(err, conduit.ErrCorrupt) {
				t.Errorf("Failed(1) = %v", err)
			}
		})
	}
	t.Run("bulk", func(t *testing.T) {
		es, segs := node(t, 2, conduit.Config{})
		segs[1].pair(0).taken.Store(1 << 40)
		data := make([]byte, 10*defaultChunk)
		if n, _ := es[0].BulkSend(1, 0, 0, data, nil); n != -1 {
			t.Errorf("BulkSend: %d", n)
		}
		if err := es[0].Failed(1); !errors.Is(err, conduit.ErrCorrupt) {
			t.Errorf("Failed(1) = %v", err)
		}
	})
}

// TestCorruptMail has bits set for senders that do not exist.
func TestCorruptMail(t *testing.T) {
	es, segs := node(t, 2, conduit.Config{ScanLimit: -1})
	for _, i := range []int{2, 63, 64, maxRanks - 1} {
		segs[0].mail.setMail(i)
	}
	put(t, es[1], 0, 64)
	c := &collect{}
	if n := es[0].Poll(10, c); n != 1 || es[0].Pending() {
		t.Errorf("Poll: %d, pending %v", n, es[0].Pending())
	}
	scan, segs := node(t, 2, conduit.Config{})
	segs[0].senders.Store(^uint64(0))
	put(t, scan[1], 0, 64)
	if n := scan[0].Poll(10, c); n != 1 || scan[0].Pending() {
		t.Errorf("Poll: %d, pending %v", n, scan[0].Pending())
	}
}

func TestAttachChecksHeader(t *testing.T) {
	g := geometry(t, conduit.Config{}, 2)
	mem := conduit.HeapMemory(g.Size())
	if _, err := AttachSegment(mem, g, 0); err == nil {
		t.Error("attached to zeros")
	}
	if _, err := NewSegment(mem, g, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := AttachSegment(mem, g, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := AttachSegment(mem, g, 1); err == nil {
		t.Error("attached to another rank's segment")
	}
	if _, err := AttachSegment(mem[:len(mem)-pageBytes], g, 0); err == nil {
		t.Error("attached to a short segment")
	}
	if _, err := AttachSegment(conduit.HeapMemory(g.Size() + 8)[8:], g, 0); err == nil {
		t.Error("attached to misaligned memory")
	}
	for i := range int(unsafe.Sizeof(segHeader{})) {
		mem[i] ^= 4
		if _, err := AttachSegment(mem, g, 0); err == nil {
			t.Errorf("attached with byte %d of the header changed", i)
		}
		mem[i] ^= 4
	}
}

func TestBadSetup(t *testing.T) {
	_, segs := node(t, 2, conduit.Config{})
	ok := Setup{Size: 2, Ranks: []int{0, 1}, Segments: segs, Bells: []Bell{idle{}, idle{}}}
	for name, edit := range map[string]func(*Setup){
		"self":     func(s *Setup) { s.Self = 2 },
		"twice":    func(s *Setup) { s.Ranks = []int{1, 1} },
		"outside":  func(s *Setup) { s.Ranks = []int{0, 2} },
		"bells":    func(s *Setup) { s.Bells = s.Bells[:1] },
		"segments": func(s *Setup) { s.Segments = s.Segments[:1] },
	} {
		s := ok
		edit(&s)
		if _, err := NewEndpoint(s); !errors.Is(err, conduit.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// nowhere is the Memory of a conduit that reaches none.
type nowhere struct{ Memory }

func (nowhere) Reach(int) conduit.Reach { return conduit.Reach{} }
func (nowhere) Close() error            { return nil }
