package fult

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counting is a Poller that counts and, if asked, signals.
type counting struct {
	polls  atomic.Int64
	on     func(w *Worker)
	wake   chan struct{}
	busy   atomic.Bool
	within atomic.Bool // somebody is in Sleep and has looked for work in vain
}

func newCounting() *counting { return &counting{wake: make(chan struct{}, 1)} }

func (c *counting) Poll(w *Worker) int {
	c.polls.Add(1)
	if c.on != nil {
		c.on(w)
	}
	return 0
}

func (c *counting) Sleep(d time.Duration, ready func() bool) bool {
	if !c.busy.CompareAndSwap(false, true) {
		return false
	}
	defer c.busy.Store(false)
	if ready() {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	c.within.Store(true)
	defer c.within.Store(false)
	select {
	case <-c.wake:
	case <-timer.C:
	}
	return true
}

func (c *counting) Wake() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// TestYieldersStarveNobody: while other threads yield all the time, a signalled thread runs within a bounded number of
// switches. The poll functions run, too.
func TestYieldersStarveNobody(t *testing.T) {
	for _, yielders := range []int{1, 3, 64, 200, 1000} {
		worst, worstPoll := yieldersAgainstOne(t, yielders)
		words := (yielders + wordBits) / wordBits
		if limit := 2 * (words + 1) * (wordBits + switchesPerPoll); worst > limit {
			t.Errorf("%d yielders: the thread waited for %d switches, want at most %d", yielders, worst, limit)
		}
		if limit := 2*wordBits + switchesPerPoll; worstPoll > limit {
			t.Errorf("%d yielders: %d switches between two polls, want at most %d", yielders, worstPoll, limit)
		}
	}
}

// yieldersAgainstOne has the poll function signal a thread whose slot is behind all yielders'. It returns the most
// switches before that thread runs, and the most between two polls.
func yieldersAgainstOne(t *testing.T, yielders int) (worst, worstPoll int) {
	s, err := New(Config{coroutines: true})
	if err != nil {
		t.Fatal(err)
	}
	// All these are of the one worker.
	var over, signalled bool
	var switches, since, lastPoll int
	var victim *Thread
	p := newCounting()
	p.on = func(w *Worker) {
		worstPoll, lastPoll = max(worstPoll, switches-lastPoll), switches
		if victim != nil && !signalled {
			signalled, since = true, switches
			w.Signal(victim)
		}
	}
	if err := s.SetPoller(p); err != nil {
		t.Fatal(err)
	}
	for range yielders {
		mustGoOn(t, s, 0, func(th *Thread) {
			for !over {
				switches++
				th.Yield()
			}
		})
	}
	mustGoOn(t, s, 0, func(th *Thread) {
		victim = th
		for range 100 {
			for !signalled {
				th.Wait()
			}
			worst = max(worst, switches-since)
			signalled = false
		}
		over = true
	})
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return worst, worstPoll
}

// asleep tells whether all workers of s sleep: one of them in p, if that is its Poller, the others on their futexes. A
// wake-up under way may still end a sleep.
func asleep(s *Scheduler, p *counting) bool {
	for _, w := range s.workers {
		if w.parked.Load() == awake {
			return false
		}
	}
	return s.poller == nil || p.within.Load()
}

func TestIdleWorkersSleepAndWake(t *testing.T) {
	for _, poller := range []bool{false, true} {
		s, err := New(Config{Workers: 2, coroutines: true})
		if err != nil {
			t.Fatal(err)
		}
		p := newCounting()
		if poller {
			if err := s.SetPoller(p); err != nil {
				t.Fatal(err)
			}
		}
		for range 50 {
			got := make(chan *Thread, 1)
			var token atomic.Bool
			h := spawn(t, s, func(th *Thread) {
				got <- th
				for !token.Load() {
					th.Wait()
				}
			})
			th := <-got
			for !asleep(s, p) {
				runtime.Gosched()
			}
			token.Store(true)
			th.Signal()
			join(t, h)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if n := s.sleepers.Load(); n != 0 {
			t.Errorf("%d workers count as asleep after the end", n)
		}
	}
}

func TestSetPollerTooLate(t *testing.T) {
	s := open(t, Config{})
	join(t, spawn(t, s, func(*Thread) {}))
	if s.SetPoller(newCounting()) == nil {
		t.Error("accepted")
	}
}

// TestStuckWorkerIsReported holds a worker in a Go mutex, as a careless thread may.
func TestStuckWorkerIsReported(t *testing.T) {
	reports := make(chan StuckReport, 10)
	s := open(t, Config{
		Workers: 2, StuckAfter: 20 * time.Millisecond, coroutines: true,
		OnStuck: func(r StuckReport) { reports <- r },
	})
	var mu sync.Mutex
	mu.Lock()
	h := mustGoOn(t, s, 1, func(th *Thread) {
		th.SetLabel("careless")
		stuckHere(&mu)
	})
	r := <-reports
	mu.Unlock()
	join(t, h)
	if r.Worker != 1 || !r.Thread || r.Label != "careless" || !strings.Contains(r.Stack, "fult.stuckHere") {
		t.Errorf("%+v", r)
	}
	if text := r.String(); !strings.Contains(text, "thread 1.0 careless") || !strings.Contains(text, "use fult.Mutex") {
		t.Error(text)
	}
}

// TestStuckReportGivesTheRemedy: the report of a thread that blocks its worker names the line and the call to use
// instead.
func TestStuckReportGivesTheRemedy(t *testing.T) {
	ch, gate := make(chan int), make(chan int)
	var wg sync.WaitGroup
	for remedy, blocks := range map[string]func(){
		"fult.Send, which": func() { ch <- 1 },
		"fult.Recv, which": func() { <-gate },
		"fult.Blocking, which": func() {
			select {
			case <-gate:
			case ch <- 1:
			}
		},
		"fult.WaitGroup, which": func() { wg.Wait() },
	} {
		reports := make(chan StuckReport, 10)
		s := open(t, Config{StuckAfter: 20 * time.Millisecond, coroutines: true, OnStuck: func(r StuckReport) { reports <- r }})
		wg.Add(1)
		h := spawn(t, s, func(*Thread) { blocks() })
		text := (<-reports).String()
		wg.Done()
		if !strings.Contains(text, remedy) || !strings.Contains(text, "progress_test.go:") {
			t.Errorf("no %q in\n%s", remedy, text)
		}
		select {
		case <-ch:
		case gate <- 1:
		case <-time.After(time.Second):
		}
		join(t, h)
	}
}

//go:noinline
func stuckHere(mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
}

func TestStolenJobsRunElsewhere(t *testing.T) {
	s := open(t, Config{Workers: 2, coroutines: true})
	var elsewhere atomic.Bool
	h := mustGoOn(t, s, 0, func(th *Thread) {
		s.Go(func(o *Thread) { elsewhere.Store(o.Worker().ID() == 1) })
		pinned, _ := s.GoOn(0, func(o *Thread) {
			if o.Worker().ID() != 0 {
				t.Error("a job given to worker 0 ran elsewhere")
			}
		})
		for !elsewhere.Load() { // keeps worker 0 busy until worker 1 has stolen
			runtime.Gosched()
		}
		if pinned.Done() {
			t.Error("a job ran on a busy worker")
		}
	})
	join(t, h)
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestDump(t *testing.T) {
	kinds(t, Config{}, func(t *testing.T, s *Scheduler) {
		got := make(chan *Thread, 1)
		spawn(t, s, func(th *Thread) {
			th.SetLabel("recv from 3 tag 7")
			got <- th
			th.Wait()
			th.Wait()
		})
		th := <-got
		for s.Kind() == Fult && th.State() != Waiting {
			runtime.Gosched()
		}
		var out strings.Builder
		if err := s.Dump(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"worker 0", "thread 0.0", th.State().String() + " recv from 3 tag 7"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		}
	})
}
