package scale

import (
	"errors"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/bench/scale/vtime"
)

// rows simulates, and gives what is told of each measure and number of ranks.
func rows(t *testing.T, c Config) map[string]map[int]Row {
	t.Helper()
	out := map[string]map[int]Row{}
	err := Run(t.Context(), c, func(r Row) error {
		if out[r.Measure] == nil {
			out[r.Measure] = map[int]Row{}
		}
		out[r.Measure][r.Ranks] = r
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func log2(n int) int { return bits.Len(uint(n - 1)) }

// TestRoundsOfBarrierAndExit: they are ceil(log2 N), for numbers that are powers of two and others, and so are the
// messages of a rank.
func TestRoundsOfBarrierAndExit(t *testing.T) {
	all := []int{2, 3, 4, 5, 63, 64, 65, 1000}
	got := rows(t, Config{Ranks: all, Only: []string{"barrier", "exit"}})
	for _, n := range all {
		b, e := got["barrier"][n], got["exit"][n]
		if b.Rounds != log2(n) || b.MessagesMax != int64(log2(n)) || b.MessagesMean != float64(b.MessagesMax) && n < 100 {
			t.Errorf("barrier: %+v, want %d rounds, and as many messages", b, log2(n))
		}
		if e.Rounds != log2(n) || e.MessagesMax > int64(2*log2(n)) {
			t.Errorf("exit: %+v, want %d rounds, and at most twice as many messages", e, log2(n))
		}
	}
}

// TestRoundsOfStart: where ranks gather what they need of all, twice as many of them cost a few rounds more. These are
// two questions for addresses of the plane, one for the gathering, of two rounds each, and one of the gathering.
func TestRoundsOfStart(t *testing.T) {
	const few, many = 512, 1024
	got := rows(t, Config{Ranks: []int{few, many}, Only: []string{"start"}})["start"]
	const each = 3*2 + 1
	grown := got[many].Rounds - got[few].Rounds
	if most := each * (log2(many) - log2(few)); grown < 1 || grown > most {
		t.Errorf("%d rounds with %d ranks, %d with %d: want at most %d more", got[few].Rounds, few, got[many].Rounds, many, most)
	}
	if one := rows(t, Config{Ranks: []int{64}, PerNode: 64, Only: []string{"start"}})["start"][64]; one.BytesMax > 8<<10 {
		t.Errorf("ranks of one node send %d bytes, though they need no addresses of each other", one.BytesMax)
	}
}

// TestNewsOfADeath: it reaches all in ceil(log2 N) hops, and the verdict follows within the time of one question.
func TestNewsOfADeath(t *testing.T) {
	for n, r := range rows(t, Config{Ranks: []int{2, 3, 64, 1000}, Only: []string{"death"}})["death"] {
		if r.Rounds > log2(n)+1 || r.MessagesMax > int64(log2(n)+1) || r.Time > 12_000 {
			t.Errorf("%+v, want at most %d hops, and 12 ms", r, log2(n))
		}
	}
}

// TestExitOfOne: the others hear of it and settle, and then all agree.
func TestExitOfOne(t *testing.T) {
	for n, r := range rows(t, Config{Ranks: []int{2, 100, 1000}, Only: []string{"exit-one"}})["exit-one"] {
		if r.Time < 50_000 || r.Time > 52_000 || r.MessagesMax > int64(2*log2(n)) {
			t.Errorf("%+v, want 50 ms and little more, and at most %d messages", r, 2*log2(n))
		}
	}
}

// TestStateGrowsAsDocumented: what a rank keeps does not grow with the job, or by the bytes a rank that the page tells.
func TestStateGrowsAsDocumented(t *testing.T) {
	const few, many = 300, 600
	got := rows(t, Config{Ranks: []int{few, many}})
	for _, c := range []struct {
		measure string
		least   int     // that all jobs may take
		each    float64 // bytes a rank of the job
	}{
		{"start", 4 << 10, 0},
		{"exit", 128, 0},
		{"exit-one", 128, 0},
		{"death", 6 << 10, 0},
		{"barrier", 4 << 10, 0},
		{"credits", 1 << 10, 17},
	} {
		for _, n := range []int{few, many} {
			if r := got[c.measure][n]; r.State < 1 || float64(r.State) > float64(c.least)+c.each*float64(n) {
				t.Errorf("%s: %d bytes with %d ranks, want at most %d and %g for each", c.measure, r.State, n, c.least, c.each)
			}
		}
	}
}

// TestCounts: messages and bytes do not depend on the link, times do.
func TestCounts(t *testing.T) {
	c := Config{Ranks: []int{300}, Only: []string{"start", "barrier", "exit"}}
	fast := rows(t, c)
	c.Link = vtime.Link{Latency: time.Millisecond, Overhead: time.Microsecond, Rate: 1e8}
	for name, slow := range rows(t, c) {
		a, b := fast[name][300], slow[300]
		if a.MessagesMax != b.MessagesMax || a.BytesMax != b.BytesMax || a.Rounds != b.Rounds || a.Launcher != b.Launcher ||
			a.Time >= b.Time {
			t.Errorf("%+v, and over a slow link %+v", a, b)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{Ranks: []int{1}},
		{Ranks: []int{MaxRanks + 1}},
		{PerNode: -1},
		{Only: []string{"nothing"}},
		{Link: vtime.Link{Latency: -1}},
	} {
		if err := Run(t.Context(), c, func(Row) error { return nil }); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	stop := errors.New("stop")
	if err := Run(t.Context(), Config{Ranks: []int{2}}, func(Row) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of the taker: %v", err)
	}
}

// TestShow: a table with a heading for each measure, and one JSON object a line.
func TestShow(t *testing.T) {
	var table, lines strings.Builder
	c := Config{Ranks: []int{2, 8}, Only: []string{"barrier", "exit"}}
	if err := errors.Join(Show(t.Context(), c, &table, false), Show(t.Context(), c, &lines, true)); err != nil {
		t.Fatal(err)
	}
	heads := strings.Count(table.String(), "# ")
	n := len(slices.Collect(strings.Lines(lines.String())))
	if heads != 2 || n != 4 || !strings.Contains(lines.String(), `{"measure":"barrier","ranks":8,"rounds":3,`) {
		t.Errorf("%d headings, %d lines:\n%s%s", heads, n, &table, &lines)
	}
}
