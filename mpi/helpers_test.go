package mpi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/tuningtest"
)

// patience is how long a job of a test may take before it counts as hanging.
const patience = 4 * time.Minute

// job runs f as n ranks and returns Run's error; a hang is reported with the stacks of all goroutines.
func job(t testing.TB, n int, f func(c *Comm) error, opts ...Option) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- Run(n, f, append([]Option{WithTuning(tuningtest.FromEnv())}, opts...)...) }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		t.Fatalf("the job of %d ranks hangs\n%s", n, buf[:runtime.Stack(buf, true)])
		return nil
	}
}

// must is job that may not fail.
func must(t testing.TB, n int, f func(c *Comm) error, opts ...Option) {
	t.Helper()
	if err := job(t, n, f, opts...); err != nil {
		t.Fatalf("%d ranks: %v", n, err)
	}
}

// upToEight are the sizes of most jobs, one after the other. The race detector is slow with many ranks. Five have the
// goroutines of eight: an inner rank of a tree, one without a partner, and a ring.
func upToEight() []int {
	if invariants.Race {
		return []int{1, 2, 5}
	}
	return []int{1, 2, 3, 4, 5, 6, 7, 8}
}

// skipUnderRace skips a test under the race detector, and says why that finds nothing in it. All other builds run it.
func skipUnderRace(t testing.TB, why string) {
	t.Helper()
	if invariants.Race {
		t.Skip("not under the race detector: " + why)
	}
}

// withConduit has f change the conduit's sizes.
func withConduit(f func(*conduit.Config)) Option { return func(o *options) { o.rank.Sizes = f } }

// source gives random numbers whose seed is printed when the test fails; GOLCI_TEST_SEED replays one.
func source(t testing.TB) (seed uint64) {
	t.Helper()
	seed = rand.Uint64()
	if s := os.Getenv("GOLCI_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with GOLCI_TEST_SEED=%d", seed)
		}
	})
	return seed
}

// random is the stream number i of a seed.
func random(seed uint64, i int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(i))) }

// caller is a way to run code that communicates.
type caller struct {
	name string
	run  func(c *Comm, f func() error) (wait func() error)
}

var callers = []caller{
	{"goroutine", func(_ *Comm, f func() error) func() error {
		done := make(chan error, 1)
		go func() { done <- f() }()
		return func() error { return <-done }
	}},
	{"locked", func(_ *Comm, f func() error) func() error {
		done := make(chan error, 1)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			done <- f()
		}()
		return func() error { return <-done }
	}},
	{"thread", func(c *Comm, f func() error) func() error {
		var err error
		h, e := c.Proc().Go(func() { err = f() })
		if e != nil {
			return func() error { return e }
		}
		return func() error { return errors.Join(h.Join(), err) }
	}},
}

// everyWay runs f as each kind of caller at once and joins the errors.
func everyWay(c *Comm, f func(way int) error) error {
	waits := make([]func() error, len(callers))
	for i, k := range callers {
		waits[i] = k.run(c, func() error { return f(i) })
	}
	var errs []error
	for i, w := range waits {
		if err := w(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", callers[i].name, err))
		}
	}
	return errors.Join(errs...)
}

// inThread runs f as a light-weight thread of c's rank.
func inThread(c *Comm, f func() error) error { return callers[2].run(c, f)() }

// pattern is the content of the message that from sends to to.
func pattern(n, from, to, tag int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + from*31 + to*17 + tag*3 + 1)
	}
	return b
}

func checkPattern(b []byte, from, to, tag int) error {
	for i := range b {
		if want := byte(i*7 + from*31 + to*17 + tag*3 + 1); b[i] != want {
			return fmt.Errorf("byte %d of %d from %d to %d is %d, want %d", i, len(b), from, to, b[i], want)
		}
	}
	return nil
}

// meeting lets the ranks of a job in one process meet without messages.
type meeting struct {
	mu    sync.Mutex
	cond  *sync.Cond
	n     int
	here  int
	round int
}

func newMeeting(n int) *meeting {
	m := &meeting{n: n}
	m.cond = sync.NewCond(&m.mu)
	return m
}

func (m *meeting) wait() {
	m.mu.Lock()
	defer m.mu.Unlock()
	round := m.round
	if m.here++; m.here == m.n {
		m.here, m.round = 0, round+1
		m.cond.Broadcast()
	}
	for m.round == round {
		m.cond.Wait()
	}
}

// Statuses of what is no receive, and of a receive from the null process.
var (
	empty      = Status{Source: AnySource, Tag: AnyTag}
	nullStatus = Status{Source: ProcNull, Tag: AnyTag}
)
