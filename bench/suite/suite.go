package suite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/chart"
	"github.com/golci/golci/bench/credits"
	"github.com/golci/golci/bench/realm"
	"github.com/golci/golci/bench/reliable"
	"github.com/golci/golci/bench/scale"
	"github.com/golci/golci/internal/platform/topology"
)

// Config is what the command line says.
type Config struct {
	Names    []string        // benchmarks, or "all"
	N        int             // ranks
	Sizes    []int           // bytes; nil for each benchmark's own
	Threads  []int           // in each process; nil for each benchmark's own
	Duration time.Duration   // least length of a timed loop; 0 for each benchmark's own
	JSON     bool            // rows as JSON lines, else a table
	Plot     string          // path of a figure, or ""
	Peers    bool            // also run the MPI implementations found
	Reps     int             // rows are medians of so many runs; 0 means 5 with peers, else 1
	Conduit  string          // of the ranks started: "shm", "udp", "ofi", or "" for their own choice
	Security []string        // of the UDP conduit, each measured in turn: encrypt, authenticate, trust; nil: encrypt
	Out, Err io.Writer       // rows; progress and failures of peers
	Credit   credits.Config  // of credits, but for Length, which is Duration
	Scale    scale.Config    // of scale, but for Only
	Link     reliable.Config // of reliable, but for Size, Loss and Length, which are Sizes, Losses and Duration
	Losses   []float64       // for reliable, chances; nil for its own
	Only     []string        // measures of realm or scale; nil for all
	Real     bool            // reliable runs two ranks over the UDP conduit in place of a simulation
	Tasks    TaskConfig      // of taskbench
	Self     string          // the golci program, to start ranks with
	Env      func(name string) (string, bool)
}

const (
	repsWithPeers = 5
	anyRanks      = 0 // the launcher knows; ranks.Run checks
)

// Run does what c says and blocks until it is done or ctx is cancelled; no process of a job is left then. Inside a
// job it takes part as one rank, and rank 0 writes the rows. A failure of a peer is reported on c.Err and does not
// stop the others. A failure of golci is returned, after the rows so far.
func Run(ctx context.Context, c Config) error {
	switch {
	case c.N < 1:
		return fmt.Errorf("%w: -n %d: want at least 1 rank", ErrUsage, c.N)
	case c.Reps < 0:
		return fmt.Errorf("%w: -reps %d: want 0 or more repetitions", ErrUsage, c.Reps)
	case c.Duration < 0:
		return fmt.Errorf("%w: -duration %v: want 0 or more", ErrUsage, c.Duration)
	}
	inJob, err := insideJob(c.Env)
	if err != nil {
		return err
	}
	if c.Real && c.Conduit == "" {
		c.Conduit = udpConduit
	}
	if err := c.checkConduit(inJob); err != nil {
		return err
	}
	if c.Plot != "" {
		if err := chart.Check(c.Plot); err != nil {
			return err
		}
	}
	if inJob {
		c.N = anyRanks
	}
	chosen, err := choose(c)
	if err != nil {
		return err
	}
	if inJob {
		return takePart(ctx, c, chosen)
	}
	if c.Reps == 0 {
		c.Reps = 1
		if c.Peers {
			c.Reps = repsWithPeers
		}
	}
	return runAll(ctx, c, chosen)
}

