package exit

import (
	"flag"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/transport/badnet"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the randomised tests; 0: a new one")

// seeded returns a source of random numbers and prints how to have the same again.
func seeded(t testing.TB) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed=%d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// The times of the simulation.
const (
	simSettle  = 50 * time.Millisecond
	simLimit   = 5 * time.Minute
	simLatency = time.Millisecond // the longest way of a message
	simProbe   = 20 * time.Millisecond
)

// event is something that happens to a rank.
type event struct {
	rank int
	do   func(m *Machine) []Action // nil: the rank dies
}

// sim is a job in virtual time.
type sim struct {
	rng   *rand.Rand
	now   time.Time
	queue badnet.Queue[event] // by time since epoch
	ranks []*Machine
	sent  []int // messages by rank
	dead  []bool
	ended []*Action // by rank
	last  time.Time // when the last rank ended
}

var epoch = time.Unix(1000, 0)

func newSim(t testing.TB, n int, rng *rand.Rand) *sim {
	t.Helper()
	s := &sim{rng: rng, now: epoch, sent: make([]int, n), dead: make([]bool, n), ended: make([]*Action, n)}
	for r := range n {
		m, err := New(Config{Rank: r, Size: n, Settle: simSettle, Limit: simLimit})
		if err != nil {
			t.Fatal(err)
		}
		s.ranks = append(s.ranks, m)
	}
	return s
}

func (s *sim) at(after time.Duration, rank int, do func(m *Machine) []Action) {
	s.queue.Push(s.now.Add(after).Sub(epoch), event{rank, do})
}

func (s *sim) exit(after time.Duration, rank, code int) {
	s.at(after, rank, func(m *Machine) []Action { return m.Exit(s.now, code) })
}

func (s *sim) kill(after time.Duration, rank int) { s.at(after, rank, nil) }

func (s *sim) latency() time.Duration { return time.Duration(s.rng.Int64N(int64(simLatency))) + 1 }

func (s *sim) run() {
	for s.queue.Len() > 0 {
		e, due, _ := s.queue.Pop(math.MaxInt64)
		s.now = epoch.Add(due)
		switch {
		case s.dead[e.rank] || s.ended[e.rank] != nil:
		case e.do == nil:
			s.dead[e.rank] = true
		default:
			s.step(e.rank, e.do)
		}
	}
}

// step has something happen to a rank and does what its machine wants done.
func (s *sim) step(r int, do func(m *Machine) []Action) {
	m := s.ranks[r]
	before, was := m.Deadline()
	waited, wait := m.Waiting()
	for _, a := range do(m) {
		switch a.Kind {
		case Send:
			s.sent[r]++
			s.at(s.latency(), a.To, func(m *Machine) []Action { return m.Take(s.now, r, a.Msg) })
		default:
			s.ended[r], s.last = &a, s.now
		}
	}
	if at, ok := m.Deadline(); ok && (!was || at != before) {
		s.at(at.Sub(s.now), r, func(m *Machine) []Action { return m.Tick(s.now) })
	}
	if to, ok := m.Waiting(); ok && (!wait || to != waited) {
		s.at(simProbe, r, func(m *Machine) []Action { return s.probe(r, to) })
	}
}

// probe looks after the rank that r waits for, as long as it does.
func (s *sim) probe(r, to int) []Action {
	m := s.ranks[r]
	if now, ok := m.Waiting(); !ok || now != to {
		return nil
	}
	if s.dead[to] {
		return m.Died(to)
	}
	s.at(simProbe, r, func(m *Machine) []Action { return s.probe(r, to) })
	return nil
}

// check looks at how every living rank has ended.
func (s *sim) check(t testing.TB, want func(v Verdict) bool) {
	t.Helper()
	most := 2 * bits.Len(uint(len(s.ranks)-1))
	for r, a := range s.ended {
		switch {
		case s.sent[r] > most:
			t.Fatalf("rank %d of %d sent %d messages, the most is %d", r, len(s.ranks), s.sent[r], most)
		case s.dead[r]:
		case a == nil:
			t.Fatalf("rank %d of %d has not ended", r, len(s.ranks))
		case a.Kind != Finish || !want(a.Verdict):
			t.Fatalf("rank %d of %d ended with %+v", r, len(s.ranks), *a)
		}
	}
}

