package credits

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/bench/chart"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/transport/credit"
)

func simulate(t *testing.T, c Config) Result {
	t.Helper()
	if c.Seed == 0 {
		c.Seed = 1
	}
	res, err := Simulate(c, nil)
	if err != nil {
		t.Fatalf("seed %d: %v", c.Seed, err)
	}
	t.Logf("%s, %d ranks, seed %d: steady from %d, no waiting from %d, throughput %.3f, loans of flows from %d, largest %d",
		c.Pattern, c.Ranks, c.Seed, res.Steady, res.Smooth, res.Throughput, res.Least, res.Largest)
	return res
}

// oneGoroutine leaves a test out under the race detector, where it takes long.
func oneGoroutine(t *testing.T) {
	if invariants.Race {
		t.Skip("a simulation has one goroutine, in which there are no races to be found; the shorter tests run")
	}
}

// TestStaticPatternSettles: every flow has what it needs within 20 epochs, and not one credit moves for 40 epochs
// after that.
func TestStaticPatternSettles(t *testing.T) {
	oneGoroutine(t)
	for _, n := range []int{2, 3, 27, 64} {
		res := simulate(t, Config{Ranks: n, Pattern: "static", Epochs: 60, Loan: 6})
		if res.Steady > 20 || res.Smooth > 20 || res.Steady == 0 {
			t.Errorf("%d ranks: credits moved until epoch %d, requests waited until %d", n, res.Steady, res.Smooth)
		}
		if need := turnLength; res.Least < need {
			t.Errorf("%d ranks: a flow that has up to %d credits out was lent %d", n, need, res.Least)
		}
	}
}

// TestRotatingPartners: throughput with loans from the bank of the default table, where a partner stays for four
// epochs.
func TestRotatingPartners(t *testing.T) {
	oneGoroutine(t)
	for _, p := range []string{"chain", "oddpoll", "pairs"} {
		for _, loan := range []int{0, 4} { // the table's, and the least that the table ever has
			res := simulate(t, Config{Ranks: 64, Pattern: p, Epochs: 40, Stay: 4, Loan: loan})
			if res.Throughput < 0.9 {
				t.Errorf("%s, loan %d: %.3f of unlimited", p, loan, res.Throughput)
			}
		}
	}
}

func TestNoDemandNoMove(t *testing.T) {
	for _, n := range []int{2, 64} {
		res := simulate(t, Config{Ranks: n, Pattern: "none", Epochs: 10})
		for _, r := range res.Rows {
			if r.Moved+r.Stalls+r.Revokes+r.Requests != 0 || r.Gini != 0 || r.Ticks == 0 {
				t.Errorf("%d ranks: %+v", n, r)
			}
		}
	}
}

// TestScarce has every pattern with next to no bank, ranks that are away often, and scavenging all the time: the
// invariants, which Run checks in each tick, must hold.
func TestScarce(t *testing.T) {
	oneGoroutine(t)
	for _, p := range Patterns() {
		for _, n := range []int{2, 5, 24} {
			res := simulate(t, Config{Ranks: n, Pattern: p, Epochs: 12, Stay: 2, Loan: 8, Bank: 20, cost: 3, period: 40, Pause: 30})
			if len(res.Rows) != 12 {
				t.Errorf("%s, %d ranks: %d rows", p, n, len(res.Rows))
			}
		}
	}
}

// TestScavengingFindsWhatIsIdle: partners rotate for long after the bank has run out, and still get most of what they
// need from those who had it before.
func TestScavengingFindsWhatIsIdle(t *testing.T) {
	oneGoroutine(t)
	res := simulate(t, Config{Ranks: 32, Pattern: "chain", Epochs: 160, Stay: 8, Loan: 4, Bank: 300})
	var revokes, late uint64
	ticks := 0
	for _, r := range res.Rows[80:] {
		revokes += r.Revokes
		late += r.Requests
		ticks += r.Ticks
	}
	if revokes == 0 {
		t.Error("nothing was revoked: the bank is too large for this test")
	}
	if got := float64(late) / float64(ticks) / res.Unlimited; got < 0.75 {
		t.Errorf("%.3f of unlimited in the second half", got)
	}
}

