package comm

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/hashtable"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/local"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

// job is n servers in this process.
type job []*Server

// newJob makes a job over package local. Each of below changes the endpoints' configuration.
func newJob(t testing.TB, n int, cc conduit.Config, cfg Config, below ...func(*am.Config)) job {
	t.Helper()
	return jobOver(t, joined(t, n, cc), cfg, below...)
}

// fatalTo has f told of faults.
func fatalTo(f func(error)) func(*am.Config) { return func(c *am.Config) { c.Fatal = f } }

// dedicated gives each rank a server of its own.
func dedicated(c *am.Config) { c.Progress.Dedicated = true }

// newServer makes the server of a conduit, with the endpoint that it works on; stop ends it.
func newServer(t testing.TB, c conduit.Conduit, cfg Config, below ...func(*am.Config)) (s *Server, stop func()) {
	t.Helper()
	end := am.Config{Loan: cmp.Or(c.Caps().Loan, 200), Fatal: func(err error) { t.Errorf("fatal: %v", err) }}
	for _, f := range below {
		f(&end)
	}
	e, err := am.New(c, end)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = New(e, cfg); err != nil {
		t.Fatal(err)
	}
	if end.Scheduler != nil {
		if err := end.Scheduler.SetPoller(e.Progress().Poller()); err != nil {
			t.Fatal(err)
		}
	}
	if !end.Progress.Dedicated {
		return s, s.Close
	}
	d := e.Progress().Dedicate(-1)
	return s, func() {
		d.Stop()
		s.Close()
	}
}

// fewer is n, or a part of it under the race detector, which is slow.
func fewer(n int) int {
	if invariants.Race {
		return n / 5
	}
	return n
}

// joined makes the conduits of n ranks. Tests that run others over a network set it for that time.
var joined = func(t testing.TB, n int, cc conduit.Config) []conduit.Conduit {
	t.Helper()
	cs, err := local.New(n, cc)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// jobOver is newJob over given conduits.
func jobOver(t testing.TB, cs []conduit.Conduit, cfg Config, below ...func(*am.Config)) job {
	t.Helper()
	j, stops := make(job, len(cs)), make([]func(), len(cs))
	for i, c := range cs {
		j[i], stops[i] = newServer(t, c, cfg, below...)
	}
	t.Cleanup(func() {
		for i, stop := range stops {
			stop()
			wantEnvelopesCounted(t, j[i])
		}
		for _, c := range cs {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return j
}

// wantEnvelopesCounted checks that the count of envelopes, which Unmatched reads, is that of those in the matching. A
// test that keeps a message of Mprobe has more.
func wantEnvelopesCounted(t testing.TB, s *Server) {
	t.Helper()
	n := int64(0)
	s.matching.eachWaiting(func(_ uint16, side hashtable.Side, _ match.Pattern, o *op) {
		if side == hashtable.Arrive && o.role == roleRTS {
			n++
		}
	})
	if got := s.envelopes.Load(); got != n {
		t.Errorf("rank %d: %d envelopes are counted, %d wait", s.rank, got, n)
	}
}

// run calls f for every rank at once, and fails the test on any error or if it takes too long. A rank that is done goes
// on polling until all are, as in MPI's Finalize: one of its answers may still wait for room.
func (j job) run(t testing.TB, f func(s *Server) error) {
	t.Helper()
	errs := make([]error, len(j))
	var wg sync.WaitGroup
	var busy atomic.Int32
	busy.Store(int32(len(j)))
	for i, s := range j {
		wg.Go(func() {
			if err := f(s); err != nil {
				errs[i] = fmt.Errorf("rank %d: %w", i, err)
			}
			for busy.Add(-1); busy.Load() > 0; time.Sleep(100 * time.Microsecond) {
				s.Poll()
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(hangLimit):
		for _, s := range j {
			logPending(t, s)
		}
		t.Fatal("the ranks hang")
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// newTestCall is NewCall of an operation that nothing but the end of the rank ends from outside.
func newTestCall(s *Server) Req {
	return s.NewCall(pending.Op{
		Call: "test", Context: pending.NoContext, Peer: AnySource, Tag: AnyTag, Needs: pending.Nobody,
	}, pending.Terms{})
}

// logPending logs the first operations that pend at a rank.
func logPending(t testing.TB, s *Server) {
	all := s.registry.Ops()
	t.Logf("rank %d of %d: %d pending", s.rank, s.size, len(all))
	for _, p := range all[:min(len(all), 20)] {
		t.Logf("%+v", p)
	}
}

// pattern fills b so that any lost, doubled or moved byte shows.
func pattern(b []byte, seed int) {
	x := uint32(seed)*2654435761 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
}

func checkPattern(b []byte, seed int) error {
	want := make([]byte, len(b))
	pattern(want, seed)
	for i := range b {
		if b[i] != want[i] {
			return fmt.Errorf("byte %d of %d is %d, want %d", i, len(b), b[i], want[i])
		}
	}
	return nil
}

// hangLimit is far above what any test here takes, also on a loaded machine.
const hangLimit = 3 * time.Minute
