package progress

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/fult"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mailbox is a source whose mail is operations to complete.
type mailbox struct {
	polling sync.Mutex
	mu      sync.Mutex
	mail    []*Done
	batch   *Batch // completes, if there is one; under polling
	asleep  atomic.Bool
	bell    chan struct{}
	sleeps  atomic.Int64
}

func newMailbox() *mailbox { return &mailbox{bell: make(chan struct{}, 1)} }

func (m *mailbox) deliver(ds ...*Done) {
	m.mu.Lock()
	m.mail = append(m.mail, ds...)
	m.mu.Unlock()
	m.Wake()
}

func (m *mailbox) Poll(w *fult.Worker) int {
	if !m.polling.TryLock() {
		return -1
	}
	defer m.polling.Unlock()
	m.mu.Lock()
	n := min(2, len(m.mail)) // bounded, so that several polls are needed
	got := append([]*Done(nil), m.mail[:n]...)
	m.mail = m.mail[n:]
	m.mu.Unlock()
	for _, d := range got {
		if m.batch != nil {
			m.batch.Complete(d, w)
		} else {
			d.Complete(w)
		}
	}
	if m.batch != nil {
		m.batch.Flush(w)
	}
	return n
}

func (m *mailbox) Sleep(d time.Duration, ready func() bool) bool {
	if !m.asleep.CompareAndSwap(false, true) {
		return false
	}
	defer m.asleep.Store(false)
	m.mu.Lock()
	pending := len(m.mail) > 0
	m.mu.Unlock()
	if pending || ready() {
		return true
	}
	m.sleeps.Add(1)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-m.bell:
	case <-t.C:
	}
	return true
}

func (m *mailbox) Wake() {
	select {
	case m.bell <- struct{}{}:
	default:
	}
}

// within fails the test if f takes too long.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(3 * time.Minute): // the whole machine may stand still for one
		t.Fatalf("hangs: %s", what)
	}
}

// until lets others run until ok.
func until(ok func() bool) {
	for !ok() {
		runtime.Gosched()
	}
}

func TestDoneIsReadyOnce(t *testing.T) {
	var d Done
	if d.Ready() {
		t.Fatal("a fresh Done is ready")
	}
	d.Complete(nil)
	if !d.Ready() {
		t.Fatal("Complete did not make it ready")
	}
	d.Reset()
	if d.Ready() {
		t.Fatal("Reset did not make it fresh")
	}
	d.Finish()
	if !d.Ready() {
		t.Fatal("Finish did not make it ready")
	}
}

func TestWaitOfAGoroutineThatSleeps(t *testing.T) {
	m := newMailbox()
	e := New(m, nil, Config{Spin: time.Microsecond})
	within(t, "the wait", func() {
		for range 50 {
			var d Done
			before := m.sleeps.Load()
			go func() {
				until(func() bool { return m.sleeps.Load() > before })
				m.deliver(&d)
			}()
			e.Wait(&d)
		}
	})
}

// TestCompletionWithoutMail completes operations beside the source: the sleeper must be woken all the same.
func TestCompletionWithoutMail(t *testing.T) {
	e := New(newMailbox(), nil, Config{Spin: time.Microsecond})
	within(t, "the wait", func() {
		for i := range 200 {
			var d Done
			go func() {
				time.Sleep(time.Duration(i%7) * 20 * time.Microsecond)
				d.Complete(nil)
			}()
			e.Wait(&d)
		}
	})
}

// TestRoleIsHandedOn has many goroutines wait while their mail comes in random order: whoever leaves must hand the role
// of polling to another, also if that one's own wait has just ended.
func TestRoleIsHandedOn(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, cfg := range []Config{{Spin: time.Microsecond}, {Spin: -1}, {Crowded: true}, {}} {
		m := newMailbox()
		e := New(m, nil, cfg)
		within(t, "the crowd", func() {
			for range 30 {
				ds := make([]Done, 40)
				var wg sync.WaitGroup
				for i := range ds {
					wg.Go(func() { e.Wait(&ds[i]) })
				}
				for _, i := range r.Perm(len(ds)) {
					if i%8 == 0 {
						time.Sleep(50 * time.Microsecond)
					}
					if i%3 == 0 {
						ds[i].Complete(nil)
					} else {
						m.deliver(&ds[i])
					}
				}
				wg.Wait()
			}
		})
		if n := e.parked.n.Load(); n != 0 || e.parked.head != nil || e.driving.Load() != 0 {
			t.Errorf("%+v: left behind: %d parked, driving %d", cfg, n, e.driving.Load())
		}
	}
}

func TestWaitAnyAndAll(t *testing.T) {
	m := newMailbox()
	e := New(m, nil, Config{Spin: time.Microsecond})
	for _, n := range []int{1, 3, 100} {
		ds := make([]*Done, n+1) // the last is nil and does not count
		for i := range n {
			ds[i] = new(Done)
		}
		within(t, "any", func() {
			go func() {
				until(func() bool { return e.driving.Load() != 0 })
				m.deliver(ds[n/2])
			}()
			e.WaitAny(ds)
		})
		if !ds[n/2].Ready() {
			t.Errorf("%d operations: WaitAny came back with none ready", n)
		}
		within(t, "all", func() {
			go func() {
				for i := range n {
					if i != n/2 {
						m.deliver(ds[i])
					}
				}
			}()
			e.WaitAll(ds)
		})
		for i := range n {
			if !ds[i].Ready() {
				t.Errorf("WaitAll of %d came back before %d", n, i)
			}
		}
	}
	within(t, "nothing to wait for", func() {
		e.WaitAny([]*Done{nil, nil})
		e.WaitAll(nil)
	})
}