func runAll(ctx context.Context, c Config, chosen []spec) (err error) {
	r := &runner{Config: c, out: newPrinter(c)}
	if c.Peers {
		dir, err := os.MkdirTemp("", "golci-bench-")
		if err != nil {
			return fmt.Errorf("bench: %w", err)
		}
		defer os.RemoveAll(dir)
		r.findPeers(dir)
	}
	var failed []error
	var all []bench.Row
	for _, s := range chosen {
		rows, err := r.run(ctx, s)
		all = append(all, rows...)
		if err != nil {
			failed = append(failed, err)
		}
		if ctx.Err() != nil { // what has been measured is drawn all the same
			failed = []error{ctx.Err()}
			break
		}
	}
	if c.Plot != "" && len(all) > 0 {
		for _, text := range chart.Undrawn(all) {
			fmt.Fprintln(c.Err, "golci bench: not in the figure:", text)
		}
		if err := chart.Write(c.Plot, subtitle(all, time.Now()), all); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// subtitle says what the values of a figure depend on.
func subtitle(rows []bench.Row, now time.Time) string {
	name := cmp.Or(topology.ReadProcessor().Name, runtime.GOARCH)
	text := fmt.Sprintf("%s, %s, %d CPUs, %s", name, runtime.GOOS, runtime.NumCPU(), now.Format(time.DateOnly))
	crossed := bench.Only(rows, func(r bench.Row) bool { return r.State != bench.Unknown })
	if len(crossed) > 0 {
		times := bench.Distinct(crossed, func(r bench.Row) float64 { return r.Crossing })
		states := bench.Distinct(crossed, func(r bench.Row) string { return string(r.State) })
		text += fmt.Sprintf(", crossing %.0f to %.0f ns, %s", slices.Min(times), slices.Max(times),
			strings.Join(states, " and "))
	}
	return text
}

// run measures one benchmark. With one repetition and no peer rows are printed as they come, else as medians.
func (r *runner) run(ctx context.Context, s spec) ([]bench.Row, error) {
	if s.kind == virtual || s.kind == either {
		return r.show(ctx, s)
	}
	show := r.out
	if s.kind == tasked {
		show = realm.Printer(r.Out, r.JSON)
	}
	stream := r.Reps == 1 && !r.Peers && !r.network()
	var rows []bench.Row
	var printing error
	keep := func(row bench.Row) {
		rows = append(rows, row)
		if stream && printing == nil {
			printing = show(row)
		}
	}
	err := r.measure(ctx, s, keep)
	if stream {
		return rows, errors.Join(err, printing)
	}
	rows = bench.Medians(rows)
	bench.Compare(rows, r.plain)
	for _, row := range rows {
		printing = errors.Join(printing, show(row))
	}
	return rows, errors.Join(err, printing)
}

// show runs what prints rows of its own, and returns curves to draw.
func (r *runner) show(ctx context.Context, s spec) ([]bench.Row, error) {
	switch {
	case s.name == taskBench:
		return nil, r.tasks(ctx)
	case s.name == creditsName:
		c := r.Credit
		if s.chosen {
			c.Length = s.window
		}
		return credits.Show(ctx, c, r.Out, r.JSON, r.out)
	case s.name == scaleName:
		c := r.Scale
		c.Only = s.only
		return nil, scale.Show(ctx, c, r.Out, r.JSON)
	case r.Real:
		return nil, r.real(ctx, s)
	}
	return r.simulate(ctx, s)
}

// measure interleaves: every repetition runs each implementation once, so that a change of the machine meets all.
func (r *runner) measure(ctx context.Context, s spec, out func(bench.Row)) error {
	var failed error
	for rep := range r.Reps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.kind == tasked {
			if err := r.realmRows(ctx, s, out); err != nil {
				return err
			}
			continue
		}
		for _, v := range r.variants() {
			if err := r.golci(ctx, s, v, out); err != nil && failed == nil {
				failed = err
			}
		}
		if err := r.raw(ctx, s, out); err != nil && failed == nil {
			failed = err
		}
		if s.peers {
			r.eachPeer(ctx, s, rep, out)
		}
	}
	return failed
}

// printer writes a row in the form asked for.
type printer func(bench.Row) error

func newPrinter(c Config) printer {
	if c.JSON {
		lines := json.NewEncoder(c.Out)
		return func(r bench.Row) error { return lines.Encode(r) }
	}
	return bench.NewTable(c.Out, c.Peers, c.network()).Row
}
