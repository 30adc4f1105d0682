package hsl

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/transport/local"
)

// alone is an endpoint of one rank whose threads run on a scheduler of one worker.
func alone(t *testing.T) (*am.Endpoint, *fult.Scheduler) {
	t.Helper()
	cs, err := local.New(1, conduit.Config{})
	must(t, err)
	s, err := fult.New(fult.Config{})
	must(t, err)
	e, err := am.New(cs[0], am.Config{Scheduler: s, Fatal: func(err error) { t.Errorf("fatal: %v", err) }})
	must(t, err)
	must(t, s.SetPoller(e.Progress().Poller()))
	t.Cleanup(func() {
		must(t, s.Close())
		e.Close()
		must(t, cs[0].Close())
	})
	return e, s
}

// TestHolderThatSwitches: another thread of the worker must not spin for ever on a lock whose holder cannot run.
func TestHolderThatSwitches(t *testing.T) {
	e, s := alone(t)
	if s.Kind() != fult.Fult {
		t.Skip("threads are goroutines under the race detector: they cannot keep each other from running")
	}
	locks := New(e, Config{Mode: Checked})
	a := locks.New("a")
	var got error
	turns := 0 // only the threads of the one worker look at it
	_, err := s.Go(func(th *fult.Thread) {
		must(t, a.Lock())
		for turns = 1; turns == 1; {
			th.Yield() // against the rules
		}
		must(t, a.Unlock())
	})
	must(t, err)
	_, err = s.Go(func(th *fult.Thread) {
		for turns == 0 {
			th.Yield()
		}
		got = a.Lock()
		turns = 2
	})
	must(t, err)
	must(t, s.Wait())
	wants(t, locks, "holder that switches", got, ErrSuspended, "a")
	var e2 *Error
	if !errors.As(got, &e2) || e2.Holder != "thread 0.0" {
		t.Errorf("holder: %v", got)
	}
	must(t, locks.Close())
}

// TestEveryKindOfThread has fult threads, goroutines and locked OS threads share a lock.
func TestEveryKindOfThread(t *testing.T) {
	e, s := alone(t)
	for _, mode := range []Mode{Checked, Unchecked} {
		locks := New(e, Config{Mode: mode})
		a := locks.New("a")
		const each, kinds = 1000, 2
		n := 0 // guarded by a
		work := func() {
			for k := range each {
				if take(a, k%3 == 0) != nil {
					t.Error("lock failed")
					return
				}
				n++
				if err := a.Unlock(); err != nil {
					t.Error(err)
				}
			}
		}
		var wg sync.WaitGroup
		for range kinds {
			_, err := s.Go(func(*fult.Thread) { work() })
			must(t, err)
			wg.Go(work)
			wg.Go(func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				work()
			})
		}
		wg.Wait()
		must(t, s.Wait())
		if n != 3*kinds*each {
			t.Errorf("%d of %d", n, 3*kinds*each)
		}
		must(t, locks.Close())
	}
}
