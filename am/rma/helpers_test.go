package rma

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/test/fabrictest"
	"github.com/golci/golci/internal/test/fault"
	"github.com/golci/golci/internal/test/mixedtest"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/local"
	"github.com/golci/golci/internal/transport/udp/seal"
)

const roleEnv = "GOLCI_RMA_TEST_ROLE"

// child plays a rank of its own process in a role; nil where processes cannot share memory.
var child func(role string) int

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" && child != nil {
		os.Exit(child(role))
	}
	goleak.VerifyTestMain(udptest.Patiently(m))
}

var seedFlag = flag.Uint64("seed", 0, "seed of randomised tests; 0: a new one")

// newSeed gives the seed of a randomised test and prints it.
func newSeed(t testing.TB) uint64 {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-seed=%d", seed)
	return seed
}

// way is how memory is reached in a test.
type way struct {
	name   string
	cfg    Config
	tiny   bool
	fabric string // the network of registered memory; see fabrictest.Reaches
	wrap   func(c conduit.Conduit, seed uint64) conduit.Conduit
	// make makes the conduits of n ranks, in place of those that share memory.
	make func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit
}

var ways = []way{
	{name: "direct"},
	{name: "am", cfg: Config{ActiveMessages: true}},
	{name: "am,tiny", cfg: Config{ActiveMessages: true}, tiny: true},
	{name: "am,tiny,no bounce", cfg: Config{ActiveMessages: true, Bounce: 1}, tiny: true},
	{name: "fault", wrap: func(c conduit.Conduit, seed uint64) conduit.Conduit {
		return fault.New(c, fault.Config{Seed: seed, Refuse: 50, Hold: 50, Reorder: true, Startle: 100})
	}},
	{name: "get and put", fabric: "both"},
	{name: "get alone", fabric: "get"},
	{name: "put alone, tiny, no bounce", fabric: "put", cfg: Config{Bounce: 1}, tiny: true},
}

// networks are further ways, for tests that show what passes between ranks.
var networks = []way{
	{name: "bare", wrap: func(c conduit.Conduit, _ uint64) conduit.Conduit { return bare{c} }},
	{name: "udp", make: udptest.Job{}.Open},
	{name: "udp, bad, tiny", make: badNetwork.Open, tiny: true},
	{name: "mixed", make: func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
		near, far := way{}.conduits(t, n), udptest.Job{Mode: seal.Trust}.Open(t, n, cfg)
		return mixedtest.Join(t, near, far, mixedtest.Parity)
	}},
}

// badNetwork has datagrams of usual size on a network that loses, doubles and reorders them.
var badNetwork = udptest.Job{Mode: seal.Trust, Faults: udptest.Bad, MinRTO: udptest.BadMinRTO, Payload: 1400}

// bare hides the credit words and the bulk channel of a conduit.
type bare struct{ conduit.Conduit }

func (bare) Mine(int) *atomic.Uint64   { return nil }
func (bare) Theirs(int) *atomic.Uint64 { return nil }

func (b bare) Caps() conduit.Caps {
	c := b.Conduit.Caps()
	c.BulkChunk, c.BulkSlots = 0, 0
	return c
}

// direct tells whether m reaches peer by loads and stores.
func direct(m *Memory, peer int) (bool, error) {
	mem, err := m.Mapped(peer)
	return mem != nil, err
}

// job is a number of ranks in this process.
type job struct {
	t  testing.TB
	cs []conduit.Conduit
	es []*am.Endpoint
	ms []*Memory
}

