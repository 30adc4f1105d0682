package realm

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/space"
)

// hostile makes up messages that no rank of the same program sends.
type hostile struct {
	*rand.Rand
	words    []uint64 // numbers that mean something
	payloads [][]byte // of messages that can be
}

func (h *hostile) word() uint64 {
	switch h.IntN(6) {
	case 0:
		return h.Uint64()
	case 1:
		return uint64(h.IntN(8))
	case 2:
		return ^uint64(0) >> h.IntN(64)
	case 3:
		return h.words[h.IntN(len(h.words))] ^ 1<<h.IntN(64)
	}
	return h.words[h.IntN(len(h.words))]
}

func (h *hostile) args() (args []uint64) {
	for range h.IntN(10) {
		args = append(args, h.word())
	}
	return args
}

func (h *hostile) payload() []byte {
	switch h.IntN(4) {
	case 0:
		return nil
	case 1:
		b := make([]byte, h.IntN(100))
		for i := range b {
			b[i] = byte(h.Uint32())
		}
		return b
	}
	b := append([]byte(nil), h.payloads[h.IntN(len(h.payloads))]...)
	for range h.IntN(3) {
		b[h.IntN(len(b))] ^= 1 << h.IntN(8)
	}
	if h.IntN(3) == 0 {
		b = b[:h.IntN(len(b)+1)]
	}
	return b
}

// seedOf is the seed of a random test: that of the environment, for a replay, or another one each time.
func seedOf(t *testing.T) uint64 {
	seed := rand.Uint64()
	if s := os.Getenv("GOLCI_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("GOLCI_TEST_SEED=%d", seed)
	return seed
}

// TestHostileMessages: whatever another rank sends, no handler panics, and what cannot be is refused by an error that
// names that rank.
func TestHostileMessages(t *testing.T) {
	h := &hostile{Rand: rand.New(rand.NewPCG(seedOf(t), 1))}
	rounds := 40_000
	if testing.Short() {
		rounds = 4_000
	}
	end := errors.New("the end") // the counts of messages are wrong now, so there is nothing to wait for
	ready, release := make(chan struct{}), make(chan struct{})
	var refused atomic.Int64
	err := Run(2, func(rt *Runtime) error {
		rt.ev.Fault = func(err error) {
			refused.Add(1)
			if !strings.Contains(err.Error(), "rank") {
				t.Errorf("no rank is named: %v", err)
			}
		}
		if rt.Rank() == 0 {
			close(ready)
			<-release
			return end
		}
		defer close(release)
		<-ready
		h.know(t, rt)
		token := new(am.Token) // of rank 0
		specs := rt.layer().Handlers[:events.HEnds-First+1]
		for range rounds {
			x, args, payload := specs[h.IntN(len(specs))], h.args(), h.payload()
			if !attack(t, x.Name, func() { x.Run(token, args, payload) }) {
				t.Logf("%s of %#x and %x", x.Name, args, payload)
				return end
			}
			if h.IntN(20) == 0 {
				attack(t, "bulk", func() { rt.ev.OnBulk(0, h.word(), int64(h.word()), payload, nil) })
			}
			var ins []uint64
			rt.ev.Ins.Each(func(n uint64, _ *events.Incoming) { ins = append(ins, n) })
			for _, n := range ins { // they hold much memory
				rt.ev.Ins.Remove(n)
			}
		}
		return end
	})
	if !errors.Is(err, end) {
		t.Error(err)
	}
	if refused.Load() < int64(rounds/10) {
		t.Errorf("%d of %d messages were refused", refused.Load(), rounds)
	}
}

// attack tells whether f does not panic.
func attack(t *testing.T, what string, f func()) (ok bool) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("%s panics: %v\n%s", what, v, debug.Stack())
			ok = false
		}
	}()
	f()
	return true
}

// know finds numbers and payloads that mean something on rank 1.
func (h *hostile) know(t *testing.T, rt *Runtime) {
	u := rt.NewUserEvent()
	b, err := NewBarrier(rt, 3, addInts)
	must(t, err)
	r, err := NewReservation[[16]byte](rt)
	must(t, err)
	in, err := NewArray[int64](rt, rt.Memory(System), Range(0, 50))
	must(t, err)
	h.words = []uint64{
		0, 1, uint64(u.Event()), uint64(u.Event()) + 1, uint64(b.Event()), uint64(r.ID()), uint64(in.id),
		uint64(makeInstanceID(0)), uint64(rt.CPU(0)), uint64(rt.Utility()), uint64(rt.IO()), uint64(ProcessorOf(0)),
		uint64(event.MakeEvent(0, 3, 1)), uint64(event.MakeBarrier(0, 0, 1)), uint64(event.MakeReservation(0, 1)),
	}
	half := Range(3, 20)
	for _, kind := range []jobKind{jobCopy, jobGather, jobScatter, jobFill, jobDestroy} {
		for _, points := range []*Space{nil, &half} {
			for _, dst := range []InstanceID{in.id, makeInstanceID(0)} {
				j := Part{points, []Pair{{}}}.job(kind, Instance{rt, dst}, in, IndexList([]int64{1, 2, 30}))
				j.finish, j.value = event.MakeEvent(0, 3, 1), make([]byte, 8)
				h.payloads = append(h.payloads, j.encode(0))
				j.pairs = nil
				h.payloads = append(h.payloads, j.encode(0))
			}
		}
	}
	h.payloads = append(h.payloads, rt.ev.FaultPoison(errTest).Append(nil), make([]byte, 40), make([]byte, 8),
		space.AppendSpace(nil, half))
}

func makeInstanceID(rank int) InstanceID { return 0x0C<<56 | InstanceID(rank)<<40 | 1<<20 | 1 }
