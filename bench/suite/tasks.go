package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golci/golci/bench/job"
	"github.com/golci/golci/bench/taskbench"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/mpi"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm"
)

// TaskConfig is what the command line says about taskbench.
type TaskConfig struct {
	Graph      taskbench.Graph  // but for its Type and its kernel's Iterations
	Types      []taskbench.Type // each in turn; nil: Stencil1D
	Runners    []string         // each in turn; nil: all
	Iterations []int            // of the kernel, each in turn; nil: 256, or a sweep with METG
	METG       bool             // tell the METG
	Ranks      int              // for runners with ranks; 0 means 1
	Workers    int              // of a rank; 0 means 1
	InProcess  bool             // ranks are threads of this process
	Checkout   string           // of Task Bench, whose MPI program runs beside; ""
}

const (
	taskBench = "taskbench"
	half      = 0.5 // the share of METG
	// runsOfSweep is how often a job executes each graph; the shortest counts.
	runsOfSweep = 5
)

// localRunners need no ranks. Raw is the limit of the machine.
var localRunners = map[string]func(cores int) taskbench.Runner{
	taskbench.RawImpl: func(int) taskbench.Runner { return taskbench.Raw{} },
	"serial":          func(int) taskbench.Runner { return taskbench.Serial{} },
	"goroutines":      func(cores int) taskbench.Runner { return taskbench.Goroutines{Procs: cores} },
}

// rankRunners have ranks.
var rankRunners = map[string]func(c *mpi.Comm) taskbench.Runner{
	"mpi":     func(c *mpi.Comm) taskbench.Runner { return taskbench.Messages{Comm: c} },
	"threads": func(c *mpi.Comm) taskbench.Runner { return taskbench.Threads{Comm: c} },
}

// realmRunner is the runner on package realm, which starts its ranks itself.
const realmRunner = "realm"

// runnersInOrder is all of them; those that follow one another are compared best.
var runnersInOrder = []string{taskbench.RawImpl, "serial", "goroutines", "threads", "mpi", realmRunner}

// with fills in defaults and refuses what cannot be run.
func (t TaskConfig) with() (TaskConfig, error) {
	if t.Types == nil {
		t.Types = []taskbench.Type{taskbench.Stencil1D}
	}
	if t.Runners == nil {
		t.Runners = runnersInOrder
	}
	if t.Iterations == nil {
		t.Iterations = []int{256}
		if t.METG {
			t.Iterations = sweep()
		}
	}
	t.Ranks, t.Workers = max(t.Ranks, 1), max(t.Workers, 1)
	for _, name := range t.Runners {
		if !slices.Contains(runnersInOrder, name) {
			return t, fmt.Errorf("%w: no runner %q; there are %s", ErrUsage, name, strings.Join(runnersInOrder, ", "))
		}
	}
	for _, typ := range t.Types {
		if _, err := t.graph(typ); err != nil {
			return t, fmt.Errorf("%w: %w", ErrUsage, err)
		}
	}
	return t, nil
}

// sweep is the iterations of METG: from tasks of some 50 us to tasks of nothing, a factor of 2 apart.
func sweep() (list []int) {
	for n := 16384; n > 0; n /= 2 {
		list = append(list, n)
	}
	return list
}

func (t *TaskConfig) graph(typ taskbench.Type) (taskbench.Graph, error) {
	g := t.Graph
	g.Type, g.Kernel.Iterations = typ, slices.Max(t.Iterations)
	if typ != taskbench.Spread && typ != taskbench.RandomNearest {
		g.Period = 0
	}
	err := g.Check()
	return g, err
}

// tasks measures taskbench. Repetitions are interleaved.
func (r *runner) tasks(ctx context.Context) error {
	t, err := r.Tasks.with()
	if err != nil {
		return err
	}
	others, clean, err := r.taskPeers(t)
	if err != nil {
		return err
	}
	defer clean()
	var rows []taskbench.Row
	keep := func(row taskbench.Row) { rows = append(rows, row) }
	for range r.Reps {
		for _, typ := range t.Types {
			g, err := t.graph(typ)
			if err != nil {
				return err
			}
			for _, name := range t.Runners {
				if err := r.task(ctx, t, g, name, keep); err != nil {
					return fmt.Errorf("bench: %s: %s: %w", taskBench, name, err)
				}
			}
			for _, p := range others {
				if err := r.taskPeer(ctx, t, g, p, keep); err != nil {
					return fmt.Errorf("bench: %s: %s: %w", taskBench, p.Name, err)
				}
			}
		}
	}
	return t.show(r.Out, rows, r.JSON)
}

