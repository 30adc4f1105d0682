package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/bench/taskbench"
)

// taskConfig is a small one.
func taskConfig(out *bytes.Buffer) Config {
	return Config{
		Names: []string{taskBench}, N: 1, JSON: true, Out: out, Err: out,
		Env: func(string) (string, bool) { return "", false },
		Tasks: TaskConfig{
			Graph: taskbench.Graph{
				Steps: 5, Width: 4, Radix: 2, Payload: 16, Kernel: taskbench.Kernel{Kind: taskbench.Compute},
			},
			Runners:    []string{taskbench.RawImpl, "serial", "goroutines"},
			Iterations: []int{40, 2},
		},
	}
}

func taskRows(t *testing.T, out *bytes.Buffer) (rows []taskbench.Row) {
	t.Helper()
	for line := range strings.Lines(out.String()) {
		var r taskbench.Row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		rows = append(rows, r)
	}
	return rows
}

// TestTasks: each runner gives a row for each type and number of iterations, and a METG when asked.
func TestTasks(t *testing.T) {
	var out bytes.Buffer
	c := taskConfig(&out)
	c.Tasks.Types = []taskbench.Type{taskbench.FFT, taskbench.Spread}
	c.Tasks.METG, c.Reps, c.Tasks.Graph.Period = true, 2, 2
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	rows := taskRows(t, &out)
	if len(rows) != 3*2*2+3*2 {
		t.Fatalf("%d rows: %s", len(rows), &out)
	}
	for _, r := range rows[:12] {
		if r.Bench != taskbench.Bench || r.Tasks != 20 || r.Cores != 1 || r.PerTask <= 0 || r.Work == 0 {
			t.Errorf("%+v", r)
		}
	}
	if rows[0].Impl != "raw" || rows[0].Type != "fft" || rows[1].Iterations != 2 || rows[11].Type != "spread" ||
		rows[12].Bench != taskbench.METGBench {
		t.Errorf("%+v", rows)
	}
}

// TestTasksInProcess: runners with ranks, which are in this process.
func TestTasksInProcess(t *testing.T) {
	var out bytes.Buffer
	c := taskConfig(&out)
	c.Tasks.Runners, c.Tasks.Ranks, c.Tasks.InProcess = []string{"mpi", "threads", "realm"}, 2, true
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	rows := taskRows(t, &out)
	if len(rows) != 6 || rows[0].Impl != "mpi-inprocess" || rows[3].Impl != "threads-inprocess" || rows[0].Ranks != 2 ||
		rows[3].Cores != 2 || rows[4].Impl != "realm-inprocess" || rows[4].Cores != 2 {
		t.Errorf("%+v", rows)
	}
}

func TestTasksRefuse(t *testing.T) {
	for name, spoil := range map[string]func(*TaskConfig){
		"no runner":  func(c *TaskConfig) { c.Runners = []string{"serial", "magic"} },
		"width 0":    func(c *TaskConfig) { c.Graph.Width = 0 },
		"radix 9":    func(c *TaskConfig) { c.Types, c.Graph.Radix = []taskbench.Type{taskbench.Spread}, 9 },
		"iterations": func(c *TaskConfig) { c.Iterations = []int{1 << 40} },
	} {
		var out bytes.Buffer
		c := taskConfig(&out)
		spoil(&c.Tasks)
		if err := Run(t.Context(), c); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(),
			name) || out.Len() > 0 {
			t.Errorf("%s: %v, output %q", name, err, &out)
		}
	}
}

// TestSweepOfMETG: the iterations are in a geometric series down to 1.
func TestSweepOfMETG(t *testing.T) {
	c, err := TaskConfig{METG: true, Graph: taskConfig(&bytes.Buffer{}).Tasks.Graph}.with()
	if err != nil || len(c.Iterations) != 15 || c.Iterations[0] != 16384 || c.Iterations[14] != 1 {
		t.Errorf("%+v, %v", c.Iterations, err)
	}
	if !slices.Equal(c.Runners, runnersInOrder) || c.Ranks != 1 || c.Workers != 1 {
		t.Errorf("%+v", c)
	}
	for _, name := range runnersInOrder {
		if name != realmRunner && (localRunners[name] == nil) == (rankRunners[name] == nil) {
			t.Errorf("runner %s is not in one table", name)
		}
	}
}

