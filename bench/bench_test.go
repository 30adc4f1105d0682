package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStateOf(t *testing.T) {
	for _, c := range []struct {
		before, after float64
		want          State
	}{
		{50, 60, Near},
		{89.9, 20, Near},
		{96, 250, Far},
		{50, 250, Mixed},
		{90, 50, Mixed},
		{95, 96, Mixed},
		{92, 92, Mixed},
		{250, 300e3, Mixed},
		{4999, 96, Far},
		{0, 50, Unknown},
		{250, 0, Unknown},
	} {
		if got := StateOf(c.before, c.after); got != c.want {
			t.Errorf("StateOf(%v, %v) = %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

func row(impl string, value float64, unit string, crossing float64) Row {
	r := Row{Bench: "b", Impl: impl, Size: 8, Threads: 1, Value: value, Unit: unit, MinShare: 1}
	r.SetCrossing(crossing, crossing)
	return r
}

func TestJSONHasTheFieldsAndReadsBack(t *testing.T) {
	var buf bytes.Buffer
	want := row(Golci, 0.25, Micro, 140)
	if err := json.NewEncoder(&buf).Encode(want); err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(buf.Bytes(), &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bench", "impl", "size", "threads", "value", "unit", "min_share", "crossing_ns"} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no field %q in %s", name, buf.String())
		}
	}
	input := "a warning of some library\n" + buf.String() + "{1} another\n"
	var got []Row
	if err := ReadJSON(strings.NewReader(input), func(r Row) { got = append(got, r) }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0] != want {
		t.Errorf("read %+v, want %+v", got, want)
	}
}

func TestReadJSONReportsABrokenRow(t *testing.T) {
	err := ReadJSON(strings.NewReader(`{"bench":"latency","size":`), func(Row) { t.Error("a row came out") })
	if err == nil {
		t.Error("no error")
	}
}

func TestMediansCompareOneState(t *testing.T) {
	rows := []Row{
		row(Golci, 10, Micro, 50), row("p", 11, Micro, 50),
		row(Golci, 90, Micro, 250), row("p", 12, Micro, 50),
		row(Golci, 12, Micro, 50), row("p", 99, Micro, 250),
		row(Golci, 11, Micro, 50), row("q", 70, Micro, 250),
	}
	got := Medians(rows)
	if len(got) != 3 {
		t.Fatalf("%d medians, want 3: %+v", len(got), got)
	}
	for i, want := range []struct {
		impl  string
		value float64
		reps  int
		state State
	}{{Golci, 11, 3, Near}, {"p", 12, 2, Near}, {"q", 70, 1, Mixed}} {
		g := got[i]
		if g.Impl != want.impl || g.Value != want.value || g.Reps != want.reps || g.State != want.state {
			t.Errorf("median %d is %+v, want %+v", i, g, want)
		}
	}
}

func TestMediansKeepRowsOfOneKeyTogether(t *testing.T) {
	var rows []Row
	for _, impl := range []string{Golci, "p"} {
		for _, size := range []int{8, 64} {
			r := row(impl, 1, Micro, 50)
			r.Size = size
			rows = append(rows, r)
		}
	}
	var got []string
	for _, r := range Medians(rows) {
		got = append(got, fmt.Sprint(r.Size, r.Impl))
	}
	if want := []string{"8golci", "8p", "64golci", "64p"}; !slices.Equal(got, want) {
		t.Errorf("order %q, want %q", got, want)
	}
}

func TestCompareTakesTheBestPeer(t *testing.T) {
	plain := func(impl string) bool { return !strings.HasSuffix(impl, "-tuned") }
	for _, c := range []struct {
		unit             string
		mine, a, b, fast float64
		vsPlain, vsBest  float64
	}{
		{Micro, 2, 4, 6, 3, 2, 1.5},
		{MegaPerSec, 12, 6, 4, 24, 2, 0.5},
		{PerSecond, 10, 0, 5, 0, 2, 2}, // a peer that moved nothing is no rival
	} {
		rows := []Row{
			row(Golci, c.mine, c.unit, 50), row("a", c.a, c.unit, 50), row("b", c.b, c.unit, 50),
			row("b-tuned", c.fast, c.unit, 50),
		}
		Compare(rows, plain)
		if g := rows[0]; g.VsPlain != c.vsPlain || g.VsBest != c.vsBest {
			t.Errorf("%s: ratios %v and %v, want %v and %v", c.unit, g.VsPlain, g.VsBest, c.vsPlain, c.vsBest)
		}
	}
}

func TestInCrossings(t *testing.T) {
	if got := row("a", 0.3, Micro, 100).InCrossings(); got != 3 {
		t.Errorf("0.3 us at 100 ns a crossing is %v crossings", got)
	}
	if got := row("a", 10e6, PerSecond, 50).InCrossings(); got != 2 {
		t.Errorf("10 M/s at 50 ns a crossing is %v crossings a message", got)
	}
	if got := row("a", 1, Micro, 0).InCrossings(); got != 0 {
		t.Errorf("unknown crossing gives %v", got)
	}
}

func TestTableHeadsEachBenchmarkOnce(t *testing.T) {
	var buf bytes.Buffer
	table := NewTable(&buf, true, true)
	a, b := row(Golci, 1234.5, PerSecond, 50), row(Golci, 0.5, Micro, 50)
	b.Bench, b.Note = "c", "noted"
	for _, r := range []Row{a, a, b} {
		if err := table.Row(r); err != nil {
			t.Fatal(err)
		}
	}
	out := buf.String()
	if n := strings.Count(out, "min share"); n != 2 {
		t.Errorf("%d headings, want 2:\n%s", n, out)
	}
	for _, want := range []string{"1234 ", "0.500", "near", "/best", "/raw", "noted"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestCompareKnowsWhoIsWho: our own rows over several conduits are no rivals of each other, and the raw limit is no
// peer.
func TestCompareKnowsWhoIsWho(t *testing.T) {
	rows := []Row{
		row("golci-udp-encrypt", 10, Micro, 50), row("golci-udp-trust", 8, Micro, 50), row("mpi-tcp", 20, Micro, 50),
		row(Raw, 4, Micro, 50),
	}
	Compare(rows, func(string) bool { return true })
	for i, want := range []struct{ peer, raw float64 }{{2, 0.4}, {2.5, 0.5}, {}, {}} {
		if r := rows[i]; r.VsPlain != want.peer || r.VsBest != want.peer || r.VsRaw != want.raw {
			t.Errorf("%s: %v, %v and %v, want %v and %v", r.Impl, r.VsPlain, r.VsBest, r.VsRaw, want.peer, want.raw)
		}
	}
}

// TestSpread: quartiles, and the ratio of neighbours in time whatever the machine does to both.
func TestSpread(t *testing.T) {
	if got, want := SpreadOf([]float64{5, 1, 4, 2, 3}), (Spread{2, 3, 4}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var a, b []float64
	for range 200 {
		slow := 1 + 9*r.Float64() // of the machine, for both
		a = append(a, slow*(1.02+0.05*r.NormFloat64()))
		b = append(b, slow)
	}
	got := Against(a, b)
	if got.Low > 1.02 || got.High < 1.02 || got.Median < 1.01 || got.Median > 1.03 || got.High-got.Low > 0.03 {
		t.Errorf("%v, want 1.02", got)
	}
	if got := Against([]float64{3}, []float64{2}); got != (Spread{1.5, 1.5, 1.5}) {
		t.Errorf("one ratio: %v", got)
	}
}

// TestAgainstCovers: of many intervals, about 95 % have the ratio in them.
func TestAgainstCovers(t *testing.T) {
	r, in := rand.New(rand.NewPCG(3, 4)), 0
	for range 1000 {
		a, b := make([]float64, 50), make([]float64, 50)
		for i := range a {
			a[i], b[i] = math.Exp(r.NormFloat64()), 1
		}
		if s := Against(a, b); s.Low <= 1 && s.High >= 1 {
			in++
		}
	}
	if in < 930 || in > 985 {
		t.Errorf("%d of 1000", in)
	}
}

func TestTurns(t *testing.T) {
	rows := Turns(Row{Bench: "b", Unit: Nano, Threads: 1}, []string{"x", "y"}, [][]float64{{4, 2, 6}, {2, 1, 3}})
	if len(rows) != 2 || rows[0].Impl != "x" || rows[0].Value != 4 || rows[1].Value != 2 || rows[0].Reps != 3 ||
		!strings.Contains(rows[0].Note, "2.0000 [2.0000, 2.0000] of y") || strings.Contains(rows[1].Note, "of x") {
		t.Errorf("%+v", rows)
	}
}

// TestColumns: a heading for each text above, zeros with a mark, and JSON with the values as they are.
func TestColumns(t *testing.T) {
	type row struct {
		Name  string  `json:"name" col:"name|%-5s"`
		Part  Percent `json:"part" col:"part %|%7s"`
		Value Digits  `col:"value|%7s|-"`
		Note  string  `json:"note"`
	}
	rows := []row{{"a", 0.25, 1234.5, "x"}, {"b", 1, 0, "x"}, {"c", 0, 1, "y"}}
	var table, lines strings.Builder
	for _, show := range []func(row) error{
		Columns(&table, false, func(r row) string { return "# " + r.Note + "\n" }), Columns[row](&lines, true, nil),
	} {
		for _, r := range rows {
			if err := show(r); err != nil {
				t.Error(err)
			}
		}
	}
	const head = "name   part %   value\n"
	if want := "# x\n" + head + "a       25.00    1234\nb      100.00       -\n# y\n" + head + "c        0.00   1.000\n"; table.String() != want {
		t.Errorf("%s\nwant\n%s", &table, want)
	}
	if want := `{"name":"a","part":0.25,"Value":1234.5,"note":"x"}`; !strings.HasPrefix(lines.String(), want) {
		t.Errorf("%s, want %s first", &lines, want)
	}
}
