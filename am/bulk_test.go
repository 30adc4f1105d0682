package am

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/internal/test/fault"
	"github.com/golci/golci/internal/test/mixedtest"
)

// scatter delivers bulk data as a network may: each chunk in pieces, in any order and late. It keeps the order of
// records.
type scatter struct {
	conduit.Conduit
	late atomic.Int32 // pieces held
	poll spin.Lock
	// Under poll.
	dice *rand.Rand
	held []piece
	sink conduit.Sink
}

type piece struct {
	src  int
	id   uint64
	off  int64
	data []byte
}

func newScatter(c conduit.Conduit, seed uint64) *scatter {
	return &scatter{Conduit: c, dice: rand.New(rand.NewPCG(seed, uint64(c.Rank())))}
}

// Caps implements conduit.Conduit.
func (s *scatter) Caps() conduit.Caps {
	c := s.Conduit.Caps()
	c.Ordered = false
	return c
}

// Poll implements conduit.Conduit.
func (s *scatter) Poll(budget int, sink conduit.Sink) int {
	if !s.poll.TryLock() {
		return -1
	}
	defer s.poll.Unlock()
	s.sink = sink
	n := s.Conduit.Poll(budget, (*scattering)(s))
	for len(s.held) > 0 && s.dice.IntN(4) > 0 {
		i := s.dice.IntN(len(s.held))
		p := s.held[i]
		s.held[i] = s.held[len(s.held)-1]
		s.held = s.held[:len(s.held)-1]
		sink.Bulk(p.src, p.id, p.off, p.data)
		n++
	}
	s.late.Store(int32(len(s.held)))
	return n
}

// scattering is the sink between the conduit inside and the caller's.
type scattering scatter

// Record implements conduit.Sink.
func (s *scattering) Record(src int, rec []byte) { s.sink.Record(src, rec) }

// Bulk implements conduit.Sink.
func (s *scattering) Bulk(src int, id uint64, off int64, chunk []byte) {
	for len(chunk) > 0 {
		n := 1 + s.dice.IntN(len(chunk))
		s.held = append(s.held, piece{src, id, off, append([]byte(nil), chunk[:n]...)})
		chunk, off = chunk[n:], off+int64(n)
	}
}

// Gone implements conduit.Sink.
func (s *scattering) Gone(peer int, err error) { s.sink.Gone(peer, err) }

// Pending implements conduit.Conduit.
func (s *scatter) Pending() bool { return s.late.Load() > 0 || s.Conduit.Pending() }

// Sleep implements conduit.Conduit.
func (s *scatter) Sleep(d time.Duration, ready func() bool) bool {
	if s.late.Load() > 0 {
		return true
	}
	return s.Conduit.Sleep(d, ready)
}

// scattered are kinds of conduit whose bulk data come in pieces of any length and in any order, before and after
// records.
func scattered(seed uint64) []variant {
	disorder := fault.Config{Seed: seed, Hold: 300, Reorder: true}
	return []variant{
		{name: "scattered", make: func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
			cs := (&variant{cfg: cfg}).conduits(t, n)
			for i, c := range cs {
				cs[i] = newScatter(fault.New(c, disorder), seed)
			}
			return cs
		}},
		{name: "mixed", make: func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
			return mixedtest.Local(t, n, cfg, mixedtest.Parity, func(c conduit.Conduit) conduit.Conduit {
				return newScatter(wordless{fault.New(c, disorder)}, seed)
			})
		}},
		{name: "mixed, small", cfg: conduit.Config{BulkChunk: 200, BulkSlots: 3}, make: func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
			return mixedtest.Local(t, n, cfg, mixedtest.Twos, func(c conduit.Conduit) conduit.Conduit {
				return newScatter(wordless{fault.New(c, disorder)}, seed)
			})
		}},
	}
}

// TestLongsInPieces has every rank send every rank Longs at once, most of them split, over conduits that deliver them
// in pieces and out of order. Each handler must see the whole payload, once.
func TestLongsInPieces(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, v := range scattered(seed) {
		t.Run(v.name, func(t *testing.T) { longsInPieces(t, v, seed) })
	}
}

func longsInPieces(t *testing.T, v variant, seed uint64) {
	const ranks, senders, room = 4, 2, 40 << 10
	each := 12 // to each rank
	if invariants.Race {
		each = 3 // the pieces of small chunks are many
	}
	total := int64(ranks * ranks * senders * each)
	es := endpoints(t, ranks, v, Config{})
	var got, answered atomic.Int64
	register(t, es, 1, Spec{Name: "long", MaxReply: 0, Run: func(tok *Token, a []uint64, p []byte) {
		if uint64(len(p)) != a[0] || sum(nil, p) != a[1] {
			t.Errorf("a Long of %d bytes from rank %d came damaged, with %d bytes", a[0], tok.Source(), len(p))
		}
		got.Add(1)
		if err := tok.ReplyShort(2); err != nil {
			t.Error(err)
		}
	}})
	register(t, es, 2, Spec{Name: "done", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) { answered.Add(1) }})
	for _, e := range es {
		e.SetSegment(make([]byte, ranks*senders*each*room))
	}
	defer attend(es...)()
	var wg sync.WaitGroup
	for i := range ranks * senders {
		dice := rand.New(rand.NewPCG(seed, uint64(i)))
		wg.Go(func() {
			for k := range each * ranks {
				p := fill(dice.IntN(room), i+k)
				place := int64(i*each+k/ranks) * room // of its own
				if err := es[i%ranks].RequestLong(k%ranks, 1, p, place, uint64(len(p)), sum(nil, p)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	eventually(t, "replies", func() bool { return answered.Load() == total })
	if n := got.Load(); n != total {
		t.Errorf("%d Longs of %d arrived", n, total)
	}
	halvesLeft(t, es...)
}

// TestTooMuchPayload: a peer that sends more bytes for a Long than it announced is found out.
func TestTooMuchPayload(t *testing.T) {
	for _, first := range []string{"request", "payload"} {
		t.Run(first+" first", func(t *testing.T) {
			var faults []error
			es := endpoints(t, 2, variants[0], Config{Fatal: func(err error) { faults = append(faults, err) }})
			es[1].SetSegment(make([]byte, 100))
			register(t, es, 1, Spec{Name: "h", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) { t.Error("the handler ran") }})
			request := func() {
				m := message{flags: flagLong | flagSplit, nprefix: 3, prefix: [3]uint64{0, 10, 1}}
				if err := es[0].requestMessage(1, 1, nil, m); err != nil {
					t.Error(err)
				}
			}
			payload := func() { es[0].c.BulkSend(1, channelLongs<<channelShift|1, 0, make([]byte, 11), nil) }
			steps := []func(){request, payload}
			if first == "payload" {
				steps = []func(){payload, request}
			}
			for _, step := range steps {
				step()
				es[1].Poll()
			}
			if len(faults) != 1 || !errors.Is(faults[0], ErrSize) || !strings.Contains(faults[0].Error(), "from rank 0") {
				t.Errorf("faults %v", faults)
			}
		})
	}
}
