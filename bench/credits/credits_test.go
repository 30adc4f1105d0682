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
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/rma/twin"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/internal/transport/credit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

// short is a job of few ranks for a short time.
var short = Config{Ranks: 4, Bank: 40, Length: 60 * time.Millisecond}

func TestRowsOverTime(t *testing.T) {
	var rows []Row
	if err := Run(t.Context(), short, func(r Row) error { rows = append(rows, r); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(rows) != samples*len(patterns) {
		t.Fatalf("%d rows, want %d", len(rows), samples*len(patterns))
	}
	moved := uint64(0)
	for i, r := range rows {
		if r.Pattern != patterns[i/samples].name || r.Sample != i%samples || r.Sample > 0 && r.Millis <= rows[i-1].Millis {
			t.Errorf("row %d is %+v", i, r)
		}
		// The ranks are looked at one after the other, while credits move; within each the sum is exact.
		// With what whole buffers hold beyond the 58 credits.
		if sum := r.LoanMean*3 + r.Bank; sum < 57.99 || math.Abs(sum-rows[0].LoanMean*3-rows[0].Bank) > 0.01 {
			t.Errorf("%g credits of 3 loans of 6 and a bank of 40: %+v", sum, r)
		}
		if r.LoanMin < leastLoan || r.LoanMax < r.LoanMin || float64(r.LoanMax) > rows[0].LoanMean*3+rows[0].Bank || r.Throughput < 0 {
			t.Errorf("row %+v", r)
		}
		moved += r.Granted
	}
	if moved == 0 {
		t.Error("no credit has moved")
	}
}

func TestShowAsTableAndAsJSON(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		out := new(bytes.Buffer)
		curves, err := Show(t.Context(), Config{Ranks: 2, Length: 20 * time.Millisecond}, out, asJSON)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		want := (samples + 1) * len(patterns)
		if asJSON {
			want = samples * len(patterns)
			var r Row
			if err := json.Unmarshal([]byte(lines[0]), &r); err != nil || r.Pattern != "static" || r.LoanMax == 0 {
				t.Errorf("line %q: %v", lines[0], err)
			}
		}
		if len(lines) != want {
			t.Errorf("json %v: %d lines, want %d", asJSON, len(lines), want)
		}
		if len(curves) != samples*len(patterns)*5 || !strings.Contains(curves[0].Bench, "static") {
			t.Errorf("%d points to draw, the first %+v", len(curves), curves[0])
		}
	}
}

func TestRunEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	if err := Run(t.Context(), short, func(Row) error { return why }); !errors.Is(err, why) {
		t.Errorf("error %v, want that of the caller", err)
	}
	cancel(why)
	if err := Run(ctx, short, func(Row) error { return nil }); !errors.Is(err, why) {
		t.Errorf("error %v, want the cause of the context", err)
	}
}