func TestSameSeedSameRun(t *testing.T) {
	c := Config{Ranks: 20, Pattern: "random", Epochs: 10, Loan: 4, Seed: 5}
	a, b := simulate(t, c), simulate(t, c)
	if !slices.Equal(a.Rows, b.Rows) {
		t.Error("two runs of one seed differ")
	}
	if c.Seed = 6; slices.Equal(a.Rows, simulate(t, c).Rows) {
		t.Error("two seeds give the same run")
	}
}

func TestSparseIsAsDense(t *testing.T) {
	sparse := simulate(t, Config{Ranks: dense + 1, Pattern: "chain", Epochs: 2, Loan: 6})
	full := simulate(t, Config{Ranks: dense, Pattern: "chain", Epochs: 2, Loan: 6})
	if full.Pairs != dense*(dense-1) || sparse.Pairs > 3*dense {
		t.Errorf("%d and %d pairs", full.Pairs, sparse.Pairs)
	}
	if a, b := full.Rows[1].Gini, sparse.Rows[1].Gini; a < 0.8*b || b < 0.8*a {
		t.Errorf("Gini %.5f and %.5f", a, b)
	}
}

// TestChecksSee: a run that breaks an invariant ends with an error.
func TestChecksSee(t *testing.T) {
	for name, damage := range map[string]func(s *sim){
		"space":    func(s *sim) { s.nodes[1].flying = s.c.terms.Total(s.c.Ranks) + 1; s.fly(&s.nodes[0], 0, 0) },
		"flying":   func(s *sim) { s.nodes[0].flying = -1 << 20 },
		"borrower": func(s *sim) { s.nodes[0].out[0], _ = credit.Borrow(&credit.Config{PerPeer: 300, Mode: credit.Fixed}) },
	} {
		c, err := Config{View: Simulation, Ranks: 4, Pattern: "chain"}.fill()
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSim(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.checkAll(); err != nil {
			t.Fatal(err)
		}
		damage(s)
		if err := errors.Join(s.overflow, s.checkAll()); !errors.Is(err, ErrInvariant) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestShowSimulation: a JSON object in a line for each epoch, or columns with a summary, and curves that can be drawn.
func TestShowSimulation(t *testing.T) {
	c := Config{View: Simulation, Ranks: 8, Pattern: "chain", Epochs: 4, Loan: 4, Seed: 1, Pause: -1}
	var lines, table bytes.Buffer
	curves, err := Show(t.Context(), c, &lines, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&lines)
	for i := range c.Epochs {
		var e Epoch
		if err := d.Decode(&e); err != nil || e.Epoch != i || e.Throughput <= 0 {
			t.Errorf("epoch %d: %+v, %v", i, e, err)
		}
	}
	if err := chart.Write(filepath.Join(t.TempDir(), "x.svg"), "", curves); err != nil || len(curves) != 5*c.Epochs {
		t.Error(len(curves), err)
	}
	if _, err := Show(t.Context(), c, &table, false, nil); err != nil ||
		!strings.Contains(table.String(), "of what it is without flow control") || strings.Count(table.String(), "\n") != 9 {
		t.Errorf("table, error %v:\n%s", err, &table)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Show(ctx, c, &lines, true, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

func TestGini(t *testing.T) {
	for _, c := range []struct {
		count []int
		want  float64
	}{
		{[]int{0, 0, 5}, 0},
		{[]int{0, 1, 0, 1}, 0.25},          // 1 and 3
		{[]int{3, 0, 0, 0, 1}, 0.75},       // one has all
		{[]int{}, 0},                       // nothing at all
		{[]int{0, 1, 1, 1, 1, 1}, 4. / 15}, // 1 to 5
	} {
		if got := giniOf(c.count); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%v: %v, want %v", c.count, got, c.want)
		}
	}
}