// TestLateSignalsDoNoHarm signals a group for operations that its waiter has long forgotten.
func TestLateSignalsDoNoHarm(t *testing.T) {
	m := newMailbox()
	e := New(m, nil, Config{Spin: time.Microsecond})
	g := newGroup(e, nil)
	e.groups.Put(g)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				g.signalGroup(nil)
			}
		}
	})
	within(t, "the wait", func() {
		for range 200 {
			var d Done
			go func() {
				until(func() bool { return e.driving.Load() != 0 })
				m.deliver(&d)
			}()
			e.Wait(&d)
			if !d.Ready() {
				t.Error("a stray signal ended the wait")
			}
		}
	})
	close(stop)
	wg.Wait()
}

// TestBatch: a Done is ready at once; its group is signalled when the batch is full or flushed, and once only.
func TestBatch(t *testing.T) {
	const rest = 3
	ds := make([]Done, 2*batchLen+rest)
	g := newGroup(New(newMailbox(), nil, Config{}), nil)
	g.beginCount()
	var b Batch
	for i := range ds {
		ds[i].group.Store(g)
		b.Complete(&ds[i], nil)
		if !ds[i].Ready() {
			t.Fatalf("%d is not ready", i)
		}
	}
	if n := many - g.left.Load(); n != 2*batchLen {
		t.Errorf("%d signals before Flush, want %d", n, 2*batchLen)
	}
	for range 2 {
		b.Flush(nil)
		if n := many - g.left.Load(); n != int32(len(ds)) {
			t.Errorf("%d signals after Flush, want %d", n, len(ds))
		}
	}
}

// TestBatchWakes has goroutines that park be woken by batches.
func TestBatchWakes(t *testing.T) {
	m := newMailbox()
	m.batch = new(Batch)
	e := New(m, nil, Config{Spin: -1})
	within(t, "the crowd", func() {
		for range 200 {
			ds := make([]Done, 12)
			var wg sync.WaitGroup
			for i := range ds {
				wg.Go(func() { e.Wait(&ds[i]) })
			}
			for i := range ds {
				m.deliver(&ds[i])
			}
			wg.Wait()
		}
	})
}

func TestServe(t *testing.T) {
	m := newMailbox()
	e := New(m, nil, Config{Dedicated: true})
	var quit atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() { e.Serve(quit.Load) })
	within(t, "waits behind the server", func() {
		var ws sync.WaitGroup
		for range 20 {
			d := new(Done)
			ws.Go(func() { e.Wait(d) })
			m.deliver(d)
		}
		ws.Wait()
	})
	quit.Store(true)
	e.Wake()
	wg.Wait()
}

// TestThreadsAndGoroutines has fult threads of every way of waiting share the engine with goroutines.
func TestThreadsAndGoroutines(t *testing.T) {
	m := newMailbox()
	s, err := fult.New(fult.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	e := New(m, s, Config{Spin: time.Microsecond})
	if err := s.SetPoller(e.Poller()); err != nil {
		t.Fatal(err)
	}
	within(t, "the crowd", func() {
		var wg sync.WaitGroup
		for i := range 60 {
			d, d2 := new(Done), new(Done)
			wg.Add(1)
			if _, err := s.Go(func(th *fult.Thread) {
				defer wg.Done()
				switch i % 3 {
				case 0:
					if e.Current() != nil {
						d.Expect(th)
					}
					m.deliver(d)
					e.Wait(d)
				case 1:
					m.deliver(d, d2)
					e.WaitAll([]*Done{d, d2})
				default:
					m.deliver(d2)
					e.WaitAny([]*Done{d, d2})
				}
			}); err != nil {
				t.Error(err)
				wg.Done()
			}
			g := new(Done)
			wg.Go(func() { e.Wait(g) })
			m.deliver(g)
		}
		wg.Wait()
	})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestWatchSeesWhatCameBefore: one of many has completed after the last look and before its group hung on it, so no
// signal comes. The next look must find it.
func TestWatchSeesWhatCameBefore(t *testing.T) {
	e := New(newMailbox(), nil, Config{})
	for _, n := range []int{1, fewDones + 4} {
		ds := make([]*Done, n)
		for i := range ds {
			ds[i] = new(Done)
		}
		x := want{ds: ds, any: true}
		x.beginWant(newGroup(e, nil))
		ds[n-1].Complete(nil)
		if x.watchPending() {
			t.Errorf("%d operations: a watch for what is there already", n)
		}
		if !x.isOver() {
			t.Errorf("%d operations: the wait is not over", n)
		}
		x.endWant()
	}
}

// TestKeepersAreBounded: each layer has a place of its own, and one too many is told who has them all.
func TestKeepersAreBounded(t *testing.T) {
	e := New(nil, nil, Config{})
	for i := range maxKeepers {
		if at, err := e.Keep(fmt.Sprint("layer ", i), func(*fult.Thread) any { return i }); at != i || err != nil {
			t.Errorf("layer %d has place %d: %v", i, at, err)
		}
	}
	_, err := e.Keep("late", func(*fult.Thread) any { return nil })
	for _, name := range []string{"late", "layer 0", "layer 2"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %q", err, name)
		}
	}
}
