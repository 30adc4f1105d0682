package suite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/job"
	"github.com/golci/golci/bench/peers"
	"github.com/golci/golci/bench/ranks"
	"github.com/golci/golci/bench/twin"
	"github.com/golci/golci/internal/observe/settings"
)

type runner struct {
	Config
	out   printer
	found []peers.Peer
}

// findPeers builds the C programs in dir with everything found. One that does not build is told and left out.
func (r *runner) findPeers(dir string) {
	found := peers.Find()
	if len(found) == 0 {
		fmt.Fprintln(r.Err, "no MPI implementation, no UCX and no LCI found: golci runs alone")
	}
	if m, ok := peers.Golci(r.Self); ok {
		found = append(found, m)
	}
	for _, m := range found {
		if err := m.Build(dir); err != nil {
			fmt.Fprintf(r.Err, "%s is left out: %v\n", m.Name, err)
			continue
		}
		r.found = append(r.found, m)
	}
}

// plain tells peers at their defaults, be it over the network, from tuned ones.
func (r *runner) plain(impl string) bool {
	for _, m := range r.found {
		if m.Name == impl || m.Name+peers.TCP == impl {
			return true
		}
	}
	return false
}

func (r *runner) golci(ctx context.Context, s spec, v variant, out func(bench.Row)) error {
	for _, threads := range s.jobs() {
		err := r.watched(out, func(out func(bench.Row)) error {
			return job.Run(ctx, job.Job{Argv: r.ranks(s, v, threads), Limit: s.limit(threads), Row: out})
		})
		if err != nil {
			return fmt.Errorf("bench: %s: %w", s.name, err)
		}
	}
	return nil
}

// job is the command line of a job of golci's ranks in which a benchmark prints rows. env is added to theirs, as K=V.
func (r *runner) job(ranks int, env []string, name string, args ...string) []string {
	argv := []string{r.Self, "run", "-n", strconv.Itoa(ranks)}
	for _, set := range env {
		argv = append(argv, "-env", set)
	}
	return slices.Concat(argv, []string{r.Self, "bench", name}, args, []string{"-json"})
}

// workers is the setting of so many workers of a rank; 0 leaves them to the launcher.
func workers(n int) []string {
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s=%d", settings.Workers.Env(), n)}
}

func (r *runner) ranks(s spec, v variant, threads []int) []string {
	return r.job(r.N, slices.Concat(v, workers(s.workers)), s.name, "-sizes", joinList(s.sizes), "-threads",
		joinList(threads), "-duration", s.windowOf(threads).String())
}

// eachPeer runs every implementation found, in each of its settings.
func (r *runner) eachPeer(ctx context.Context, s spec, rep int, out func(bench.Row)) {
	for i := range r.found {
		m := &r.found[i]
		if !m.Has(s.name) {
			continue
		}
		for _, setting := range r.settings(m) {
			if !setting.For(s.name) {
				continue
			}
			for _, threads := range s.jobs() {
				if ctx.Err() != nil {
					return
				}
				r.peer(ctx, m, setting, s, threads, rep, out)
			}
		}
	}
}

func (r *runner) peer(
	ctx context.Context, m *peers.Peer, setting peers.Setting, s spec, threads []int, rep int, out func(bench.Row),
) {
	impl := m.Name + setting.Suffix
	argv, env := m.Command(setting, peers.Case{
		Bench: s.name, Impl: impl, Ranks: r.N, Sizes: joinList(s.sizes), Threads: joinList(threads),
		Seconds: strconv.FormatFloat(s.windowOf(threads).Seconds(), 'g', -1, 64),
	})
	got := 0
	err := r.watched(out, func(out func(bench.Row)) error {
		return job.Run(ctx, job.Job{
			Argv: argv, Env: env, Limit: s.limit(threads), Strays: m.Program,
			Row: func(row bench.Row) {
				got++
				out(row)
			},
		})
	})
	if err == nil || got == s.rows(threads) || ctx.Err() != nil {
		return // a peer that starves its threads ends badly after its row, which says so
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	fmt.Fprintf(r.Err, "%s, run %d: %v\n", impl, rep+1, err)
	if s.kind == sole {
		out(bench.Row{
			Bench: s.name, Impl: impl, Size: s.sizes[0], Threads: threads[0], Unit: bench.PerSecond, Note: "no result: " + first,
		})
	}
}

// jobs splits the numbers of threads into those that one job measures.
func (s spec) jobs() [][]int {
	if s.kind != sole {
		return [][]int{s.threads}
	}
	var out [][]int
	for _, n := range s.threads {
		out = append(out, []int{n})
	}
	return out
}

func (s spec) rows(threads []int) int {
	n := len(threads) * len(s.sizes)
	switch s.name {
	case twin.Active, ranks.FirstCall:
		return 2 * n // round trips and floods; calls and their control
	case ranks.Tail:
		return len(ranks.Quantiles) * n
	case ranks.Asserts:
		return len(ranks.AssertsOf()) * n
	}
	return n
}

const (
	startLimit = 30 * time.Second       // launcher, wire-up, warm-up, drain
	slowest    = 200e6                  // bytes/s, of the warm-up and of the smallest number of iterations
	leastBytes = 100 * 64               // messages of those
	perThread  = 200 * time.Microsecond // to start and to end one
	enough     = 40 * time.Microsecond  // of the window for each thread, so that every one makes many round trips
)

// windowOf is the window of a job with these numbers of threads. With very many threads, one second gives each too
// few turns for a meaningful share of the slowest.
func (s spec) windowOf(threads []int) time.Duration {
	if s.chosen || s.kind != sole {
		return s.window
	}
	return max(s.window, time.Duration(slices.Max(threads))*enough)
}

// limit is the time after which a job hangs, by any measure.
func (s spec) limit(threads []int) time.Duration {
	limit := startLimit + time.Duration(slices.Max(threads))*perThread
	for _, size := range s.sizes {
		limit += 2*s.windowOf(threads) + time.Duration(float64(size)*leastBytes/slowest*float64(time.Second))
	}
	return limit
}
