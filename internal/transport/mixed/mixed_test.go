package mixed_test

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/conformance"
	"github.com/golci/golci/internal/test/mixedtest"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/local"
	"github.com/golci/golci/internal/transport/mixed"
	"github.com/golci/golci/internal/transport/udp/seal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

func TestConformance(t *testing.T) {
	for _, p := range []struct {
		name     string
		together mixedtest.Together
	}{{"near", mixedtest.AllNear}, {"far", mixedtest.AllFar}, {"parity", mixedtest.Parity}} {
		t.Run(p.name, func(t *testing.T) {
			if testing.Short() && p.name == "near" {
				t.Skip("parity and shared memory show the near side, too")
			}
			conformance.Run(t, func(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
				return mixedtest.Local(t, n, cfg, p.together, nil)
			})
		})
	}
}

func locals(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	t.Helper()
	cs, err := local.New(n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return cs
}

// besides has neither words nor order nor a bulk channel.
func besides(t testing.TB, n int, cfg conduit.Config) []conduit.Conduit {
	t.Helper()
	cfg.BulkChunk = -1
	return udptest.Job{Mode: seal.Trust, Credits: udptest.Lent}.Open(t, n, cfg)
}

func closeAll(t testing.TB, cs ...conduit.Conduit) {
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNewRefuses: conduits of different ranks or jobs, and a far one without a bell.
func TestNewRefuses(t *testing.T) {
	two, three := locals(t, 2, conduit.Config{}), locals(t, 3, conduit.Config{})
	defer closeAll(t, append(two, three...)...)
	for what, far := range map[string]conduit.Conduit{
		"another rank": mixedtest.WithBell(two[1]),
		"another job":  mixedtest.WithBell(three[0]),
		"no bell":      two[0],
	} {
		if c, err := mixed.New(two[0], far, func(int) bool { return true }); !errors.Is(err, conduit.ErrConfig) || c != nil {
			t.Errorf("%s: %v, %v", what, c, err)
		}
	}
}

// TestCaps: what holds towards every peer, and the longest chunk that may come from any.
func TestCaps(t *testing.T) {
	small := conduit.Config{Loan: 50, MaxRecord: 2000, BulkChunk: 1000, BulkSlots: 3}
	large := conduit.Config{Loan: 60, MaxRecord: 1000, BulkChunk: 3000, BulkSlots: 2}
	cs := mixedtest.Join(t, locals(t, 2, small), locals(t, 2, large), mixedtest.Parity)
	defer closeAll(t, cs...)
	want := conduit.Caps{
		Name: "mixed(local+local)", MaxRecord: 1000, Loan: 50, Ordered: true, BulkChunk: 3000, BulkSlots: 2,
	}
	if got := cs[0].Caps(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for peer := range cs { // near would take more
		if _, st := cs[0].Reserve(peer, conduit.Request, 1001); st != conduit.Dead {
			t.Errorf("rank %d: a record longer than the longest: %v", peer, st)
		}
	}
	ps := mixedtest.Join(t, locals(t, 2, small), besides(t, 2, small), mixedtest.Parity)
	defer closeAll(t, ps...)
	want = conduit.Caps{Name: "mixed(local+udp)", MaxRecord: 2000, Loan: 50}
	if got := ps[0].Caps(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for peer := range ps { // near has a bulk channel
		if n, _ := ps[0].BulkSend(peer, 1, 0, make([]byte, 10), nil); n != 0 {
			t.Errorf("rank %d: %d bytes through no bulk channel", peer, n)
		}
	}
	if ps[0].Mine(0) == nil || ps[0].Theirs(0) == nil || ps[0].Mine(1) != nil || ps[0].Theirs(1) != nil {
		t.Error("words lead to near peers, and to no others")
	}
}
