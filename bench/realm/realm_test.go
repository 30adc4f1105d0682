package realm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/realm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rowsOf measures on n ranks of this process.
func rowsOf(t *testing.T, n int, only ...string) (rows []bench.Row) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := realm.Run(n, func(rt *realm.Runtime) error {
		return Run(ctx, rt, Config{Only: only, Window: time.Nanosecond, part: 16},
			func(r bench.Row) { rows = append(rows, r) })
	}, realm.Config{Segment: Segment})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// wanted are the rows that a job of n ranks has to give.
func wanted(n int, only ...string) (names []string) {
	chosen, _ := choose(only)
	for _, m := range chosen {
		sizes := m.sizes
		for r := 2; m.sizes == nil && r <= n; r++ {
			sizes = append(sizes, r)
		}
		for _, size := range sizes {
			for _, c := range m.columns {
				if (m.place == alone) == (n == 1) {
					names = append(names, fmt.Sprint(c.name, size, c.unit))
				}
			}
		}
	}
	return names
}

func checkRows(t *testing.T, rows []bench.Row, want []string) {
	t.Helper()
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.Bench, r.Size, r.Unit))
		best := r.Best <= r.Value
		if r.Unit == MegaRate {
			best = r.Best >= r.Value
		}
		if r.Value <= 0 || !best {
			t.Errorf("row %+v", r)
		}
	}
	if !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("rows %q, want %q", got, want)
	}
}

// groupsOf are the groups with measures in some place, but for those that take long.
func groupsOf(p place) (names []string) {
	for _, m := range measures() {
		if (m.place == alone) == (p == alone) && !m.once && !slices.Contains(names, m.group) {
			names = append(names, m.group)
		}
	}
	return names
}

func TestOneRankMeasuresAll(t *testing.T) {
	groups := groupsOf(alone)
	checkRows(t, rowsOf(t, 1, groups...), wanted(1, groups...))
}

func TestSeveralRanksMeasureAll(t *testing.T) {
	groups := groupsOf(together)
	checkRows(t, rowsOf(t, 2, groups...), wanted(2, groups...))
	checkRows(t, rowsOf(t, 3, "links"), wanted(3, "links")) // rings of two ranks, and of three
}

// TestMemoryIsThatOfWhatLives: the values are those of the first time, and of what comes on top after the second.
func TestMemoryIsThatOfWhatLives(t *testing.T) {
	const n, size = 1000, 4096
	var kept [][]byte
	times := 0
	l := &lab{ctx: t.Context()}
	v := l.memory(n, func() {
		times++
		of := n
		if times == again {
			of = 2 * n
		}
		for range of {
			kept = append(kept, make([]byte, size))
		}
	}, func() {
		runtime.KeepAlive(kept)
		kept = nil
	})()
	if v[0] < size || v[0] > 2*size || v[1] < size/2 || v[1] > 3*size || times != again {
		t.Errorf("%v bytes in %d rounds, want about %d, and as many more at last", v, times, size)
	}
	if l.err != nil {
		t.Error(l.err)
	}
}

// TestWhatGoesWrongEndsTheMeasure: an operation's error is that of Run.
func TestWhatGoesWrongEndsTheMeasure(t *testing.T) {
	bad := errors.New("no luck")
	err := realm.Run(1, func(rt *realm.Runtime) error {
		l, err := newLab(t.Context(), rt, Config{Window: time.Hour})
		if err != nil {
			return err
		}
		rounds := 0
		m := measure{columns: ns("x"), prepare: func(l *lab, _ int) round {
			return func() []float64 {
				if rounds++; rounds == 4 {
					l.note(bad)
				}
				return []float64{1}
			}
		}}
		err = l.measure(t.Context(), &m, 0, func(r bench.Row) { t.Errorf("row %+v", r) })
		if rounds != 4 || !errors.Is(err, bad) {
			t.Errorf("%d rounds, error %v", rounds, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestACancelledRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	err := realm.Run(1, func(rt *realm.Runtime) error {
		cancel()
		err := Run(ctx, rt, Config{Only: []string{"create"}, Window: time.Hour}, func(bench.Row) {})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		only []string
		want Plan
	}{
		{[]string{"fan-in-build"}, Plan{Alone: []string{"fan-in"}}},
		{[]string{"create", "event-flood"}, Plan{Alone: []string{"create"}, Together: []string{"event-flood"}}},
		{[]string{"hop"}, Plan{Together: []string{"hop"}, Crowded: []string{"hop"}}},
		{[]string{"memory"}, Plan{Alone: []string{"memory-events", "memory-tasks", "memory-locks"}}},
	} {
		p, err := PlanFor(c.only)
		if err != nil || fmt.Sprint(p) != fmt.Sprint(c.want) {
			t.Errorf("%q: %v, error %v; want %v", c.only, p, err, c.want)
		}
	}
	for _, bad := range []string{"", "create ", "speed"} {
		if _, err := PlanFor([]string{"create", bad}); !errors.Is(err, ErrName) {
			t.Errorf("%q: error %v", bad, err)
		}
	}
	seen := map[string]bool{}
	for _, m := range measures() {
		for _, c := range m.columns {
			if seen[c.name] {
				t.Errorf("two measures have rows %q", c.name)
			}
			seen[c.name] = true
		}
	}
}

// TestKnownsAreRows: every figure of Realm stands beside a row that there is.
func TestKnownsAreRows(t *testing.T) {
	rows := append(wanted(1), wanted(2)...)
	for _, k := range knowns {
		at := slices.IndexFunc(rows, func(r string) bool { return strings.HasPrefix(r, fmt.Sprint(k.bench, k.size)) })
		if at < 0 || k.value <= 0 || k.loop == "" {
			t.Errorf("%+v", k)
		}
	}
}

func TestPrinted(t *testing.T) {
	rows := []bench.Row{
		{Bench: "create", Impl: bench.Golci, Value: 30, Best: 20, Unit: bench.Nano},
		{Bench: "hop", Impl: Crowded, Size: 2, Value: 300, Best: 250, Unit: bench.Nano},
	}
	rows[1].SetCrossing(100, 100)
	var table, lines bytes.Buffer
	for i, show := range []func(bench.Row) error{Printer(&table, false), Printer(&lines, true)} {
		for _, r := range rows {
			if err := show(r); err != nil {
				t.Error(i, err)
			}
		}
	}
	for _, want := range []string{Source, "82.6", "20.00", "hop crowded", " 3.00 "} {
		if strings.Count(table.String(), want) != 1 {
			t.Errorf("not one %q in\n%s", want, table.String())
		}
	}
	var got struct {
		Bench string
		Best  float64
		Realm float64
	}
	if err := json.NewDecoder(&lines).Decode(&got); err != nil || got.Bench != "create" || got.Best != 20 || got.Realm != 82.6 {
		t.Errorf("%+v, error %v", got, err)
	}
}
