package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/job"
	"github.com/golci/golci/bench/realm"
	"github.com/golci/golci/bench/twin"
	"github.com/golci/golci/rank"
	golci "github.com/golci/golci/realm"
)

// realmJob is one of the jobs that the measures of realm need.
type realmJob struct {
	ranks, workers int // workers of a rank; 0 leaves them to the launcher
	names          []string
	impl           string // of the rows
}

// crowd is the number of workers of a rank that has one core.
const crowd = 2

func (r *runner) realmJobs(s spec) ([]realmJob, error) {
	p, err := realm.PlanFor(s.only)
	if err != nil {
		return nil, err
	}
	jobs := []realmJob{{1, 1, p.Alone, bench.Golci}}
	if r.N > 1 {
		jobs = append(jobs, realmJob{r.N, 0, p.Together, bench.Golci}, realmJob{r.N, crowd, p.Crowded, realm.Crowded})
	}
	return jobs, nil
}

// realmRows runs the jobs that the measures of realm need, one after the other.
func (r *runner) realmRows(ctx context.Context, s spec, out func(bench.Row)) error {
	jobs, err := r.realmJobs(s)
	for _, j := range jobs {
		if err != nil || ctx.Err() != nil {
			break
		}
		if len(j.names) == 0 {
			continue
		}
		argv := r.realmArgs(s, j)
		err = job.Run(ctx, job.Job{Argv: argv, Limit: realmLimit(s, j), Row: func(row bench.Row) {
			row.Impl = j.impl
			out(row)
		}})
	}
	if err != nil {
		return fmt.Errorf("bench: %s: %w", s.name, err)
	}
	return nil
}

func (r *runner) realmArgs(s spec, j realmJob) []string {
	return r.job(j.ranks, workers(j.workers), s.name, "-only", strings.Join(j.names, ","), "-duration", s.window.String())
}

const (
	realmSizes  = 8                // more than the sizes of any measure
	realmRounds = 15 * time.Second // for the fewest rounds of a measure, on a busy machine
)

// realmLimit is the time after which the job hangs, by any measure.
func realmLimit(s spec, j realmJob) time.Duration {
	return startLimit + time.Duration(len(j.names))*(realmSizes*s.window+realmRounds)
}

// takeTasks measures realm as one rank of the job that this process belongs to.
func takeTasks(ctx context.Context, s spec, out printer) error {
	rt, err := golci.Start(ctx, rank.Config{Processors: true, Exit: os.Exit}, golci.Config{Segment: realm.Segment})
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	var printing error
	err = realm.Run(ctx, rt, realm.Config{Only: s.only, Window: s.window}, func(r bench.Row) {
		printing = errors.Join(printing, out(r))
	})
	return twin.Leave(ctx, rt.OfRank(), errors.Join(err, printing))
}
