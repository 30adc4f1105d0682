package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/ranks"
	"github.com/golci/golci/internal/test/udptest"
)

const fakeEnv = "GOLCI_SUITE_TEST_RANKS"

// The test binary stands in for golci: "run -n N [-env K=V]... SELF bench NAME -sizes ..." prints one row a size and
// thread number.
func TestMain(m *testing.M) {
	if os.Getenv(fakeEnv) != "" {
		os.Exit(fakeRanks(os.Args[1:]))
	}
	goleak.VerifyTestMain(udptest.Patiently(m))
}

func fakeRanks(args []string) int {
	env := map[string]string{}
	for len(args) > 13 && args[3] == "-env" {
		k, v, _ := strings.Cut(args[4], "=")
		env[k] = v
		args = slices.Delete(args, 3, 5)
	}
	impl := label(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if len(args) != 13 || args[0] != "run" || args[4] != "bench" {
		fmt.Fprintf(os.Stderr, "unexpected arguments %q\n", args)
		return 2
	}
	sizes, err := ParseList(args[7])
	threads, err2 := ParseList(args[9])
	if err != nil || err2 != nil {
		return 2
	}
	for _, size := range sizes {
		for _, n := range threads {
			r := bench.Row{Bench: args[5], Impl: impl, Size: size, Threads: n, Value: 1, Unit: bench.Micro, MinShare: 1}
			if json.NewEncoder(os.Stdout).Encode(r) != nil {
				return 2
			}
		}
	}
	if os.Getenv(fakeEnv) == "fail" {
		fmt.Fprintln(os.Stderr, "rank 1 died")
		return 9
	}
	return 0
}

func config(t *testing.T, names ...string) (Config, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := new(bytes.Buffer)
	none := func(string) (string, bool) { return "", false }
	return Config{Names: names, N: 2, Out: out, Err: new(bytes.Buffer), Self: self, Env: none}, out
}

func TestRowsOfAJob(t *testing.T) {
	t.Setenv(fakeEnv, "good")
	c, out := config(t, "latency", "threads")
	c.Sizes, c.Threads, c.JSON = []int{8, 64}, []int{1, 64}, true
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	checkRows(t, out, "latency 8 1", "latency 64 1", "threads 8 1", "threads 8 64")
}

func checkRows(t *testing.T, out *bytes.Buffer, want ...string) {
	t.Helper()
	var got []string
	err := bench.ReadJSON(out, func(r bench.Row) { got = append(got, fmt.Sprint(r.Bench, " ", r.Size, " ", r.Threads)) })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q, error %v", got, want, err)
	}
}

func TestAFailedJobKeepsItsRowsAndIsTold(t *testing.T) {
	t.Setenv(fakeEnv, "fail")
	c, out := config(t, "latency", "rate")
	c.JSON, c.Sizes = true, []int{8}
	err := Run(t.Context(), c)
	if err == nil || strings.Count(err.Error(), "rank 1 died") != 2 {
		t.Errorf("error %v, want both failures with their reason", err)
	}
	checkRows(t, out, "latency 8 1", "rate 8 1")
}

func TestRepetitionsGiveMedians(t *testing.T) {
	t.Setenv(fakeEnv, "good")
	c, out := config(t, "latency")
	c.Reps, c.JSON, c.Sizes = 3, true, []int{8}
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var r bench.Row
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Reps != 3 {
		t.Errorf("one row of three runs expected: %v\n%s", err, out)
	}
}

func TestPlot(t *testing.T) {
	t.Setenv(fakeEnv, "good")
	c, _ := config(t, "latency")
	c.Plot = filepath.Join(t.TempDir(), "x.svg")
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if svg, err := os.ReadFile(c.Plot); err != nil || !bytes.Contains(svg, []byte("<svg")) {
		t.Errorf("plot: %v", err)
	}
}

func TestNoPeersFound(t *testing.T) {
	t.Setenv(fakeEnv, "good")
	t.Setenv("PATH", t.TempDir())
	c, out := config(t, "latency")
	c.Peers, c.JSON, c.Reps, c.Sizes = true, true, 1, []int{8}
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	checkRows(t, out, "latency 8 1")
	if told := fmt.Sprint(c.Err); !strings.Contains(told, "no MPI") {
		t.Errorf("told %q", told)
	}
}

