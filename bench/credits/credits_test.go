package credits

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/credit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

// TestOverTime: each pattern has its samples, in which the credits of a rank add up.
func TestOverTime(t *testing.T) {
	var out bytes.Buffer
	c := Config{Ranks: 3, Bank: 40, Length: 20 * time.Millisecond}
	curves, err := Show(t.Context(), c, &out, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	var first Sample
	d := json.NewDecoder(&out)
	for i := range samples * len(timed) {
		var s Sample
		if err := d.Decode(&s); err != nil || s.Pattern != timed[i/samples] || s.Sample != i%samples || s.Millis <= 0 {
			t.Fatalf("row %d is %+v, %v", i, s, err)
		}
		if i == 0 {
			first = s
		}
		// The ranks are looked at one after the other, while credits move; within each the sum is exact. It has what
		// whole buffers hold beyond the 52 credits.
		sum := s.LoanMean*2 + s.Bank
		if sum < 51.99 || math.Abs(sum-first.LoanMean*2-first.Bank) > 0.01 {
			t.Errorf("%g credits of 2 loans of 6 and a bank of 40: %+v", sum, s)
		}
		if s.LoanMin < leastLoan || s.LoanMax < s.LoanMin || float64(s.LoanMax) > sum || s.Throughput < 0 {
			t.Errorf("row %+v", s)
		}
	}
	if len(curves) != samples*len(timed)*5 || !strings.Contains(curves[0].Bench, "ring") {
		t.Errorf("%d points to draw, the first %+v", len(curves), curves[0])
	}
}

// TestLoans: each measure has a row of each mode, with its ratios to the modes behind it. Memory is told with its
// bound, and the system's own figures come last.
func TestLoans(t *testing.T) {
	against := map[string]int{"golci-dynamic": 2, "golci-static": 1} // modes behind a mode
	for _, ranks := range []int{2, 3} {
		var got, want []string
		c := Config{View: Loans, Ranks: ranks, Length: time.Millisecond, slices: 2}
		_, err := Show(t.Context(), c, nil, false, func(r bench.Row) error {
			what, impl := strings.TrimPrefix(r.Bench, "loans "), strings.TrimPrefix(r.Impl, "golci-")
			got = append(got, fmt.Sprintf("%s %s %d", what, impl, r.Threads))
			if what != "memory" && (r.Value <= 0 || strings.Count(r.Note, "golci-") != against[r.Impl]) {
				t.Errorf("row %+v", r)
			}
			if used, most := int(r.Value), 0; what == "memory" {
				if _, err := fmt.Sscanf(r.Note, "of %d at most", &most); err != nil || most < 400_000 || used > 2*most {
					t.Errorf("row %+v: %v", r, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []string{"latency", "rate", "bandwidth", "memory"} {
			for _, mode := range []string{"dynamic", "static", "none"} {
				want = append(want, fmt.Sprint(m, " ", mode, " ", ranks))
			}
		}
		if want = append(want, "latency raw 2", "bandwidth raw 2"); !slices.Equal(got, want) {
			t.Errorf("%d ranks: rows %q, want %q", ranks, got, want)
		}
	}
}

// TestShowEnds with the cause of its context.
func TestShowEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	for _, view := range []string{OverTime, Loans} {
		c := Config{View: view, Ranks: 2, Length: time.Second}
		if _, err := Show(ctx, c, nil, false, nil); !errors.Is(err, why) {
			t.Errorf("%s: error %v, want the cause of the context", view, err)
		}
	}
}

func TestBadConfigs(t *testing.T) {
	for _, c := range []Config{
		{View: "none"},
		{Ranks: 1},
		{Ranks: maxRanks + 1},
		{Loan: 3},
		{Loan: credit.MaxLoanNarrow + 1},
		{Bank: 1 << 21},
		{Length: time.Millisecond},
		{View: Loans, Ranks: 1},
		{View: Loans, Ranks: maxRanks + 1},
		{View: Loans, Length: 1},
		{View: Loans, slices: -1},
		{View: Simulation, Ranks: 1},
		{View: Simulation, Ranks: maxNodes + 1},
		{View: Simulation, Ranks: 1<<16 + 2, Pattern: "hotspot", Epochs: 1}, // more peers of one rank than fit
		{View: Simulation, Pattern: "circle"},
		{View: Simulation, Epochs: -1},
		{View: Simulation, Stay: -1},
		{View: Simulation, cost: 5},
		{View: Simulation, Pause: 100},
		{View: Simulation, Loan: 3000},
	} {
		if _, err := Show(t.Context(), c, nil, false, nil); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if c, err := (Config{Bank: -1}).fill(); err != nil || c.Bank != 0 || c.Ranks != 8 {
		t.Errorf("no bank: %+v, %v", c, err)
	}
}
