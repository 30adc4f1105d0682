package portals

import (
	"encoding/binary"
	"errors"
	"flag"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/comm/conduit/conformance"
	"github.com/golci/golci/internal/conduit/fault"
)

var seedFlag = flag.Uint64("portals.seed", 0, "replay the random tests from this seed")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seed is that of the flag or a new one, printed when the test fails.
func seed(t *testing.T) uint64 {
	s := *seedFlag
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with -portals.seed=%d", s)
		}
	})
	return s
}

// ranks makes a job that is closed when the test ends.
func ranks(t testing.TB, n int, cfg Config) []*Conduit {
	t.Helper()
	cs, err := New(n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]*Conduit, n)
	for i, c := range cs {
		out[i] = c.(*Conduit)
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return out
}

func TestConformance(t *testing.T) {
	s := seed(t)
	none := func(c conduit.Conduit) conduit.Conduit { return c }
	for _, v := range []struct {
		name string
		cfg  Config
		wrap func(conduit.Conduit) conduit.Conduit
	}{
		{"plain", Config{}, none},
		{"onespare", Config{Spares: 1}, none},
		{"shuffled", Config{Shuffle: 400, Seed: s}, none},
		{"faults", Config{Shuffle: 100, Seed: s}, func(c conduit.Conduit) conduit.Conduit {
			return fault.New(c, fault.Config{Seed: s, Refuse: 100, Hold: 100, Reorder: true, Startle: 500})
		}},
	} {
		t.Run(v.name, func(t *testing.T) {
			conformance.Run(t, func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
				v.cfg.Conduit = cfg
				v.cfg.Bank = 1 << 14 // parts of the suite do not keep to the loan, only to their tickets
				cs, err := New(n, v.cfg)
				if err != nil {
					t.Fatal(err)
				}
				for i := range cs {
					cs[i] = v.wrap(cs[i])
				}
				return cs
			})
		})
	}
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]Config{
		"msg limit": {MsgLimit: 11},
		"shuffle":   {Shuffle: 1000},
		"bank":      {Bank: -1},
		"spares":    {Spares: -1},
		"record":    {Conduit: conduit.Config{MaxRecord: maxRecord + 1}},
		"loan":      {Conduit: conduit.Config{Loan: maxCredits}},
	} {
		if _, err := New(2, c); !errors.Is(err, conduit.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, n := range []int{-1, 0, maxRanks + 1} {
		if _, err := newRanks(n, nil, Config{}); !errors.Is(err, conduit.ErrConfig) {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}

func TestAbsentRank(t *testing.T) {
	cs, err := newRanks(3, []int{1}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := cs[0]
	if _, st := c.Reserve(2, conduit.Request, 64); st != conduit.Dead || !errors.Is(c.Failed(2), conduit.ErrUnreachable) {
		t.Errorf("Reserve for a rank elsewhere: %v, %v", st, c.Failed(2))
	}
	if c.BulkSend(2, 0, 0, nil) != -1 || c.Failed(1) != nil {
		t.Error("absent and present ranks are taken for each other")
	}
	c.Commit(2, 64)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// sendTo sends one record of size bytes with a serial.
func sendTo(c *Conduit, peer int, class conduit.Class, size int, serial uint64) conduit.Status {
	space, st := c.Reserve(peer, class, size)
	if st != conduit.OK {
		return st
	}
	if size >= 16 {
		binary.LittleEndian.PutUint64(space[8:], serial)
	}
	c.Commit(peer, uint64(size))
	return conduit.OK
}

// must is sendTo that fails the test.
func must(t *testing.T, c *Conduit, peer int, class conduit.Class, size int, serial uint64) {
	t.Helper()
	if st := sendTo(c, peer, class, size, serial); st != conduit.OK {
		t.Fatalf("rank %d to %d, %v of %d bytes: %v, %v", c.rank, peer, class, size, st, c.Failed(peer))
	}
}

// log collects serials in the order of arrival; then is called for each record.
type log struct {
	serials []uint64
	then    func(src int)
}

func (l *log) Record(src int, rec []byte) {
	l.serials = append(l.serials, binary.LittleEndian.Uint64(rec[8:]))
	if l.then != nil {
		l.then(src)
	}
}
func (l *log) Bulk(int, uint64, int64, []byte) {}

// Gone implements conduit.Sink.
func (*log) Gone(int, error) {}

// pollAll polls until nothing is pending.
func pollAll(c *Conduit, s conduit.Sink) {
	for c.Pending() {
		c.Poll(64, s)
	}
}