func TestBadConfigs(t *testing.T) {
	for _, c := range []Config{
		{Ranks: 1}, {Ranks: maxRanks + 1}, {Loan: 3}, {Loan: credit.MaxLoanNarrow + 1}, {Bank: 1 << 21}, {Length: time.Millisecond},
	} {
		if _, err := Show(t.Context(), c, nil, false); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if c, err := (Config{Bank: -1}).fill(); err != nil || c.Bank != 0 || c.Ranks != 8 {
		t.Errorf("no bank: %+v, %v", c, err)
	}
}

// TestPartners: nobody sends to itself or beyond, partners of a pair agree, and partners that rotate change.
func TestPartners(t *testing.T) {
	for n := 2; n <= 9; n++ {
		for _, p := range patterns {
			seen := map[int]bool{}
			for phase := range 2 * n {
				for i := range n {
					to := p.targets(i, n, phase)
					for _, j := range to {
						if j < 0 || j >= n || j == i {
							t.Errorf("%s, phase %d: %d of %d sends to %d", p.name, phase, i, n, j)
						}
						if back := p.targets(j, n, phase); p.name == "pairs" && !slices.Equal(back, []int{i}) {
							t.Errorf("phase %d: %d has %d, which has %d", phase, i, j, back)
						}
						if i == 0 {
							seen[j] = true
						}
					}
					if len(to) == 0 && (p.name != "pairs" || n%2 == 0) {
						t.Errorf("%s, phase %d: %d of %d has nobody", p.name, phase, i, n)
					}
				}
			}
			if rotates := p.name != "static"; n > 3 && rotates && len(seen) < n/2 {
				t.Errorf("%s: rank 0 of %d has partners %v only", p.name, n, seen)
			}
		}
	}
}

// flows runs Flow as the two ranks of a job in this process.
func flows(t *testing.T, c FlowConfig) (rows []bench.Row, errs []error) {
	t.Helper()
	jobs, err := boot.Local(2)
	if err != nil {
		t.Fatal(err)
	}
	errs = make([]error, 2)
	var wg sync.WaitGroup
	for i, job := range jobs {
		wg.Go(func() { errs[i] = Flow(t.Context(), job, c, func(r bench.Row) { rows = append(rows, r) }) })
	}
	wg.Wait()
	return rows, errs
}

func TestFlowRows(t *testing.T) {
	rows, errs := flows(t, FlowConfig{Sizes: []int{8, 1024}, Window: time.Millisecond})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.Impl, " ", r.Size))
		if r.Bench != FlowName || r.Value <= 0 || r.Unit != bench.Nano || compared(r) != against[r.Impl] {
			t.Errorf("row %+v", r)
		}
	}
	if want := []string{
		"golci-dynamic 8", "golci-static 8", "golci-none 8", "golci-dynamic 1024", "golci-static 1024", "golci-none 1024",
	}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}

func TestFlowRefuses(t *testing.T) {
	for _, sizes := range [][]int{nil, {7}, {8, mostSize + 1}} {
		if _, errs := flows(t, FlowConfig{Sizes: sizes}); !errors.Is(errs[0], ErrSize) || !errors.Is(errs[1], ErrSize) {
			t.Errorf("sizes %d: %v", sizes, errs)
		}
	}
	t.Setenv("GOLCI_CONDUIT", "udp")
	_, errs := flows(t, FlowConfig{Sizes: []int{8}})
	if !errors.Is(errs[0], twin.ErrShare) {
		t.Errorf("without shared memory: %v", errs)
	}
}

// TestLoans: each measure has a row of each mode, with its ratios to the modes behind it. Memory is told with its
// bound, and the system's own figures come last.
// against is with how many other modes the row of a mode is compared; compared is with how many a row says that it is.
var against = map[string]int{"golci-dynamic": 2, "golci-static": 1}

func compared(r bench.Row) int { return strings.Count(r.Note, "golci-") }

func TestLoans(t *testing.T) {
	for _, ranks := range []int{2, 5} {
		var got []string
		err := Loans(t.Context(), LoansConfig{Ranks: ranks, Slice: time.Millisecond, Slices: 5}, func(r bench.Row) {
			what, impl := strings.TrimPrefix(r.Bench, "loans "), strings.TrimPrefix(r.Impl, "golci-")
			got = append(got, fmt.Sprintf("%s %s %d", what, impl, r.Threads))
			if what != "memory" && (r.Value <= 0 || compared(r) != against[r.Impl]) {
				t.Errorf("row %+v", r)
			}
			if used, most := int(r.Value), 0; r.Bench == "loans memory" {
				if _, err := fmt.Sscanf(r.Note, "of %d at most", &most); err != nil || most < 400_000 || used > 2*most {
					t.Errorf("row %+v: %v", r, err)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
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

func TestLoansRefuses(t *testing.T) {
	for _, c := range []LoansConfig{
		{1, time.Second, 1}, {maxRanks + 1, time.Second, 1}, {2, time.Microsecond, 1}, {2, time.Second, 0},
	} {
		if err := Loans(t.Context(), c, nil); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if err := Loans(ctx, LoansConfig{2, time.Second, 1}, nil); !errors.Is(err, why) {
		t.Errorf("error %v, want the cause of the context", err)
	}
}
