package udp_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/conformance"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/udp/seal"
)

var loopback = netip.MustParseAddrPort("127.0.0.1:0")

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

// job is the short form of udptest.Job.
type job struct {
	mode    seal.Mode
	payload int // of a datagram; 0 for what loopback takes
	// slow is as conformance.RunSlow has it: one kind of datagram repeats much, the others differ from it in few places.
	slow int
	// connect is udptest.Job.Connect.
	connect bool
	// variants of the suite; nil for all. One kind of datagram has all. For the others, what lies above datagrams has
	// run.
	variants []string
}

func (j job) open(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	t.Helper()
	return udptest.Job{Mode: j.mode, Payload: j.payload, Connect: j.connect}.Open(t, n, cfg)
}

func TestConformance(t *testing.T) {
	for name, j := range map[string]job{
		"trust":   {mode: seal.Trust, slow: 5, variants: []string{"small", "tinyvector"}},
		"encrypt": {slow: 1},
		"small":   {mode: seal.Trust, payload: 1300, slow: 5, connect: true, variants: []string{"default", "tinyvector"}},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "encrypt" {
				t.Skip("-short: one kind of datagram is enough")
			}
			if invariants.Race {
				j.slow = 5
			}
			conformance.RunSlow(t, j.slow, j.open, j.variants...)
		})
	}
}

// slow is how much less is done over a bad network than over a good one.
const slow = 60

// TestConformanceFaults: what is lost, doubled, overtaken or damaged on the way is not noticed.
func TestConformanceFaults(t *testing.T) {
	for name, c := range map[string]struct {
		job      udptest.Job
		variants []string // as job.variants
	}{
		"trust": {
			udptest.Job{Mode: seal.Trust, Faults: udptest.Bad + ",corrupt=0.05,truncate=0.02"},
			[]string{"small", "tinyvector"},
		},
		"encrypt": {udptest.Job{Faults: udptest.Bad + ",corrupt=0.05,truncate=0.02"}, nil},
		"small":   {udptest.Job{Mode: seal.Trust, Faults: udptest.Bad, Payload: 1300}, []string{"default", "tinyvector"}},
	} {
		c.job.MinRTO = udptest.BadMinRTO
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "small" {
				t.Skip("-short: one bad network is enough")
			}
			conformance.RunSlow(t, slow, c.job.Open, c.variants...)
		})
	}
}

// TestLoanIsRoom: with no limit but its credits a rank is never refused, and its peer's pool, which has room for no
// more than these, never overflows; also while datagrams get lost.
func TestLoanIsRoom(t *testing.T) {
	t.Run("good", func(t *testing.T) { conformance.RunLoan(t, 1, udptest.Job{Credits: udptest.Lent}.Open) })
	t.Run("bad", func(t *testing.T) {
		conformance.RunLoan(t, slow, udptest.Job{Credits: udptest.Lent, Faults: udptest.Bad, MinRTO: udptest.BadMinRTO}.Open)
	})
}

// TestOverflow ignores credits until the space of rank 1 is full. Both ends learn it, with sender, receiver and
// sizes; what had room is delivered, and others go on.
func TestOverflow(t *testing.T) {
	cs := udptest.Job{Credits: 100}.OpenUDP(t, 3, conduit.Config{Loan: 4, MaxRecord: 1024})
	k, sink := &tallySink{}, &tallySink{}
	sent := 0
	for end := time.Now().Add(time.Minute); cs[0].Failed(1) == nil && time.Now().Before(end); sent++ {
		if _, st := cs[0].Reserve(1, conduit.Request, 1000); st == conduit.OK {
			cs[0].Commit(1, 1000)
		} else {
			sent--
		}
		cs[0].Poll(10, sink)
	}
	for _, pair := range [][2]int{{0, 1}, {1, 0}} {
		err := cs[pair[0]].Failed(pair[1])
		if !errors.Is(err, conduit.ErrOverflow) || !strings.Contains(err.Error(), "rank 0 sent a request of 1000 bytes to rank 1, whose") {
			t.Errorf("rank %d: %v", pair[0], err)
		}
	}
	for cs[1].Poll(10, k) > 0 {
		continue
	}
	if n := int(k.from[0].Load()); n*4 < 100 || n > sent {
		t.Errorf("%d of %d records were delivered, 100 credits pay for 25", n, sent)
	}
	if cs[1].Stats().Overflows == 0 {
		t.Error("no overflow was counted")
	}
	if err := sendOne(cs[2], 1, sink); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(time.Minute); k.from[2].Load() == 0; cs[1].Poll(10, k) {
		if time.Now().After(end) {
			t.Fatal("nothing of rank 2 came")
		}
	}
	for i, c := range cs {
		if err := c.Close(); err != nil {
			t.Errorf("close of rank %d: %v", i, err)
		}
	}
}
