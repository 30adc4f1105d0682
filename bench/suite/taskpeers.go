package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/golci/golci/bench/job"
	"github.com/golci/golci/bench/peers"
	"github.com/golci/golci/bench/taskbench"
)

// taskPeers builds Task Bench's MPI program with what is installed. One that does not build is told and left out.
func (r *runner) taskPeers(t TaskConfig) (all []*peers.TaskBench, clean func(), err error) {
	if t.Checkout == "" {
		return nil, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "golci-taskbench-")
	if err != nil {
		return nil, nil, fmt.Errorf("bench: %w", err)
	}
	for _, m := range peers.Find() {
		if m.Run == "" {
			continue
		}
		p, err := m.TaskBench(t.Checkout, dir)
		if err != nil {
			fmt.Fprintf(r.Err, "%s is left out: %v\n", m.Name, err)
			continue
		}
		all = append(all, p)
	}
	return all, func() { os.RemoveAll(dir) }, nil
}

// errNoTime says that Task Bench's program has not told its time.
var errNoTime = errors.New("no elapsed time")

// taskPeer runs Task Bench's program once for each number of iterations. It executes the graph twice and tells the
// time of the second time. With one rank the settings of the implementation make no difference.
func (r *runner) taskPeer(
	ctx context.Context, t TaskConfig, g taskbench.Graph, p *peers.TaskBench, out func(taskbench.Row),
) error {
	for i, setting := range p.Settings {
		if i > 0 && t.Ranks == 1 {
			break
		}
		for _, g.Kernel.Iterations = range t.Iterations {
			argv, env := p.Command(setting, t.Ranks, originalFlags(g)...)
			took := time.Duration(0)
			err := job.Run(ctx, job.Job{
				Argv: argv, Env: env, Limit: t.limit(g), Strays: p.Program(),
				Line: func(line []byte) error {
					var err error
					took, err = elapsed(string(line), took)
					return err
				},
			})
			if err == nil && took == 0 {
				err = errNoTime
			}
			if err != nil {
				return err
			}
			s := taskbench.Sample{Iterations: g.Kernel.Iterations, Work: g.Work(), Elapsed: took}
			out(taskbench.NewRow(p.Name+setting.Suffix, &g, t.Ranks, t.Ranks, s))
		}
	}
	return nil
}

// elapsed reads the line with the time, and leaves took as it is for any other.
func elapsed(line string, took time.Duration) (time.Duration, error) {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "Elapsed Time ")
	if !ok {
		return took, nil
	}
	seconds, err := strconv.ParseFloat(strings.TrimSuffix(text, " seconds"), 64)
	if err != nil {
		return 0, fmt.Errorf("line %q: %w", line, err)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// originalFlags are those of Task Bench's programs.
func originalFlags(g taskbench.Graph) []string {
	rename := map[string]string{"-payload": "-output"}
	flags := append(graphFlags(g), "-iter", strconv.Itoa(g.Kernel.Iterations))
	for i, f := range flags {
		if name, ok := rename[f]; ok {
			flags[i] = name
		}
	}
	return flags
}
