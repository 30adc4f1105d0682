package reliable

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/platform/invariants"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seedOf prints the seed; RELIABLE_SEED chooses another. In virtual time a seed always gives the same figures.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(1)
	if s := os.Getenv("RELIABLE_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("RELIABLE_SEED=%d", seed)
	return seed
}

// slow skips what is long under the race detector: a simulation is one goroutine.
func slow(t *testing.T) {
	t.Helper()
	if invariants.Race || testing.Short() {
		t.Skip("one goroutine, and long")
	}
}

func measure(t *testing.T, c Config) *Loss {
	t.Helper()
	l, err := MeasureLoss(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("loss %g: %.1f MB/s, resent/lost %.3f, timeouts %d, spurious %d, %v %v %v", c.Loss, l.Goodput/1e6,
		over(l.Resent, l.Lost),
		l.Timeouts, l.Spurious, l.P50, l.P99, l.Top)
	return l
}

// TestGoodputUnderLoss: figures in virtual time, which do not depend on the machine.
func TestGoodputUnderLoss(t *testing.T) {
	slow(t)
	seed := seedOf(t)
	const rate = 125e6 // the default
	for _, size := range []int{64 << 10, 512} {
		t.Run(fmt.Sprint("size=", size), func(t *testing.T) {
			conf := Config{Size: size, Seed: seed}
			clean := measure(t, conf)
			if clean.Goodput < 0.75*rate {
				t.Errorf("%.0f bytes a second over a link of %.0f", clean.Goodput, float64(rate))
			}
			for _, l := range []struct{ loss, least float64 }{{0.01, 0.8}, {0.05, 0.5}} {
				conf.Loss = l.loss
				got := measure(t, conf)
				if got.Goodput < l.least*clean.Goodput {
					t.Errorf("at a loss of %g goodput is %.2f of lossless, want %.2f", l.loss, got.Goodput/clean.Goodput, l.least)
				}
				if r := over(got.Resent, got.Lost); r > 1.5 {
					t.Errorf("at a loss of %g %.2f of the lost bytes were resent", l.loss, r)
				}
				if got.P50 < conf.RTT/2 || got.P99 < got.P50 || got.Top < got.P99 {
					t.Errorf("times %v, %v, %v", got.P50, got.P99, got.Top)
				}
			}
		})
	}
}

// TestBottleneckIsShared evenly by senders with equal round trips. Where these differ, the bottleneck must still be
// used.
func TestBottleneckIsShared(t *testing.T) {
	slow(t)
	seed := seedOf(t)
	for _, s := range []Scenario{Staggered, Unequal} {
		got, err := MeasureShare(Config{Senders: 8, Seed: seed}, s)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.3f of the bottleneck, Jain %.3f, %.4f lost, %.2f of that resent, %.0f", s, got.Use, got.Jain, got.LostPart, got.Resent, got.Each)
		if got.Use < 0.8 || s != Unequal && got.Jain < 0.9 {
			t.Errorf("%s: %.3f of the bottleneck, Jain %.3f, want 0.8 and 0.9", s, got.Use, got.Jain)
		}
	}
}

// TestEveryFault: whatever happens to packets, every message arrives once, and the run accounts for each.
func TestEveryFault(t *testing.T) {
	seed := seedOf(t)
	for _, c := range []Config{
		{Loss: 0.1},
		{Reorder: 0.2},
		{Dup: 0.2},
		{Loss: 0.05, Reorder: 0.05, Dup: 0.05, Size: 100},
		{Loss: 0.3, Size: 5000, MTU: 9000},
	} {
		c.Seed, c.Length, c.Count = seed, 20*time.Millisecond, 200
		if l := measure(t, c); l.Goodput <= 0 || c.Loss > 0 && l.Lost == 0 || l.Lost > l.Sent {
			t.Errorf("%+v", l)
		}
	}
}

func TestTheSameSeedGivesTheSame(t *testing.T) {
	c := Config{Loss: 0.05, Dup: 0.01, Reorder: 0.01, Length: 20 * time.Millisecond, Count: 100, Seed: seedOf(t)}
	a, b := measure(t, c), measure(t, c)
	if *a != *b {
		t.Errorf("%+v and %+v", a, b)
	}
	c.Seed++
	if d := measure(t, c); d.Lost == a.Lost && d.P99 == a.P99 {
		t.Errorf("another seed gives the same: %+v", d)
	}
}

// TestBooksAreChecked: what has not arrived, or has arrived twice, is an error and not a figure.
func TestBooksAreChecked(t *testing.T) {
	c, err := Config{Size: 1000}.Fill()
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(c)
	if err != nil {
		t.Fatal(err)
	}
	s, r := w.nodes[0], w.receiver()
	if !s.send(make([]byte, 1000), 0) {
		t.Fatal("nothing can be sent")
	}
	if err := s.totals(); !errors.Is(err, ErrTotals) {
		t.Errorf("nothing has arrived: %v", err)
	}
	s.err = nil
	r.Put(0, 0, 0, 0, make([]byte, 1000))
	if err := errors.Join(s.totals(), r.err); err != nil {
		t.Errorf("all has arrived: %v", err)
	}
	r.Put(0, 0, 0, 0, make([]byte, 1))
	if !errors.Is(r.err, ErrTotals) {
		t.Errorf("a byte has arrived twice: %v", r.err)
	}
	if err := w.drain(); !errors.Is(err, ErrTotals) {
		t.Errorf("drained with %v", err)
	}
}

func TestBadConfig(t *testing.T) {
	for _, c := range []Config{
		{Size: -1},
		{Loss: 1},
		{Loss: -0.1},
		{Loss: math.NaN()},
		{Dup: 2},
		{Reorder: -1},
		{Rate: 1},
		{Rate: math.Inf(1)},
		{RTT: -1},
		{RTT: 24 * time.Hour},
		{MTU: 10},
		{MTU: 1 << 20},
		{Load: 2},
		{Senders: -1},
		{Senders: 5000},
		{Spread: 0.5},
		{Count: -1},
		{Length: 1},
	} {
		if _, err := MeasureLoss(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := MeasureShare(c, Together); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestQuantile(t *testing.T) {
	times := []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 5, 0.51: 6, 0.99: 10, 1: 10} {
		if got := quantile(times, q); got != want {
			t.Errorf("quantile %g is %d, want %d", q, got, want)
		}
	}
	if quantile(nil, 0.5) != 0 {
		t.Error("a quantile of nothing")
	}
}

func TestFairness(t *testing.T) {
	if use, jain := fairness([]float64{5, 5, 5, 5}, 40); use != 0.5 || jain != 1 {
		t.Errorf("even: %v, %v", use, jain)
	}
	if use, jain := fairness([]float64{10, 0, 0, 0}, 10); use != 1 || jain != 0.25 {
		t.Errorf("all for one: %v, %v", use, jain)
	}
	if _, jain := fairness([]float64{0, 0}, 10); jain != 0 {
		t.Errorf("nothing for anybody: %v", jain)
	}
}