func (v way) conduits(t testing.TB, n int) []conduit.Conduit {
	cfg := conduit.Config{TinyQueues: v.tiny}
	if v.fabric != "" {
		return fabrictest.New(t, fabrictest.Reaches[v.fabric], n, cfg)
	}
	if v.make != nil {
		return v.make(t, n, cfg)
	}
	cs, err := local.New(n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

func newJob(t testing.TB, n int, v way, seed uint64) *job {
	t.Helper()
	j := &job{t: t, cs: v.conduits(t, n)}
	for _, c := range j.cs {
		if v.wrap != nil {
			c = v.wrap(c, seed)
		}
		j.add(c, v.cfg)
	}
	t.Cleanup(j.close)
	return j
}

// newJobOf makes a job of ranks of different configurations.
func newJobOf(t testing.TB, cfgs ...Config) *job {
	t.Helper()
	j := &job{t: t, cs: newJobConduits(t, len(cfgs))}
	for i, cfg := range cfgs {
		j.add(j.cs[i], cfg)
	}
	t.Cleanup(j.close)
	return j
}

// add makes the next rank over c.
func (j *job) add(c conduit.Conduit, cfg Config) {
	j.t.Helper()
	if cfg.SegmentSize == 0 {
		cfg.SegmentSize = testSegment
	}
	e, err := am.New(c, am.Config{
		Progress: progress.Config{Dedicated: true}, // to run, which polls
		Fatal:    func(err error) { j.t.Errorf("fatal: %v", err) },
	})
	if err != nil {
		j.t.Fatal(err)
	}
	m, err := New(e, cfg)
	if err != nil {
		j.t.Fatal(err)
	}
	j.es, j.ms = append(j.es, e), append(j.ms, m)
}

const testSegment = 1 << 20

func (j *job) close() {
	for i, m := range j.ms {
		if n := m.numbers.Used(); n != 0 && !j.t.Failed() {
			j.t.Errorf("rank %d: %d operations were not given back", i, n)
		}
		if n := m.kept.Load(); n != 0 && !j.t.Failed() {
			j.t.Errorf("rank %d: %d bytes are left in bounce buffers", i, n)
		}
		m.Close()
		j.es[i].Close()
	}
	for _, c := range j.cs {
		if err := c.Close(); err != nil {
			j.t.Error(err)
		}
	}
}

// run calls f for each rank in a goroutine of its own and polls for all ranks until all have returned.
func (j *job) run(f func(m *Memory) error) {
	j.t.Helper()
	var quit atomic.Bool
	var pollers, ranks sync.WaitGroup
	for _, e := range j.es {
		pollers.Go(func() { e.Progress().Serve(quit.Load) })
	}
	errs := make([]error, len(j.ms))
	for i, m := range j.ms {
		ranks.Go(func() {
			if err := f(m); err != nil {
				errs[i] = fmt.Errorf("rank %d: %w", i, err)
			}
		})
	}
	ranks.Wait()
	quit.Store(true)
	for _, e := range j.es {
		e.Progress().Wake()
	}
	pollers.Wait()
	if err := errors.Join(errs...); err != nil {
		j.t.Error(err)
	}
}

// overAll runs f over all ways with n ranks.
func overAll(t *testing.T, n int, f func(t *testing.T, j *job)) { over(t, ways, n, f) }

// overNetworks is overAll that includes the networks.
func overNetworks(t *testing.T, n int, f func(t *testing.T, j *job)) {
	over(t, slices.Concat(ways, networks), n, f)
}

func over(t *testing.T, all []way, n int, f func(t *testing.T, j *job)) {
	for _, v := range all {
		t.Run(v.name, func(t *testing.T) {
			f(t, newJob(t, n, v, newSeed(t)))
		})
	}
}

// barrier lets the ranks of a job wait for each other; it has nothing to do with what is tested.
type barrier struct {
	mu    sync.Mutex
	n, at int
	gate  chan struct{}
}

func newBarrier(n int) *barrier { return &barrier{n: n, gate: make(chan struct{})} }

func (b *barrier) wait() {
	b.mu.Lock()
	gate := b.gate
	if b.at++; b.at == b.n {
		b.at, b.gate = 0, make(chan struct{})
		close(gate)
	}
	b.mu.Unlock()
	<-gate
}

func pattern(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + seed)
	}
	return b
}

// differ is "" if the two are equal, otherwise it says where they are not.
func differ(got, want []byte) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Sprintf("byte %d of %d is %d, want %d", i, len(got), got[i], want[i])
		}
	}
	return ""
}

// eventually waits until ok.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("timed out: %s", what)
		}
		runtime.Gosched()
		time.Sleep(50 * time.Microsecond)
	}
}

func fewer(n int) int {
	if invariants.Enabled {
		return n / 8
	}
	return n
}