// TestTaskFlags: a job is told all about the graph, and so is Task Bench's program in its own words.
func TestTaskFlags(t *testing.T) {
	c := taskConfig(&bytes.Buffer{})
	c.Tasks.Graph.Kernel = taskbench.Kernel{Kind: taskbench.Memory, Imbalance: 0.5}
	c.Tasks.Graph.Period, c.Tasks.Ranks, c.Tasks.Workers = 2, 3, 2
	tasks, err := c.Tasks.with()
	if err != nil {
		t.Fatal(err)
	}
	g, err := tasks.graph(taskbench.Spread)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{Config: Config{Self: "golci"}}
	const graph = "-type spread -steps 5 -width 4 -radix 2 -fraction 0 -kernel memory_bound -imbalance 0.5 -payload 16 " +
		"-period 2 -scratch 65536 -sample 16"
	want := "golci run -n 3 -env GOLCI_WORKERS=2 golci bench taskbench -runner mpi -iter 40,2 " + graph + " -json"
	if got := strings.Join(r.taskRanks(tasks, g, "mpi"), " "); got != want {
		t.Errorf("%s\n%s, want that", got, want)
	}
	g.Kernel.Iterations = 7
	want = strings.Replace(graph, "payload", "output", 1) + " -iter 7"
	if got := strings.Join(originalFlags(g), " "); got != want {
		t.Errorf("%s\n%s, want that", got, want)
	}
	if g, err := tasks.graph(taskbench.Tree); err != nil || g.Period != 0 {
		t.Errorf("a period for a tree: %+v, %v", g, err)
	}
}

// TestTaskPeers builds the program of a checkout with what is installed. This one has the makefiles and the program in
// short: it tells its arguments by the time, 1 ms for each iteration.
func TestTaskPeers(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make")
	}
	checkout := t.TempDir()
	for name, text := range map[string]string{
		"core/Makefile": "libcore.a:\n\ttouch $@\nlibcore_s.a:\n\tln -sf libcore.a $@\n",
		"mpi/Makefile":  "nonblock: nonblock.c ../core/libcore_s.a\n\t$(MPICXX) -x c -o $@ $<\n",
		"mpi/nonblock.c": `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i + 1 < argc; i++)
    if (!rank && !strcmp(argv[i], "-iter")) printf("Elapsed Time %e seconds\n", 1e-3 * atoi(argv[i + 1]));
  MPI_Finalize();
}
`,
	} {
		path := filepath.Join(checkout, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text),
			0o644)); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	c := taskConfig(&out)
	c.Tasks.Checkout, c.Tasks.Runners = checkout, []string{"serial"}
	if err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	rows := taskRows(t, &out)[2:]
	if len(rows) == 0 {
		t.Skip("there is no MPI implementation")
	}
	for i, r := range rows {
		if want := 1e-3 * float64(c.Tasks.Iterations[i%2]); math.Abs(r.Seconds-want) > 1e-9 || r.Tasks != 20 || r.Cores != 1 {
			t.Errorf("%+v, want %g s", r, want)
		}
	}
}

func TestElapsed(t *testing.T) {
	took, err := elapsed("Elapsed Time 2.500000e-03 seconds\n", 0)
	if took != 2500*time.Microsecond || err != nil {
		t.Errorf("%v, %v", took, err)
	}
	if took, err := elapsed("FLOP/s 1e9\n", took); took != 2500*time.Microsecond || err != nil {
		t.Errorf("another line: %v, %v", took, err)
	}
	if _, err := elapsed("Elapsed Time soon seconds", 0); err == nil {
		t.Error("a time that is none was accepted")
	}
}