// task measures one runner with one type of graph.
func (r *runner) task(
	ctx context.Context, t TaskConfig, g taskbench.Graph, name string, out func(taskbench.Row),
) error {
	if local, ok := localRunners[name]; ok {
		return alone(ctx, t, g, name, local, out)
	}
	if t.InProcess {
		return t.inProcess(ctx, g, name, out)
	}
	return job.Run(ctx, job.Job{Argv: r.taskRanks(t, g, name), Limit: t.limit(g), Line: func(line []byte) error {
		var row taskbench.Row
		if !strings.HasPrefix(string(line), `{"bench"`) {
			return nil
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf("line %q: %w", line, err)
		}
		out(row)
		return nil
	}})
}

// alone runs in this process without ranks.
func alone(
	ctx context.Context, t TaskConfig, g taskbench.Graph, name string, runner func(cores int) taskbench.Runner,
	out func(taskbench.Row),
) error {
	cores := 1
	if name == "goroutines" {
		cores = t.Ranks * t.Workers
	}
	p, err := taskbench.NewPlan(g)
	if err != nil {
		return err
	}
	all := taskbench.Interval{First: 0, Last: g.Width - 1}
	return taskbench.Sweep(ctx, runner(cores), p, all, t.Iterations, runsOfSweep, func(s taskbench.Sample) {
		out(taskbench.NewRow(name, &with(p, s).Graph, 1, cores, s))
	})
}

// with is p with the kernel's iterations of s.
func with(p *taskbench.Plan, s taskbench.Sample) *taskbench.Plan {
	q := *p
	q.Kernel.Iterations = s.Iterations
	return &q
}

// inProcess measures a runner with ranks that are in this process.
func (t *TaskConfig) inProcess(
	ctx context.Context, g taskbench.Graph, name string, out func(taskbench.Row),
) error {
	named := func(row taskbench.Row) {
		row.Impl += "-inprocess"
		out(row)
	}
	if name != realmRunner {
		return mpi.Run(t.Ranks, func(c *mpi.Comm) error {
			return t.onComm(c, name).measure(ctx, t, g, named)
		}, mpi.WithWorkers(t.Workers))
	}
	cfg := rank.Config{Settings: map[string]string{settings.Workers.Env(): strconv.Itoa(t.Workers)}}
	return realm.RunWith(t.Ranks, cfg, func(rt *realm.Runtime) error {
		m := taskbench.NewRealm(rt, t.Workers)
		defer m.Close()
		return onRealm(rt, m, t.Workers).measure(ctx, t, g, named)
	})
}

// member is a rank's part in a job.
type member struct {
	taskbench.Runner
	name              string
	rank, size, cores int
}

func (t *TaskConfig) onComm(c *mpi.Comm, name string) member {
	m := member{rankRunners[name](c), name, c.Rank(), c.Size(), c.Size()}
	if name != "mpi" {
		m.cores *= t.Workers
	}
	return m
}

func onRealm(rt *realm.Runtime, runner taskbench.Runner, workers int) member {
	return member{runner, realmRunner, rt.Rank(), rt.Size(), rt.Size() * workers}
}

// measure has all ranks execute g; rank 0 hands the rows out.
func (m member) measure(ctx context.Context, t *TaskConfig, g taskbench.Graph, out func(taskbench.Row)) error {
	p, err := taskbench.NewPlan(g)
	if err != nil {
		return err
	}
	own := taskbench.Own(g.Width, m.rank, m.size)
	return taskbench.Sweep(ctx, m.Runner, p, own, t.Iterations, runsOfSweep, func(s taskbench.Sample) {
		if m.rank == 0 {
			out(taskbench.NewRow(m.name, &with(p, s).Graph, m.size, m.cores, s))
		}
	})
}

