package hsl

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/platform/invariants"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// must fails the test at once if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wants checks that err is of kind and names the lock and, in checked mode, this package's test as the place at fault.
func wants(t testing.TB, s *Locks, what string, err, kind error, name string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: %v, want %v", what, err, kind)
		return
	}
	var e *Error
	if !errors.As(err, &e) || e.Lock != name || !strings.Contains(err.Error(), `"`+name+`"`) {
		t.Errorf("%s: %v does not name %q", what, err, name)
	}
	if s.checked && !strings.Contains(e.At, "_test.go:") {
		t.Errorf("%s: %v: place %q", what, err, e.At)
	}
}

func modes(t *testing.T, f func(t *testing.T, s *Locks)) {
	for _, m := range []struct {
		name string
		mode Mode
	}{{"checked", Checked}, {"unchecked", Unchecked}} {
		t.Run(m.name, func(t *testing.T) { f(t, New(nil, Config{Mode: m.mode})) })
	}
}

func TestLegalUses(t *testing.T) {
	modes(t, func(t *testing.T, s *Locks) {
		a, b := s.New("a"), s.New("b")
		must(t, a.Lock())
		must(t, b.Lock())
		must(t, b.Unlock())
		if ok, err := b.TryLock(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		must(t, b.Unlock())
		must(t, a.Unlock())
		var c Lock
		must(t, s.Init(&c, "c"))
		must(t, c.Lock())
		must(t, c.Unlock())
		must(t, c.Destroy())
		must(t, s.Init(&c, "c again"))
		must(t, c.Lock())
		must(t, c.Unlock())
		if c.Name() != "c again" {
			t.Errorf("name %q", c.Name())
		}
		must(t, s.Close())
	})
}

func TestMisuseFoundAlways(t *testing.T) {
	modes(t, func(t *testing.T, s *Locks) {
		a := s.New("a")
		wants(t, s, "unlock of a free lock", a.Unlock(), ErrNotHeld, "a")
		wants(t, s, "init twice", s.Init(a, "x"), ErrTwice, "a")
		must(t, a.Lock())
		wants(t, s, "recursion", a.Lock(), ErrRecursive, "a")
		ok, err := a.TryLock()
		wants(t, s, "recursion by TryLock", err, ErrRecursive, "a")
		if ok {
			t.Error("TryLock got it twice")
		}
		wants(t, s, "destroyed while held", a.Destroy(), ErrBusy, "a")
		wants(t, s, "init while held", s.Init(a, "x"), ErrTwice, "a")
		wants(t, s, "closed while held", s.Close(), ErrBusy, "a")
		inAnother(func() {
			err := a.Unlock()
			wants(t, s, "foreign unlock", err, ErrNotHolder, "a")
			if s.checked && strings.Count(err.Error(), "hsl_test.go:") != 2 {
				t.Errorf("foreign unlock: %v", err)
			}
			if ok, err := a.TryLock(); ok || err != nil {
				t.Errorf("TryLock of a held lock: %v, %v", ok, err)
			}
		})
		must(t, a.Unlock())
		must(t, a.Destroy())
		wants(t, s, "destroy twice", a.Destroy(), ErrUnset, "a")
		wants(t, s, "lock after destroy", a.Lock(), ErrUnset, "a")
		_, err = a.TryLock()
		wants(t, s, "trylock after destroy", err, ErrUnset, "a")
		wants(t, s, "unlock after destroy", a.Unlock(), ErrUnset, "a")
	})
}

func TestNeverInitialised(t *testing.T) {
	var l Lock
	_, err := l.TryLock()
	for what, err := range map[string]error{"Lock": l.Lock(), "TryLock": err, "Unlock": l.Unlock(), "Destroy": l.Destroy()} {
		if !errors.Is(err, ErrUnset) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func inAnother(f func()) {
	var wg sync.WaitGroup
	wg.Go(f)
	wg.Wait()
}

func TestOrder(t *testing.T) {
	s := New(nil, Config{Mode: Checked})
	a, b := s.New("a"), s.New("b")
	must(t, a.Lock())
	must(t, b.Lock())
	wants(t, s, "unlock out of order", a.Unlock(), ErrOrder, "a")
	inAnother(func() {
		if ok, err := a.TryLock(); ok || err != nil {
			t.Errorf("after the refused unlock: %v, %v", ok, err)
		}
	})
	must(t, b.Unlock())
	must(t, a.Unlock())
	must(t, s.Close())
}

// TestCallsWhileHolding: what an endpoint asks is refused, with the last lock taken, and allowed again afterwards.
func TestCallsWhileHolding(t *testing.T) {
	s := New(nil, Config{Mode: Checked})
	a, b := s.New("a"), s.New("b")
	must(t, s.refuseHolder(ErrRequest))
	must(t, a.Lock())
	must(t, b.Lock())
	for _, kind := range []error{ErrRequest, ErrReply, ErrPoll, ErrWait} {
		wants(t, s, "call", s.refuseHolder(kind), kind, "b")
		inAnother(func() { must(t, s.refuseHolder(kind)) })
	}
	must(t, b.Unlock())
	wants(t, s, "call", s.refuseHolder(ErrWait), ErrWait, "a")
	must(t, a.Unlock())
	must(t, s.refuseHolder(ErrWait))
}

// TestLeftByHandler: the fault names the lock, and others can have it afterwards.
func TestLeftByHandler(t *testing.T) {
	s := New(nil, Config{Mode: Checked})
	a, b := s.New("a"), s.New("b")
	inAnother(func() {
		must(t, a.Lock())
		must(t, b.Lock())
		err := s.Leave()
		if !errors.Is(err, ErrLeft) || !strings.Contains(err.Error(), `"b"`) {
			t.Errorf("handler left %v", err)
		}
		must(t, s.Leave())
	})
	must(t, a.Lock())
	must(t, b.Lock())
	must(t, b.Unlock())
	must(t, a.Unlock())
}

// TestLongHold uses a clock of its own.
func TestLongHold(t *testing.T) {
	var warned []error
	s := New(nil, Config{Mode: Checked, Warn: func(err error) { warned = append(warned, err) }})
	at := time.Unix(0, 0)
	s.now = func() time.Time { return at }
	a := s.New("a")
	must(t, a.Lock())
	at = at.Add(time.Second)
	must(t, a.Unlock())
	if len(warned) != 0 {
		t.Fatalf("too early: %v", warned)
	}
	if ok, err := a.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	at = at.Add(2 * time.Second)
	must(t, a.Unlock())
	if len(warned) != 1 || !errors.Is(warned[0], ErrLong) || !strings.Contains(warned[0].Error(), "2s") {
		t.Fatalf("warnings %v", warned)
	}
}

// TestLongWait has the clock of a waiter run fast.
func TestLongWait(t *testing.T) {
	modes(t, func(t *testing.T, s *Locks) {
		warned := make(chan error, 1)
		s.cfg.Warn = func(err error) {
			select {
			case warned <- err:
			default:
			}
		}
		s.cfg.LongHold = time.Hour << 10
		var ticks atomic.Int64
		s.now = func() time.Time { return time.Unix(ticks.Add(1), 0) }
		a := s.New("a")
		must(t, a.Lock())
		done := make(chan error)
		go func() {
			err := a.Lock()
			if err == nil {
				err = a.Unlock()
			}
			done <- err
		}()
		if err := <-warned; !errors.Is(err, ErrLong) || !strings.Contains(err.Error(), "goroutine at 0x") {
			t.Errorf("warning %v", err)
		}
		must(t, a.Unlock())
		must(t, <-done)
	})
}

func TestExclusion(t *testing.T) {
	modes(t, func(t *testing.T, s *Locks) {
		const each = 5000
		a := s.New("a")
		var n int // guarded by a: the race detector looks, too
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for k := range each {
					if err := take(a, (i+k)%2 == 0); err != nil {
						t.Error(err)
						return
					}
					n++
					if err := a.Unlock(); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		if n != 4*each {
			t.Errorf("%d of %d", n, 4*each)
		}
	})
}

// take takes l by Lock or by TryLock.
func take(l *Lock, try bool) error {
	for try {
		if ok, err := l.TryLock(); ok || err != nil {
			return err
		}
	}
	return l.Lock()
}

// TestDestroyedWhileWaiting: waiters are told.
func TestDestroyedWhileWaiting(t *testing.T) {
	s := New(nil, Config{Mode: Unchecked})
	a := s.New("a")
	must(t, a.Lock())
	done := make(chan error)
	go func() { done <- a.Lock() }()
	time.Sleep(time.Millisecond) // it may wait by now, or find the lock destroyed at once: the answer is the same
	a.owner.Store(destroyed)
	if err := <-done; !errors.Is(err, ErrUnset) {
		t.Error(err)
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	a := New(nil, Config{Mode: Unchecked}).New("a")
	if n := testing.AllocsPerRun(1000, func() {
		must(t, a.Lock())
		must(t, a.Unlock())
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLockUnlock(b *testing.B) {
	for _, m := range []struct {
		name string
		mode Mode
	}{{"mode=unchecked", Unchecked}, {"mode=checked", Checked}} {
		b.Run(m.name, func(b *testing.B) {
			l := New(nil, Config{Mode: m.mode}).New("l")
			b.ReportAllocs()
			for range b.N {
				if l.Lock() != nil || l.Unlock() != nil {
					b.Fatal("misuse")
				}
			}
		})
	}
}
