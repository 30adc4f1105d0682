package fult

import (
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// kinds runs f for each kind of thread, and for coroutines under the race detector, too.
func kinds(t *testing.T, cfg Config, f func(t *testing.T, s *Scheduler)) {
	for _, kind := range []Kind{Fult, Goroutines, OSThreads} {
		t.Run(kind.String(), func(t *testing.T) {
			cfg.Kind, cfg.coroutines = kind, true
			f(t, open(t, cfg))
		})
	}
}

// open makes a scheduler that is closed at the end of the test.
func open(t testing.TB, cfg Config) *Scheduler {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func spawn(t testing.TB, s *Scheduler, f func(*Thread)) Handle {
	t.Helper()
	h, err := s.Go(f)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func join(t testing.TB, hs ...Handle) {
	t.Helper()
	for _, h := range hs {
		if err := h.Join(); err != nil {
			t.Fatalf("Join: %v", err)
		}
	}
}

func TestGoJoin(t *testing.T) {
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		var sum atomic.Int64
		var hs []Handle
		for i := range 1000 {
			hs = append(hs, spawn(t, s, func(th *Thread) {
				if s.Current() != th {
					t.Error("Current is somebody else")
				}
				sum.Add(int64(i))
			}))
		}
		join(t, hs...)
		if sum.Load() != 999*1000/2 {
			t.Errorf("sum %d", sum.Load())
		}
		if err := s.Wait(); err != nil {
			t.Error(err)
		}
		if s.Current() != nil {
			t.Error("the test is a thread")
		}
	})
}

func TestSignalBeforeWaitAndDouble(t *testing.T) {
	kinds(t, Config{}, func(t *testing.T, s *Scheduler) {
		join(t, spawn(t, s, func(th *Thread) {
			th.Signal()
			th.Signal()
			th.Wait()
		}))
	})
}

func TestPanicCarriesTheThreadsStack(t *testing.T) {
	kinds(t, Config{}, func(t *testing.T, s *Scheduler) {
		cause := errors.New("boom")
		err := spawn(t, s, func(*Thread) { explode(cause) }).Join()
		var p *PanicError
		if !errors.As(err, &p) || !errors.Is(err, cause) {
			t.Fatalf("Join: %v", err)
		}
		if !strings.Contains(string(p.Stack), "fult.explode") {
			t.Errorf("stack without the culprit:\n%s", p.Stack)
		}
	})
}

//go:noinline
func explode(err error) { panic(err) }

func TestGoexitEndsOnlyTheThread(t *testing.T) {
	kinds(t, Config{}, func(t *testing.T, s *Scheduler) {
		for range 20 {
			other := spawn(t, s, func(th *Thread) {
				for range 10 {
					th.Yield()
				}
			})
			deferred := false
			h := spawn(t, s, func(th *Thread) {
				defer func() { deferred = true }()
				th.Yield()
				runtime.Goexit()
			})
			if err := h.Join(); !errors.Is(err, ErrGoexit) || !deferred {
				t.Fatalf("Join: %v, deferred function ran: %v", err, deferred)
			}
			join(t, other, spawn(t, s, func(th *Thread) { th.Yield() }))
		}
	})
}

func TestCloseUnwindsBlockedThreads(t *testing.T) {
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		const n = 300
		var waiting, unwound atomic.Int32
		var hs []Handle
		for range n {
			hs = append(hs, spawn(t, s, func(th *Thread) {
				defer unwound.Add(1)
				waiting.Add(1)
				for {
					th.Wait()
				}
			}))
		}
		for waiting.Load() != n {
			time.Sleep(time.Millisecond)
		}
		for range 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if unwound.Load() != n || s.Live() != 0 {
			t.Errorf("%d of %d unwound, %d alive", unwound.Load(), n, s.Live())
		}
		for _, h := range hs {
			if err := h.Join(); !errors.Is(err, ErrClosed) {
				t.Fatalf("Join: %v", err)
			}
		}
		if _, err := s.Go(func(*Thread) {}); !errors.Is(err, ErrClosed) {
			t.Errorf("Go after Close: %v", err)
		}
	})
}

func TestSleep(t *testing.T) {
	kinds(t, Config{}, func(t *testing.T, s *Scheduler) {
		start := time.Now()
		var hs []Handle
		for i := range 50 {
			hs = append(hs, spawn(t, s, func(th *Thread) {
				th.Signal()
				th.Sleep(time.Duration(i) * 100 * time.Microsecond)
				if d := time.Since(start); d < time.Duration(i)*100*time.Microsecond {
					t.Errorf("slept %v of %v", d, i)
				}
				th.Wait() // the Signal is still there
			}))
		}
		join(t, hs...)
	})
}
