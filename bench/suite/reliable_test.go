package suite

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/ranks"
	"github.com/golci/golci/bench/reliable"
)

func TestReliableIsSimulated(t *testing.T) {
	c, out := config(t, "reliable")
	c.Link = reliable.Config{Count: 20, Seed: 1}
	c.Sizes, c.Losses, c.Duration = []int{5000}, []float64{0, 0.05}, 10*time.Millisecond
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n     5000 "); n != 2 {
		t.Errorf("%d rows, want 2:\n%s", n, out)
	}
	c.Conduit = udpConduit
	if err := Run(t.Context(), c); !errors.Is(err, ErrUsage) {
		t.Errorf("a conduit for a simulation: %v", err)
	}
	c.Conduit, c.Sizes = "", []int{0}
	if err := Run(t.Context(), c); !errors.Is(err, ErrUsage) {
		t.Errorf("messages of 0 bytes: %v", err)
	}
}

// TestReliableForReal has the stand-in's ranks run once for each mode, size, loss and benchmark.
func TestReliableForReal(t *testing.T) {
	t.Setenv(fakeEnv, "good")
	c, out := config(t, "reliable")
	c.Real, c.Security, c.Sizes, c.Losses, c.JSON = true, []string{"encrypt", "trust"}, []int{100}, []float64{0.1, 0}, true
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(out)
	for _, impl := range []string{"golci-udp-encrypt", "golci-udp-trust"} {
		for _, loss := range []float64{0, 0.1} {
			var r realRow
			if err := d.Decode(&r); err != nil {
				t.Fatal(err)
			}
			if r.Impl != impl || float64(r.Loss) != loss || r.Size != 100 || r.Goodput != 1 || r.Share != 1 {
				t.Errorf("%+v, want %s with a loss of %g", r, impl, loss)
			}
		}
	}
	t.Setenv(fakeEnv, "fail")
	if err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "rank 1 died") {
		t.Errorf("failed ranks: %v", err)
	}
}

func TestRowsOfARealRun(t *testing.T) {
	var o realRow
	o.take(bench.Row{Bench: "bandwidth", Value: 4})
	for i, q := range ranks.Quantiles {
		o.take(bench.Row{Bench: ranks.TailOf(q), Value: float64(i + 1)})
	}
	if o.Goodput != 4 || o.P50 != 1 || o.P99 != 2 || o.P999 != 3 {
		t.Errorf("%+v", o)
	}
}

func TestFaultsAreASetting(t *testing.T) {
	c := Config{Link: reliable.Config{Seed: 7, Dup: 0.25}}
	if got, want := c.faults(0.01), "GOLCI_UDP_FAULTS=seed=7,loss=0.01,dup=0.25"; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	c.Link.Dup = 0
	if got := c.faults(0); len(got) != 0 {
		t.Errorf("%q without faults", got)
	}
}

func TestParseChances(t *testing.T) {
	got, err := ParseChances("0, 0.1%,0.05,10%")
	if want := []float64{0, 0.001, 0.05, 0.1}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v; %v", got, want, err)
	}
	for _, bad := range []string{"1", "100%", "-1%", "x", "NaN"} {
		if _, err := ParseChances(bad); !errors.Is(err, ErrUsage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "8": 1, "1k": 125, "1G": 125e6, "2.5g": 312.5e6, "100M": 12.5e6} {
		if got, err := ParseRate(text); got != want || err != nil {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"G", "0", "-1", "1T", "NaN"} {
		if _, err := ParseRate(bad); !errors.Is(err, ErrUsage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestLossesDependOnTheQuestion(t *testing.T) {
	for _, c := range []struct {
		conf Config
		want int
	}{
		{Config{}, len(losses)},
		{Config{Link: reliable.Config{Senders: 8}}, 1},
		{Config{Link: reliable.Config{Senders: 8}, Losses: []float64{0, 0.1}}, 2},
	} {
		if got := c.conf.losses(); len(got) != c.want {
			t.Errorf("%+v: losses %v", c.conf, got)
		}
	}
}
