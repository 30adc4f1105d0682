package barrier

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/fault"
	"github.com/golci/golci/internal/transport/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// job is n ranks of this process with a barrier each.
type job struct {
	cs []conduit.Conduit
	es []*am.Endpoint
	bs []*Barrier
}

type option func(rank int, c conduit.Conduit, cfg *am.Config) conduit.Conduit

func newJob(t testing.TB, n int, cc conduit.Config, opts ...option) *job {
	t.Helper()
	cs, err := local.New(n, cc)
	if err != nil {
		t.Fatal(err)
	}
	j := &job{cs: cs}
	for i, c := range cs {
		cfg := am.Config{Fatal: func(err error) { t.Errorf("fatal: %v", err) }}
		for _, o := range opts {
			c = o(i, c, &cfg)
		}
		e, err := am.New(c, cfg)
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(e)
		if err != nil {
			t.Fatal(err)
		}
		j.es, j.bs = append(j.es, e), append(j.bs, b)
	}
	t.Cleanup(func() {
		for i, e := range j.es {
			e.Close()
			if err := j.cs[i].Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return j
}

// each runs f for all ranks at once, and joins their errors. A rank that is done polls until all are, because its last
// message may be in the queue.
func (j *job) each(f func(rank int, b *Barrier) error) error {
	errs := make([]error, len(j.bs))
	var wg sync.WaitGroup
	var done atomic.Int64
	for r, b := range j.bs {
		wg.Go(func() {
			errs[r] = f(r, b)
			for done.Add(1); done.Load() < int64(len(j.bs)); runtime.Gosched() {
				b.e.Poll()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func TestNobodyLeavesBeforeAllHaveCome(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 13} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			j := newJob(t, n, conduit.Config{})
			var come atomic.Int64
			err := j.each(func(_ int, b *Barrier) error {
				for i := range 50 {
					come.Add(1)
					if err := b.Enter(uint64(i), Named); err != nil {
						return err
					}
					if got := come.Load(); got < int64(n*(i+1)) {
						return fmt.Errorf("phase %d is over with %d arrivals", i, got)
					}
					if id, named := b.Result(); id != uint64(i) || !named {
						return fmt.Errorf("phase %d: result %d, %v", i, id, named)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestMergeIsASemilattice: order and repetition of votes must not matter.
func TestMergeIsASemilattice(t *testing.T) {
	votes := []vote{{}, {kind: anonymous}, {named, 1}, {named, 2}, {kind: mismatched}, {failed, 3}, {failed, 4}}
	for _, a := range votes {
		if mergeVotes(a, a) != a {
			t.Errorf("%v twice is %v", a, mergeVotes(a, a))
		}
		for _, b := range votes {
			if mergeVotes(a, b) != mergeVotes(b, a) {
				t.Errorf("%v and %v: %v, the other way round %v", a, b, mergeVotes(a, b), mergeVotes(b, a))
			}
			for _, c := range votes {
				if x, y := mergeVotes(mergeVotes(a, b), c), mergeVotes(a, mergeVotes(b, c)); x != y {
					t.Errorf("%v, %v, %v: %v or %v", a, b, c, x, y)
				}
			}
		}
	}
}

func TestCallsOutOfOrder(t *testing.T) {
	b := newJob(t, 1, conduit.Config{}).bs[0]
	want := func(what string, err, kind error) {
		t.Helper()
		if !errors.Is(err, kind) {
			t.Errorf("%s: %v, want %v", what, err, kind)
		}
	}
	_, err := b.Try(0, Named)
	want("Try without Notify", err, ErrOrder)
	want("Wait without Notify", b.Wait(0, Named), ErrOrder)
	want("Notify", b.Notify(0, Named), nil)
	want("second Notify", b.Notify(0, Named), ErrOrder)
	want("Wait", b.Wait(0, Named), nil)
	want("second Wait", b.Wait(0, Named), ErrOrder)
	want("flags of Notify", b.Notify(0, 4), ErrFlags)
	want("flags of Wait", b.Wait(0, 4), ErrFlags)
	if _, err := New(b.e); err == nil {
		t.Error("an endpoint got two barriers")
	}
}

// TestCallsInHandlersAreRefused: handlers of requests and of replies cannot take part in a barrier.
func TestCallsInHandlersAreRefused(t *testing.T) {
	j := newJob(t, 1, conduit.Config{})
	b, ran := j.bs[0], 0
	try := func(where string) {
		_, err := b.Try(0, Anonymous)
		for what, err := range map[string]error{
			"Notify": b.Notify(0, Anonymous), "Wait": b.Wait(0, Anonymous), "Try": err,
		} {
			if !errors.Is(err, am.ErrContext) {
				t.Errorf("%s in a handler of a %s: %v", what, where, err)
			}
		}
		ran++
	}
	for index, s := range map[uint8]am.Spec{
		1: {Name: "ask", Run: func(tok *am.Token, _ []uint64, _ []byte) {
			try("request")
			if err := tok.ReplyShort(2); err != nil {
				t.Error(err)
			}
		}},
		2: {Name: "answer", MaxReply: am.NoReply, Run: func(*am.Token, []uint64, []byte) { try("reply") }},
	} {
		if err := j.es[0].Register(index, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.es[0].RequestShort(0, 1); err != nil {
		t.Fatal(err)
	}
	for ran < 2 {
		j.es[0].Poll()
	}
}

// TestTwoWaiters: the second is told so, and the first is not disturbed.
func TestTwoWaiters(t *testing.T) {
	j := newJob(t, 2, conduit.Config{})
	b := j.bs[0]
	if err := b.Notify(1, Named); err != nil {
		t.Fatal(err)
	}
	first := make(chan error)
	go func() { first <- b.Wait(1, Named) }()
	for {
		b.mu.Lock()
		s := b.state
		b.mu.Unlock()
		if s == waiting {
			break
		}
		runtime.Gosched()
	}
	if err := b.Wait(1, Named); !errors.Is(err, ErrOrder) {
		t.Errorf("second waiter: %v", err)
	}
	if err := j.bs[1].Enter(1, Named); err != nil {
		t.Error(err)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// TestPhaseNumbersWrap begins just before they do.
func TestPhaseNumbersWrap(t *testing.T) {
	j := newJob(t, 3, conduit.Config{})
	for _, b := range j.bs {
		b.phase = ^uint32(0) - 3
	}
	if err := j.each(func(_ int, b *Barrier) error {
		for i := range 10 {
			if err := b.Enter(uint64(i), Named); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := j.bs[0].phase; got != 6 {
		t.Errorf("phase %d", got)
	}
}

// TestFaultyAndNarrow has ranks notify, dawdle and wait or try at random, over conduits that reorder and refuse.
func TestFaultyAndNarrow(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	faulty := func(rank int, c conduit.Conduit, _ *am.Config) conduit.Conduit {
		return fault.New(c, fault.Config{Seed: seed + uint64(rank), Refuse: 100, Hold: 200, Reorder: true, Startle: 100})
	}
	for _, tiny := range []bool{false, true} {
		j := newJob(t, 5, conduit.Config{TinyQueues: tiny}, faulty)
		if err := j.each(func(r int, b *Barrier) error {
			rng := rand.New(rand.NewPCG(seed, uint64(r)))
			for i := range 100 {
				if err := b.Notify(uint64(i), Named); err != nil {
					return err
				}
				if err := waitSomehow(b, uint64(i), rng); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func waitSomehow(b *Barrier, id uint64, rng *rand.Rand) error {
	for range rng.IntN(4) {
		b.e.Poll()
	}
	if rng.IntN(2) == 0 {
		return b.Wait(id, Named)
	}
	for {
		if over, err := b.Try(id, Named); over || err != nil {
			return err
		}
		runtime.Gosched()
	}
}

// TestFultThreads has a thread of each rank wait, and other threads of the same worker run meanwhile.
func TestFultThreads(t *testing.T) {
	const n = 2
	scheds := make([]*fult.Scheduler, n)
	j := newJob(t, n, conduit.Config{}, func(r int, c conduit.Conduit, cfg *am.Config) conduit.Conduit {
		s, err := fult.New(fult.Config{})
		if err != nil {
			t.Fatal(err)
		}
		scheds[r], cfg.Scheduler = s, s
		return c
	})
	for r, s := range scheds {
		if err := s.SetPoller(j.es[r].Progress().Poller()); err != nil {
			t.Fatal(err)
		}
	}
	var beside atomic.Int64
	for r, s := range scheds {
		done := false // only the worker's threads look at it
		if _, err := s.Go(func(*fult.Thread) {
			for i := range 30 {
				if err := j.bs[r].Enter(uint64(i), Named); err != nil {
					t.Error(err)
				}
			}
			done = true
		}); err != nil {
			t.Fatal(err)
		}
		if s.Kind() != fult.Fult {
			continue
		}
		if _, err := s.Go(func(th *fult.Thread) {
			for !done {
				beside.Add(1)
				th.Yield()
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	for r, s := range scheds {
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if s.Kind() == fult.Fult && beside.Load() == 0 {
			t.Errorf("rank %d: no other thread ran", r)
		}
	}
}

// TestPeerDies: a peer dies before or after its Notify. The ranks that are in the phase with it get an error, and so do
// those that have left the phase before. After its Notify some ranks end the phase rightly. They must not wait for the
// others.
func TestPeerDies(t *testing.T) {
	var wg sync.WaitGroup
	for _, n := range []int{2, 3, 4, 5, 8} {
		for dead := range n {
			for _, notifies := range []bool{false, true} {
				j := newJob(t, n, conduit.Config{})
				wg.Go(func() { // a case is mostly sleep
					if err := peerDies(j, dead, notifies); err != nil {
						t.Errorf("rank %d of %d dies, having notified %v: %v", dead, n, notifies, err)
					}
				})
			}
		}
	}
	wg.Wait()
}

func peerDies(j *job, dead int, notifies bool) error {
	return j.each(func(r int, b *Barrier) error {
		if err := b.Enter(1, Named); err != nil {
			return fmt.Errorf("rank %d: before: %w", r, err)
		}
		if r == dead {
			if notifies {
				if err := b.Notify(2, Named); err != nil {
					return err
				}
			}
			return j.cs[r].Close()
		}
		for i := range 3 { // some may get through one more
			err := b.Enter(uint64(2+i), Named)
			if err == nil {
				continue
			}
			if !errors.Is(err, ErrPeer) || !strings.Contains(err.Error(), fmt.Sprintf("rank %d cannot", dead)) {
				return fmt.Errorf("rank %d: %w", r, err)
			}
			if again := b.Notify(0, Named); !errors.Is(again, ErrPeer) {
				return fmt.Errorf("rank %d: broken, then %w", r, again)
			}
			return nil
		}
		return fmt.Errorf("rank %d heard of nothing", r)
	})
}

// TestBrokenFurtherOn: a rank has not begun a phase, and hears that another has broken down in it, after a good vote.
// It ends that phase rightly, and the next one with the error.
func TestBrokenFurtherOn(t *testing.T) {
	j := newJob(t, 2, conduit.Config{})
	for _, args := range [][]uint64{{packStep(1, 0, named), 7}, {packStep(2, 0, failed), 0}} {
		if err := j.es[0].RequestShort(1, handlerStep, args...); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			j.es[1].Poll()
		}
	}
	for phase, want := range []error{nil, ErrPeer} {
		if err := j.bs[1].Notify(7, Named); err != nil {
			t.Fatalf("phase %d: %v", phase+1, err)
		}
		over, err := j.bs[1].Try(7, Named)
		if !over || !errors.Is(err, want) {
			t.Fatalf("phase %d: over %v, %v; want %v", phase+1, over, err, want)
		}
	}
}

// TestImplausible feeds messages that no rank sends.
func TestImplausible(t *testing.T) {
	for _, args := range [][]uint64{
		{},
		{1},
		{packStep(3, 0, named), 0},
		{packStep(1, 1, named), 0},
		{packStep(1, 0, none), 0},
		{packStep(1, 0, failed+1), 0},
		{packStep(0, 0, named), 0},
	} {
		var faults int
		j := newJob(t, 2, conduit.Config{}, func(_ int, c conduit.Conduit, cfg *am.Config) conduit.Conduit {
			cfg.Fatal = func(error) { faults++ }
			return c
		})
		if err := j.es[0].RequestShort(1, handlerStep, args...); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			j.es[1].Poll()
		}
		if faults != 1 {
			t.Errorf("%#x: %d faults", args, faults)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	j := newJob(t, 4, conduit.Config{})
	round := func() {
		for _, b := range j.bs {
			if err := b.Notify(7, Named); err != nil {
				t.Error(err)
			}
		}
		settle(j, t)
	}
	if avg := testing.AllocsPerRun(1000, round); avg != 0 {
		t.Errorf("%v allocations a phase", avg)
	}
}

// settle polls until the phase is over on all ranks.
func settle(j *job, t testing.TB) {
	for left := len(j.bs); left > 0; {
		for _, b := range j.bs {
			if b.state == idle {
				continue
			}
			over, err := b.Try(7, Named)
			if err != nil {
				t.Error(err)
				return
			}
			if over {
				left--
			}
		}
	}
}

// BenchmarkPhase is a phase of all ranks, polled in turn by one goroutine: the instructions, without crossings.
func BenchmarkPhase(b *testing.B) {
	for _, n := range []int{2, 8, 32} {
		b.Run(fmt.Sprintf("ranks=%d", n), func(b *testing.B) {
			j := newJob(b, n, conduit.Config{})
			b.ReportAllocs()
			for range b.N {
				for _, x := range j.bs {
					if err := x.Notify(7, Named); err != nil {
						b.Fatal(err)
					}
				}
				settle(j, b)
			}
		})
	}
}

// BenchmarkEnter is a phase of two ranks on a goroutine each.
func BenchmarkEnter(b *testing.B) {
	j := newJob(b, 2, conduit.Config{})
	var wg sync.WaitGroup
	for _, x := range j.bs {
		wg.Go(func() {
			for range b.N {
				if err := x.Enter(0, Anonymous); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
