package fult

import (
	"errors"
	"sync/atomic"
	"testing"
	"unsafe"
)

const line = 64

func TestLayout(t *testing.T) {
	var th Thread
	var g group
	var w Worker
	for _, c := range []struct {
		what      string
		got, want uintptr
	}{
		{"a thread", unsafe.Sizeof(th), 2 * line},
		{"what the worker writes of a thread, up to", unsafe.Offsetof(th.w), line},
		{"a thread's fiber, which current relies on,", unsafe.Offsetof(th.fiber), 0},
		{"private bits of a group, from", unsafe.Offsetof(g.private), line},
		{"threads of a group, from", unsafe.Offsetof(g.threads), 2 * line},
		{"owner's fields of a worker, up to", unsafe.Offsetof(w.pad1), line},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.what, c.got, c.want)
		}
	}
	for range 3 {
		if p := uintptr(unsafe.Pointer(new(group))); p%line != 0 {
			t.Errorf("a group at %#x is not on a cache line", p)
		}
	}
	if far := unsafe.Offsetof(w.parked) - unsafe.Offsetof(w.level2.private); far < 2*line-8 {
		t.Errorf("parked is %d bytes behind what the worker writes", far)
	}
	if MaxThreads != 262144 {
		t.Errorf("MaxThreads = %d", MaxThreads)
	}
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := open(t, Config{Workers: 1})
	var m Mutex
	var c Counter
	partner := mustGoOn(t, s, 0, func(th *Thread) {
		for !th.w.s.killing.Load() {
			th.Wait()
		}
	})
	join(t, mustGoOn(t, s, 0, func(th *Thread) {
		w := th.Worker()
		var other *Thread
		for o := range s.Threads() {
			if o != th {
				other = o
			}
		}
		for name, f := range map[string]func(){
			"signal own, wait": func() { th.Signal(); th.Wait() },
			"signal, yield":    func() { w.Signal(other); th.Yield() },
			"current":          func() { _ = s.Current().ID() },
			"mutex":            func() { m.Lock(th); _ = m.Unlock(th) },
			"counter":          func() { c.Reset(th, 1); c.Signal(); c.Wait() },
		} {
			if n := testing.AllocsPerRun(1000, f); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	}))
	if partner.Done() {
		t.Error("the partner ended")
	}
}

func TestBadArguments(t *testing.T) {
	for name, cfg := range map[string]Config{
		"workers below zero": {Workers: -1},
		"workers beyond":     {Workers: maxWorkers + 1},
		"threads below zero": {MaxThreads: -1},
		"threads beyond":     {MaxThreads: MaxThreads + 1},
		"too few CPUs":       {Workers: 2, Pin: []int{0}},
		"kind that is not":   {Kind: OSThreads + 1},
		"CPU below zero":     {Workers: 1, Pin: []int{-1}},
	} {
		if _, err := New(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := open(t, Config{})
	for _, n := range []int{-1, 1} {
		if _, err := s.GoOn(n, func(*Thread) {}); !errors.Is(err, ErrArgument) {
			t.Errorf("worker %d: %v", n, err)
		}
		if s.Worker(n) != nil {
			t.Errorf("there is a worker %d", n)
		}
	}
	if _, err := s.Go(nil); !errors.Is(err, ErrArgument) {
		t.Errorf("nil function: %v", err)
	}
	if err := (Handle{}).Join(); !errors.Is(err, ErrArgument) {
		t.Errorf("join of nothing: %v", err)
	}
	join(t, spawn(t, s, func(*Thread) {
		if err := s.Close(); !errors.Is(err, ErrInside) {
			t.Errorf("Close from within: %v", err)
		}
		if err := s.Wait(); !errors.Is(err, ErrInside) {
			t.Errorf("Wait from within: %v", err)
		}
	}))
	if s.Live() != 0 {
		t.Errorf("%d alive", s.Live())
	}
}

func TestTooMany(t *testing.T) {
	kinds(t, Config{Workers: 2, MaxThreads: 3}, func(t *testing.T, s *Scheduler) {
		gate := make(chan struct{})
		body := func(th *Thread) { Recv(th, gate) }
		for range 6 {
			spawn(t, s, body)
		}
		if _, err := s.Go(body); !errors.Is(err, ErrTooMany) {
			t.Errorf("seventh: %v", err)
		}
		if _, err := s.GoOn(1, body); !errors.Is(err, ErrTooMany) {
			t.Errorf("seventh: %v", err)
		}
		close(gate)
		if err := s.Wait(); err != nil {
			t.Fatal(err)
		}
		join(t, spawn(t, s, body))
	})
}

// TestGoAll starts all threads or none. Those that it has refused leave no slot taken.
func TestGoAll(t *testing.T) {
	kinds(t, Config{Workers: 2, MaxThreads: 3}, func(t *testing.T, s *Scheduler) {
		gate := make(chan struct{})
		var sum atomic.Int64
		body := func(th *Thread, i int) {
			sum.Add(int64(i))
			Recv(th, gate)
		}
		one := spawn(t, s, func(th *Thread) { body(th, 100) })
		for n, want := range map[int]error{6: ErrTooMany, -1: ErrArgument} {
			if hs, err := s.GoAll(n, body); !errors.Is(err, want) || len(hs) != 0 {
				t.Errorf("%d threads: %d started, %v", n, len(hs), err)
			}
		}
		if _, err := s.GoAll(1, nil); !errors.Is(err, ErrArgument) {
			t.Errorf("nil function: %v", err)
		}
		hs, err := s.GoAll(5, body)
		if err != nil || len(hs) != 5 || s.Live() != 6 {
			t.Fatalf("%d started, %d alive, %v", len(hs), s.Live(), err)
		}
		close(gate)
		join(t, append(hs, one)...)
		if sum.Load() != 100+0+1+2+3+4 {
			t.Errorf("numbers add up to %d", sum.Load())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if hs, err := s.GoAll(2, body); !errors.Is(err, ErrClosed) || len(hs) != 0 {
			t.Errorf("after Close: %d started, %v", len(hs), err)
		}
		for _, w := range s.workers {
			if w.Live() != 0 {
				t.Errorf("worker %d has %d slots taken", w.id, w.Live())
			}
		}
	})
}

func TestUnjoinedPanicIsReportedByClose(t *testing.T) {
	cause := errors.New("nobody looked")
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	spawn(t, s, func(*Thread) { explode(cause) })
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); !errors.Is(err, cause) {
		t.Errorf("Close: %v", err)
	}
}

func TestNoThreadNoWorker(t *testing.T) {
	s, err := New(Config{Workers: 8})
	if err != nil {
		t.Fatal(err)
	}
	if s.begun.Load() {
		t.Error("workers run")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
