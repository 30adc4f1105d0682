package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// job runs the program with args as n ranks and returns what rank 0 printed.
func job(t *testing.T, n int, args ...string) (string, error) {
	t.Helper()
	o, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer // written by rank 0 alone
	err = mpi.Run(n, func(c *mpi.Comm) error {
		if c.Rank() != 0 {
			return pagerank(c, o, nil, nil)
		}
		return pagerank(c, o, &out, nil)
	})
	return out.String(), err
}

// ranking is the lines of vertex and score.
func ranking(out string) string {
	lines := strings.SplitAfter(out, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "graph: ") {
			return strings.Join(lines[:i], "")
		}
	}
	return ""
}

// Every number of ranks and blocks, more than there are vertices included, gives the serial result.
func TestRanks(t *testing.T) {
	for name, args := range map[string][]string{
		"small":             {"testdata/small.txt"},
		"small undirected":  {"-undirected", "testdata/small.txt"},
		"random":            {"-scale", "8", "-edges", "1500"},
		"random undirected": {"-scale", "7", "-edges", "300", "-undirected", "-seed", "7"},
		"damping":           {"-scale", "6", "-damping", "0.5"},
		"no links followed": {"-scale", "6", "-damping", "0"},
		"few iterations":    {"-scale", "6", "-iterations", "3"},
		"no iterations":     {"-scale", "6", "-iterations", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			want := ""
			for _, cut := range []struct{ ranks, blocks int }{{1, 16}, {2, 3}, {3, 1}, {8, 2}} {
				out, err := job(t, cut.ranks, append([]string{"-check", "-blocks", strconv.Itoa(cut.blocks)}, args...)...)
				if err != nil {
					t.Fatalf("%+v: %v", cut, err)
				}
				if !strings.Contains(out, "check: equal to a serial run") {
					t.Fatalf("%+v printed no check:\n%s", cut, out)
				}
				got := ranking(out)
				if want == "" {
					want = got
				}
				if got == "" || got != want {
					t.Errorf("%+v:\n%swant\n%s", cut, got, want)
				}
			}
		})
	}
}

// The scores of the small graph, which another program has found.
func TestKnownScores(t *testing.T) {
	for args, want := range map[string]string{
		"testdata/small.txt":             smallScores,
		"-undirected testdata/small.txt": smallUndirectedScores,
	} {
		out, err := job(t, 2, strings.Fields(args)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := ranking(out); got != want {
			t.Errorf("%s:\n%swant\n%s", args, got, want)
		}
	}
}

func TestLineEnds(t *testing.T) {
	out, err := job(t, 2, "testdata/crlf.txt")
	if want := "1 0.333333333\n2 0.333333333\n3 0.333333333\n"; err != nil || ranking(out) != want {
		t.Errorf("got %v\n%s", err, out)
	}
}

// A result that is not the serial one is an error.
func TestCompare(t *testing.T) {
	in := edgeFile{path: "testdata/small.txt"}
	edges, err := in.Share(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := rule{damping: 0.85, tolerance: 1e-12, iterations: 500}
	d, scores, err := serialRank(edges, r)
	if err != nil {
		t.Fatal(err)
	}
	if far, err := compare(in, r, d, scores); err != nil || far != 0 {
		t.Errorf("the same: %v, %v", far, err)
	}
	scores[3] += 2e-9
	if _, err := compare(in, r, d, scores); err == nil || !strings.Contains(err.Error(), fmt.Sprint("vertex ", d[3])) {
		t.Errorf("vertex %d wrong: %v", d[3], err)
	}
	scores[3] = math.NaN()
	if _, err := compare(in, r, d, scores); err == nil {
		t.Error("not a number: no error")
	}
	if _, err := compare(in, r, d[1:], scores[1:]); err == nil {
		t.Error("a vertex less: no error")
	}
}

// What is wrong with the input ends the job with an error, on every number of ranks.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	for name, x := range map[string]struct{ text, want string }{
		"empty":    {"", "no edges"},
		"comments": {"# 1 2\n", "no edges"},
		"one":      {"1 2\n3\n", "line at byte 4: 1 fields"},
		"three":    {"1 2 3\n", "3 fields"},
		"letters":  {"1 2\nx 2\n", "invalid syntax"},
		"negative": {"1 -2\n", "invalid syntax"},
		"large":    {"1 18446744073709551616\n", "out of range"},
		"long":     {strings.Repeat("#", maxLine+1) + "\n1 2\n", "too long"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(x.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 3} {
			if _, err := job(t, n, file); err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("%s, %d ranks: got %v, want %q", name, n, err, x.want)
			}
		}
	}
	if _, err := job(t, 2, filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := job(t, 2, dir); err == nil {
		t.Error("a directory: no error")
	}
}

// More threads than a rank may have is an error, and leaves nobody at a barrier.
func TestTooManyThreads(t *testing.T) {
	o, err := parse([]string{"-scale", "4", "-blocks", "50"})
	if err != nil {
		t.Fatal(err)
	}
	err = mpi.Run(2, func(c *mpi.Comm) error { return pagerank(c, o, &bytes.Buffer{}, nil) },
		mpi.WithWorkers(1), mpi.WithThreads(20))
	if err == nil || !strings.Contains(err.Error(), "too many threads") {
		t.Errorf("got %v", err)
	}
}

// A rank that fails in the middle of the iterations ends the others.
func TestRankFails(t *testing.T) {
	lost := errors.New("lost")
	o, err := parse([]string{"-scale", "5", "-blocks", "4"})
	if err != nil {
		t.Fatal(err)
	}
	err = mpi.Run(3, func(c *mpi.Comm) error {
		if c.Rank() != 1 {
			return pagerank(c, o, &bytes.Buffer{}, nil)
		}
		edges, err := o.input().Share(1, 3)
		if err != nil {
			return err
		}
		d, err := agree(c, edges)
		if err != nil {
			return err
		}
		if _, err := build(c, d, edges, o.blocks); err != nil {
			return err
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		return lost
	})
	if !errors.Is(err, lost) {
		t.Errorf("got %v, want %v", err, lost)
	}
}

func TestFlags(t *testing.T) {
	o, err := parse([]string{"-undirected", "-check=false", "-scale", "3", "file"})
	if err != nil || !o.undirected || o.checks(1) || o.path != "file" || o.random.Edges != 16<<3 {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err = parse(nil); err != nil || !o.checks(smallGraph) || o.checks(smallGraph+1) {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err = parse([]string{"-check"}); err != nil || !o.checks(smallGraph+1) {
		t.Errorf("got %+v, %v", o, err)
	}
	for _, args := range []string{
		"-damping 1", "-damping -0.1", "-damping NaN", "-tolerance 0", "-tolerance 1", "-iterations -1", "-blocks 0",
		"-blocks 268435456", "-scale 0", "-scale 32", "-edges -1", "-check=perhaps", "one two", "-unknown",
	} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