// each measures all types with the rank's runner.
func (m member) each(ctx context.Context, t *TaskConfig, out func(taskbench.Row)) error {
	for _, typ := range t.Types {
		g, err := t.graph(typ)
		if err != nil {
			return err
		}
		if err := m.measure(ctx, t, g, out); err != nil {
			return err
		}
	}
	return nil
}

// tasksInJob takes part in a job as one rank. Runners that need no ranks are left out.
func tasksInJob(ctx context.Context, c Config) error {
	t, err := c.Tasks.with()
	if err != nil {
		return err
	}
	var rows []taskbench.Row
	keep := func(row taskbench.Row) { rows = append(rows, row) }
	t.Runners = slices.DeleteFunc(slices.Clone(t.Runners), func(name string) bool { return localRunners[name] != nil })
	switch i := slices.Index(t.Runners, realmRunner); {
	case len(t.Runners) > 1 && i >= 0:
		return fmt.Errorf("%w: in a job the runner %s is alone", ErrUsage, realmRunner)
	case i >= 0:
		err = realmInJob(ctx, &t, keep)
	default:
		err = commInJob(ctx, &t, keep)
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	return t.show(c.Out, rows, c.JSON)
}

func commInJob(ctx context.Context, t *TaskConfig, out func(taskbench.Row)) (err error) {
	p, err := mpi.Init()
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, p.Finalize()) }()
	t.Workers = p.Threads().Workers()
	for _, name := range t.Runners {
		if err := t.onComm(p.World(), name).each(ctx, t, out); err != nil {
			return err
		}
	}
	return nil
}

func realmInJob(ctx context.Context, t *TaskConfig, out func(taskbench.Row)) (err error) {
	rt, err := realm.Start(ctx, rank.Config{Exit: os.Exit, Processors: true}, realm.Config{})
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer func() { err = errors.Join(err, rt.Finalize(ctx)) }()
	workers := rt.OfRank().Threads().Workers()
	m := taskbench.NewRealm(rt, workers)
	defer m.Close()
	return onRealm(rt, m, workers).each(ctx, t, out)
}

// show writes the best of rows, and the METG if it is asked for.
func (t *TaskConfig) show(w io.Writer, rows []taskbench.Row, asJSON bool) error {
	share := 0.0
	if t.METG {
		share = half
	}
	return taskbench.Show(w, taskbench.Best(rows), share, asJSON)
}

// taskRanks is the command line of a job.
func (r *runner) taskRanks(t TaskConfig, g taskbench.Graph, name string) []string {
	args := append([]string{"-runner", name, "-iter", joinList(t.Iterations)}, graphFlags(g)...)
	return r.job(t.Ranks, workers(t.Workers), taskBench, args...)
}

// graphFlags are those of a graph, but for the iterations.
func graphFlags(g taskbench.Graph) []string {
	flags := []string{
		"-type", g.Type.String(), "-steps", strconv.Itoa(g.Steps), "-width", strconv.Itoa(g.Width),
		"-radix", strconv.Itoa(g.Radix), "-fraction", strconv.FormatFloat(g.Fraction, 'g', -1, 64),
		"-kernel", g.Kernel.Kind.String(), "-imbalance", strconv.FormatFloat(g.Kernel.Imbalance, 'g', -1, 64),
		"-payload", strconv.Itoa(g.Payload),
	}
	if g.Period > 0 {
		flags = append(flags, "-period", strconv.Itoa(g.Period))
	}
	if g.Kernel.Kind == taskbench.Memory {
		flags = append(flags, "-scratch", strconv.Itoa(g.Kernel.Scratch), "-sample", strconv.Itoa(g.Kernel.Samples))
	}
	return flags
}

const (
	slowTask      = 100 * time.Microsecond // a task, however it is run
	slowIteration = 100 * time.Nanosecond
)

// limit is the time after which a job hangs, by any measure.
func (t *TaskConfig) limit(g taskbench.Graph) time.Duration {
	each := time.Duration(0)
	for _, n := range t.Iterations {
		each += slowTask + time.Duration(n)*slowIteration
	}
	return startLimit + runsOfSweep*time.Duration(g.Tasks())*each
}