// TestSimulation: some ranks, or all, call for the end with different codes, at about the same time; everybody ends
// with the greatest, soon, with few messages.
func TestSimulation(t *testing.T) {
	rng := seeded(t)
	sizes := []int{1, 2, 3, 4, 5, 7, 8, 64, 100, 1000, 1024}
	if !invariants.Race { // which finds nothing in one goroutine, but takes its time
		sizes = append(sizes, 4097, 10_000)
	}
	for _, n := range sizes {
		for _, callers := range []int{1, min(n, 7), n} {
			t.Run(fmt.Sprintf("ranks=%d/callers=%d", n, callers), func(t *testing.T) {
				s := newSim(t, n, rng)
				best := none
				for _, r := range rng.Perm(n)[:callers] {
					code := rng.IntN(256)
					s.exit(time.Duration(rng.Int64N(int64(simSettle/2))), r, code)
					best = worseOf(best, Verdict{uint8(code), r})
				}
				s.run()
				s.check(t, func(v Verdict) bool { return v == best })
				hops := time.Duration(bits.Len(uint(n - 1)))
				if took, most := s.last.Sub(epoch), simSettle/2+simSettle+2*hops*simLatency; took > most {
					t.Errorf("it took %v, the most is %v", took, most)
				}
			})
		}
	}
}

// TestSimulationLosses: ranks die at any moment, among them those that have called for the end and those that pass
// the news on; the others end all the same.
func TestSimulationLosses(t *testing.T) {
	rng := seeded(t)
	for _, n := range []int{4, 16, 64, 1000, 10_000} {
		for round := range max(1, 300/n) {
			s := newSim(t, n, rng)
			who := rng.Perm(n)
			const code = 5
			s.exit(0, who[0], code)
			losses := 1 + rng.IntN(bits.Len(uint(n-1))/2)
			for _, r := range who[1 : 1+losses] {
				s.kill(time.Duration(rng.Int64N(int64(2*simSettle))), r)
			}
			s.run()
			s.check(t, func(v Verdict) bool { return v.Code == code })
			if s.last.Sub(epoch) > 10*time.Second {
				t.Errorf("round %d: %d of %d ranks lost: it took %v", round, losses, n, s.last.Sub(epoch))
			}
		}
	}
}

// TestSimulationStopped: a rank that neither dies nor answers has the others give up when their time is over.
func TestSimulationStopped(t *testing.T) {
	const n, stopped = 16, 5
	s := newSim(t, n, seeded(t))
	s.at(0, stopped, func(*Machine) []Action {
		s.ended[stopped] = &Action{}
		return nil
	})
	s.exit(time.Millisecond, 0, 3)
	s.run()
	for r, a := range s.ended {
		if r != stopped && (a == nil || a.Kind != GiveUp || a.Verdict.Code != 3) {
			t.Errorf("rank %d: %+v", r, a)
		}
	}
}

// TestSimulationAbort: an abort reaches everybody, whatever else is under way.
func TestSimulationAbort(t *testing.T) {
	rng := seeded(t)
	for _, n := range []int{2, 3, 64, 1000} {
		s := newSim(t, n, rng)
		s.exit(0, rng.IntN(n), 3)
		s.at(time.Millisecond/2, rng.IntN(n), func(m *Machine) []Action { return m.Abort(s.now, 9) })
		s.run()
		for r, a := range s.ended {
			if a == nil || a.Kind != Finish || a.Verdict.Code != 9 {
				t.Fatalf("rank %d of %d: %+v", r, n, a)
			}
			if most := 3 * bits.Len(uint(n-1)); s.sent[r] > most {
				t.Fatalf("rank %d of %d sent %d messages, the most is %d", r, n, s.sent[r], most)
			}
		}
	}
}
