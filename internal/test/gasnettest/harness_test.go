package gasnettest

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/am"
	"github.com/golci/golci/am/barrier"
	"github.com/golci/golci/am/hsl"
	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/credit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

var seedFlag = flag.Uint64("seed", 0, "seed of all that is random; 0 for a new one")

// newSeed gives the seed of a test and prints it.
func newSeed(t testing.TB) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return seed
}

// rank is one rank of a job, as the test functions see it.
type rank struct {
	t     testing.TB
	j     *job
	id, n int
	e     *am.Endpoint
	b     *barrier.Barrier
	locks *hsl.Locks
	sched *fult.Scheduler // nil unless the job has threads
	seg   []byte          // the segment; nil unless the job has one
	m     *rma.Memory     // nil unless the job has remote memory
	rng   *rand.Rand      // of the rank's own goroutine
}

// job is what ranks share.
type job struct {
	t        testing.TB
	net      network
	seed     uint64
	ranks    []*rank
	failed   atomic.Bool  // some rank has given up: the others should, too
	finished atomic.Int32 // ranks that have run their function
}

// options of a job.
type options struct {
	loan    int
	credits credit.Config // in place of loan, if it is not zero
	threads bool          // a scheduler of one worker for each rank
	segment int           // bytes of it for Long messages
	memory  int           // bytes of it for remote memory, in place of the former
	forceAM bool          // remote memory by active messages, also where it is shared
	fatal   func(rank int, err error)
	faults  bool // faults are what the test wants
	checked bool // all rules of locks are checked
}

var errGaveUp = errors.New("another rank gave up")

// newJob makes n ranks over net. They end with the test.
func newJob(t testing.TB, net network, n int, seed uint64, o options) *job {
	t.Helper()
	j := &job{t: t, net: net, seed: seed}
	cs := net.make(t, n, seed)
	for i, c := range cs {
		j.ranks = append(j.ranks, j.newRank(i, c, o))
	}
	t.Cleanup(func() {
		for i, r := range j.ranks {
			if r.sched != nil {
				j.check(r.sched.Close())
			}
			if !o.faults {
				j.check(r.e.Err())
			}
			if r.m != nil {
				r.m.Close()
			}
			r.e.Close()
			j.check(cs[i].Close())
		}
	})
	return j
}

func (j *job) check(err error) {
	if err != nil {
		j.t.Error(err)
	}
}

func (j *job) newRank(i int, c conduit.Conduit, o options) *rank {
	t := j.t
	r := &rank{t: t, j: j, id: i, n: c.Size(), rng: rand.New(rand.NewPCG(j.seed, uint64(i)))}
	cfg := am.Config{Loan: o.loan, Credits: o.credits, Fatal: func(err error) {
		j.failed.Store(true)
		t.Errorf("rank %d: fatal: %v", i, err)
	}}
	if o.fatal != nil {
		cfg.Fatal = func(err error) { o.fatal(i, err) }
	}
	var err error
	if o.threads {
		if r.sched, err = fult.New(fult.Config{}); err != nil {
			t.Fatal(err)
		}
		cfg.Scheduler = r.sched
	}
	if r.e, err = am.New(c, cfg); err != nil {
		t.Fatal(err)
	}
	if o.threads {
		j.check(r.sched.SetPoller(r.e.Progress().Poller()))
	}
	if o.memory > 0 {
		r.m, err = rma.New(r.e, rma.Config{SegmentSize: int64(o.memory), ActiveMessages: o.forceAM})
		if err != nil {
			t.Fatal(err)
		}
		r.seg = r.m.Segment()
	}
	if o.segment > 0 {
		r.seg = make([]byte, o.segment)
		r.e.SetSegment(r.seg)
	}
	mode := hsl.Auto
	if o.checked {
		mode = hsl.Checked
	}
	r.locks = hsl.New(r.e, hsl.Config{Mode: mode, Warn: func(err error) { t.Log(err) }})
	if r.b, err = barrier.New(r.e); err != nil {
		t.Fatal(err)
	}
	return r
}

// spmd makes a job of n ranks. setup registers handlers at each rank and makes its state. Then body runs on all ranks
// at once, each on a goroutine of its own. A goroutine goes on polling until all have ended.
func spmd[S any](t *testing.T, net network, n int, o options, setup func(*rank) *S, body func(*rank, *S) error) {
	t.Helper()
	j := newJob(t, net, n, newSeed(t), o)
	states := make([]*S, n)
	for i, r := range j.ranks {
		states[i] = setup(r)
	}
	var wg sync.WaitGroup
	for i, r := range j.ranks {
		wg.Go(func() { j.runRank(r, func() error { return body(r, states[i]) }) })
	}
	wg.Wait()
}

func (j *job) runRank(r *rank, body func() error) {
	if err := body(); err != nil {
		j.failed.Store(true)
		if !errors.Is(err, errGaveUp) {
			j.t.Errorf("rank %d: %v", r.id, err)
		}
	}
	j.finished.Add(1)
	for i := idler(0); int(j.finished.Load()) < r.n; {
		i.idle(r.e.Poll())
	}
}

// idler slows a polling loop down when nothing comes, so that other ranks get the cores.
type idler int

func (i *idler) idle(got int) {
	if got > 0 {
		*i = 0
		return
	}
	*i++
	if *i < 100 {
		runtime.Gosched()
		return
	}
	time.Sleep(20 * time.Microsecond)
}

// until polls until ok, or another rank gives up.
func (r *rank) until(ok func() bool) error {
	for i := idler(0); !ok(); {
		if r.j.failed.Load() {
			return errGaveUp
		}
		i.idle(r.e.Poll())
	}
	return nil
}

// barrier waits until all ranks have come here.
func (r *rank) barrier() error {
	if err := r.b.Notify(0, barrier.Anonymous); err != nil {
		return err
	}
	var err error
	gaveUp := r.until(func() bool {
		var over bool
		over, err = r.b.Try(0, barrier.Anonymous)
		return over || err != nil
	})
	return errors.Join(gaveUp, err)
}

// handle registers a handler that may reply with maxReply bytes, or am.NoReply.
func (r *rank) handle(index uint8, maxReply int, run am.Handler) {
	r.t.Helper()
	if err := r.e.Register(index, am.Spec{Name: fmt.Sprint("test ", index), Run: run, MaxReply: maxReply}); err != nil {
		r.t.Fatal(err)
	}
}

// bad reports what a handler found wrong, and has the ranks give up.
func (r *rank) bad(format string, args ...any) {
	if !r.j.failed.Swap(true) {
		r.t.Errorf("rank %d: %s", r.id, fmt.Sprintf(format, args...))
	}
}

// ok reports err as bad.
func (r *rank) ok(err error) {
	if err != nil {
		r.bad("%v", err)
	}
}

// next is the rank after this one.
func (r *rank) next() int { return (r.id + 1) % r.n }
