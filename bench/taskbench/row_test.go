package taskbench

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// curve has samples of 10 tasks with a fixed cost of 1 us each, and 1 ns for each unit of work.
func curve(impl string, cores int, iterations ...int) (rows []Row) {
	for _, n := range iterations {
		r := Row{
			Bench: Bench, Impl: impl, Type: "tree", Cores: cores, Iterations: n, Tasks: 10, Work: 10 * n, Unit: "FLOP",
		}
		r.took(10 * (1e-6 + float64(n)*1e-9) / float64(cores))
		rows = append(rows, r)
	}
	return rows
}

func near(got, want float64) bool { return math.Abs(got-want) < 1e-6*math.Abs(want) }

// TestMETG: with a cost of 1 us and no limit of the rate, tasks of 2 us are half efficient. Between samples the METG
// is interpolated, so it is exact only where it is a sample.
func TestMETG(t *testing.T) {
	for _, c := range []struct {
		name       string
		iterations []int
		time       float64 // us
		below      bool
	}{
		{"a sample has it", []int{1e9, 1000, 10}, 2.002, false},
		{"in any order", []int{10, 1e9, 1000}, 2.002, false},
		{"every sample is above", []int{1e9, 1e6, 1e4}, 11, true},
		{"one sample", []int{100}, 1.1, true},
		{"between two", []int{1e9, 3000, 500}, 2.5, false},
	} {
		for _, cores := range []int{1, 4} {
			rows := Best(curve("x", cores, c.iterations...))
			m := Granularity(rows, half)
			if math.Abs(m.Time-c.time) > 0.01*c.time || m.Below != c.below {
				t.Errorf("%s, %d cores: %+v, want %g, below %v", c.name, cores, m, c.time, c.below)
			}
			if m.Cores != cores || m.Impl != "x" || m.Type != "tree" || m.Unit != "FLOP" || m.Share != half {
				t.Errorf("%s: %+v", c.name, m)
			}
		}
	}
}

const half = 0.5

// TestMETGIsInterpolated: the efficiency is linear in the time of a task between two samples.
func TestMETGIsInterpolated(t *testing.T) {
	rows := []Row{
		{PerTask: 1, Efficiency: 0.1},
		{PerTask: 2, Efficiency: 0.4},
		{PerTask: 4, Efficiency: 0.6},
		{PerTask: 5, Efficiency: 1},
	}
	if m := Granularity(rows, half); !near(m.Time, 3) || m.Floor != 1 {
		t.Errorf("%+v, want 3", m)
	}
	if m := Granularity(rows, 0.7); !near(m.Time, 4.25) {
		t.Errorf("%+v, want 4.25", m)
	}
	if m := Granularity(rows[:2], half); m.Time != 0 {
		t.Errorf("%+v, want none", m)
	}
}

// TestBest: the fastest of several runs counts, and curves stand together, those with most iterations first.
func TestBest(t *testing.T) {
	rows := append(curve("x", 1, 10, 1000), curve(RawImpl, 1, 1000, 10)...)
	slow, fast := rows[1], rows[1]
	slow.took(1)
	fast.took(10e-6)
	rows = append(rows, slow, fast)
	got := Best(rows)
	var text []string
	for _, r := range got {
		text = append(text, r.Impl)
	}
	if strings.Join(text, " ") != "x x raw raw" || got[0].Iterations != 1000 || got[3].Iterations != 10 {
		t.Fatalf("%+v", got)
	}
	if r, second := got[0], got[1].Efficiency; !near(r.PerTask, 1) || !near(r.Rate, 1) || !near(r.Efficiency, 1) ||
		!near(second, 10/1.01/1000) {
		t.Errorf("%+v, %g", r, second)
	}
	metgs := METGs(got, half)
	if len(metgs) != 2 || !near(metgs[0].OfRaw, 2) || !near(metgs[1].OfRaw, 1) {
		t.Errorf("%+v", metgs)
	}
}

func TestEmptyKernelHasNoMETG(t *testing.T) {
	g := Graph{Type: Tree, Steps: 3, Width: 4, Payload: 16}
	r := NewRow("x", &g, 1, 1, Sample{0, 0, time.Millisecond})
	if got := METGs(Best([]Row{r}), half); len(got) != 0 || !near(r.PerTask, 1000/7.0) {
		t.Errorf("%+v, row %+v", got, r)
	}
}

func TestShow(t *testing.T) {
	rows := Best(append(curve("x", 1, 1e6, 1000, 10), curve("y", 2, 1e6)...))
	var text, lines strings.Builder
	if err := errors.Join(Show(&text, rows, half, false), Show(&lines, rows, half, true)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"us/task", "METG(50%) us", "GFLOP/s", "     2.0", "<"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	all := strings.Split(strings.TrimSpace(lines.String()), "\n")
	var row Row
	var m METG
	if err := errors.Join(json.Unmarshal([]byte(all[0]), &row), json.Unmarshal([]byte(all[4]), &m)); err != nil {
		t.Fatal(err)
	}
	if len(all) != 6 || row != rows[0] || m.Bench != METGBench || m.Time == 0 {
		t.Errorf("%q, %+v, %+v", all, row, m)
	}
}

// TestSweep hands out a sample for each number of iterations, and ends with the first wrong run or with its context.
func TestSweep(t *testing.T) {
	g := Graph{Type: Stencil1D, Steps: 6, Width: 4, Payload: 16, Kernel: Kernel{Kind: Compute}}
	p := plan(t, g)
	own := Interval{0, 3}
	var got []Sample
	keep := func(s Sample) { got = append(got, s) }
	if err := Sweep(t.Context(), Serial{}, p, own, []int{5, 1}, 3, keep); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Iterations != 5 || got[0].Work != 24*(5*128+64) || got[1].Work != 24*192 ||
		got[0].Elapsed <= 0 {
		t.Errorf("%+v", got)
	}
	mixed := wrong{inputs: func(in [][]Stamp) [][]Stamp { in[0], in[1] = in[1], in[0]; return in }}
	if err := Sweep(t.Context(), mixed, p, own, []int{5}, 1, keep); !errors.Is(err, ErrResult) {
		t.Errorf("a wrong run: %v", err)
	}
	if err := Sweep(t.Context(), Serial{}, p, own, []int{-1}, 1, keep); !errors.Is(err, ErrGraph) {
		t.Errorf("-1 iterations: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Sweep(ctx, Serial{}, p, own, []int{5}, 1, keep); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}