func TestBadArguments(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*Config)
		want   error
	}{
		{"no name", func(c *Config) { c.Names = nil }, ErrName},
		{"unknown name", func(c *Config) { c.Names = []string{"latency", "speed"} }, ErrName},
		{"no ranks", func(c *Config) { c.N = 0 }, ErrUsage},
		{"one rank", func(c *Config) { c.N = 1 }, ErrUsage},
		{"three ranks for threads", func(c *Config) { c.Names, c.N = []string{"threads"}, 3 }, ErrUsage},
		{"bandwidth of nothing", func(c *Config) { c.Names, c.Sizes = []string{"bandwidth"}, []int{0} }, ErrUsage},
		{"no threads", func(c *Config) { c.Names, c.Threads = []string{"threads"}, []int{0} }, ErrUsage},
		{"negative repetitions", func(c *Config) { c.Reps = -1 }, ErrUsage},
		{"unknown conduit", func(c *Config) { c.Conduit = "pigeon" }, ErrUsage},
		{"security without udp", func(c *Config) { c.Conduit, c.Security = "shm", []string{"trust"} }, ErrUsage},
		{"unknown security", func(c *Config) { c.Conduit, c.Security = "udp", []string{"trust", "hope"} }, ErrUsage},
		{"a conduit for what has none", func(c *Config) { c.Names, c.Conduit = []string{"scale"}, "udp" }, ErrUsage},
		{"a conduit below mpi", func(c *Config) { c.Names, c.Conduit = []string{"put"}, "shm" }, ErrUsage},
		{"negative duration", func(c *Config) { c.Duration = -1 }, ErrUsage},
	} {
		conf, out := config(t, "latency")
		c.change(&conf)
		if err := Run(t.Context(), conf); !errors.Is(err, c.want) || out.Len() != 0 {
			t.Errorf("%s: error %v, want %v; output %q", c.what, err, c.want, out)
		}
	}
}

func TestCancelledBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, _ := config(t, "latency")
	if err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestParseList(t *testing.T) {
	for _, c := range []struct {
		list string
		want []int
	}{
		{"", nil},
		{"8", []int{8}},
		{"0, 8,1k", []int{0, 8, 1024}},
		{"2K,1KiB,3kb", []int{2048, 1024, 3072}},
		{"4m,1g", []int{4 << 20, 1 << 30}},
	} {
		got, err := ParseList(c.list)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("ParseList(%q) = %v, %v, want %v", c.list, got, err, c.want)
		}
		if again, err := ParseList(joinList(got)); err != nil || !slices.Equal(again, got) {
			t.Errorf("%v becomes %v, %v", got, again, err)
		}
	}
	for _, bad := range []string{"x", "-1", "8;9", "1.5", "k", "99999999999999999999", "2000g", "8kk"} {
		if got, err := ParseList(bad); !errors.Is(err, ErrUsage) {
			t.Errorf("ParseList(%q) = %v, %v", bad, got, err)
		}
	}
}

// TestFirstCallHasNoSizes: other sizes that are asked for do not make more rows of it.
func TestFirstCallHasNoSizes(t *testing.T) {
	chosen, err := choose(Config{Names: []string{ranks.FirstCall}, N: 2, Sizes: []int{8, 16}})
	if err != nil || len(chosen) != 1 || chosen[0].rows(chosen[0].threads) != 2 {
		t.Errorf("%+v, %v", chosen, err)
	}
}

func TestThreadsRunInJobsOfTheirOwn(t *testing.T) {
	if got := (spec{kind: sole, threads: []int{1, 2}}).jobs(); len(got) != 2 || got[1][0] != 2 {
		t.Errorf("jobs %v", got)
	}
	if got := (spec{kind: pair, threads: []int{1}}).jobs(); len(got) != 1 {
		t.Errorf("jobs %v", got)
	}
}

func TestVeryManyThreadsGetALongerWindow(t *testing.T) {
	s := spec{kind: sole, threads: []int{1}, sizes: []int{8}, window: time.Second}
	if w := s.windowOf([]int{1024}); w != time.Second {
		t.Errorf("window of 1024 threads is %v", w)
	}
	if w := s.windowOf([]int{250000}); w != 10*time.Second {
		t.Errorf("window of 250000 threads is %v", w)
	}
	if few, many := s.limit([]int{1}), s.limit([]int{250000}); many < few+20*time.Second {
		t.Errorf("limits %v and %v", few, many)
	}
	s.chosen = true
	if w := s.windowOf([]int{250000}); w != time.Second {
		t.Errorf("window chosen by the user becomes %v", w)
	}
}

// TestDescribe: whatever can be measured is explained.
func TestDescribe(t *testing.T) {
	text := Describe()
	for _, name := range Names() {
		if len(about[name]) < 10 || !strings.Contains(text, "  "+name+" ") {
			t.Errorf("%s: %q", name, about[name])
		}
	}
	if len(about) != len(Names()) {
		t.Errorf("%d benchmarks, %d explained", len(Names()), len(about))
	}
}

// cancelling ends a context when the first row is printed.
type cancelling struct {
	bytes.Buffer
	cancel context.CancelFunc
}

func (c *cancelling) Write(b []byte) (int, error) {
	if strings.Contains(string(b), `"bench"`) {
		c.cancel()
	}
	return c.Buffer.Write(b)
}

// TestStoppedDraws: what has been measured when the run is stopped is drawn.
func TestStoppedDraws(t *testing.T) {
	t.Setenv(fakeEnv, "good")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, _ := config(t, "latency", "rate")
	out := &cancelling{cancel: cancel}
	c.JSON, c.Plot, c.Out = true, filepath.Join(t.TempDir(), "x.png"), out
	err := Run(ctx, c)
	b, read := os.ReadFile(c.Plot)
	if !errors.Is(err, context.Canceled) || read != nil || !strings.HasPrefix(string(b), "\x89PNG") || strings.Contains(out.String(), "rate") {
		t.Errorf("%v, %v, %d bytes\n%s", err, read, len(b), out)
	}
}
