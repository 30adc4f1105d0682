package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golci/golci/cmd/golci-mpich-tests/internal/suite"
)

// runLines runs the lines, some directories at once, those of one directory in turn: they may share files there.
func (c *cli) runLines(
	ctx context.Context, tests *checkout, list *suite.List, lines []suite.Line,
) ([]suite.Result, error) {
	if c.Quick {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, quickTime)
		defer stop()
	}
	s := &session{cli: c, list: list, tests: tests, builder: builder{tests: tests, built: make(map[string]error)}}
	work := make(chan []suite.Line)
	var workers sync.WaitGroup
	for range c.Jobs {
		workers.Go(func() {
			for group := range work {
				s.group(ctx, group)
			}
		})
	}
	for _, group := range byDir(lines) {
		work <- group
	}
	close(work)
	workers.Wait()
	if n := len(lines) - len(s.results); n > 0 && ctx.Err() != nil {
		fmt.Fprintf(c.out, "%d lines were not run: %v\n", n, ctx.Err())
		if !c.Quick {
			return s.results, ctx.Err()
		}
	}
	return s.results, s.err
}

// byDir divides lines into those of each directory, in the order of their first ones.
func byDir(lines []suite.Line) (groups [][]suite.Line) {
	at := make(map[string]int)
	for _, l := range lines {
		i, ok := at[l.Dir]
		if !ok {
			i = len(groups)
			at[l.Dir] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], l)
	}
	return groups
}

// session is one run of chosen lines.
type session struct {
	*cli
	list    *suite.List
	tests   *checkout
	builder builder

	mu      sync.Mutex // guards what follows, and the output
	results []suite.Result
	err     error // of the first line that could not be tried
}

func (s *session) group(ctx context.Context, lines []suite.Line) {
	for i := range lines {
		start := time.Now()
		result, output, err := s.line(ctx, &lines[i])
		if ctx.Err() != nil {
			return
		}
		s.note(result, output, time.Since(start), err)
	}
}

func (s *session) note(r suite.Result, output string, took time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if s.err == nil {
			s.err = fmt.Errorf("%s: %w", r.Key, err)
		}
		return
	}
	s.results = append(s.results, r)
	e := s.list.Find(r.Key)
	due := s.Foreign || e != nil && e.Kind == suite.Pass
	if !s.Verbose && (r.Verdict != suite.Failed || !due) {
		return
	}
	fmt.Fprintf(s.out, "%-7s %s (%.1f s) %s\n", r.Verdict, r.Key, took.Seconds(), r.Why)
	if r.Verdict == suite.Failed {
		const most = 2000
		fmt.Fprint(s.out, indent(output[:min(len(output), most)]))
	}
}

func indent(text string) string {
	var b strings.Builder
	for row := range strings.Lines(text) {
		b.WriteString("    " + strings.TrimSuffix(row, "\n") + "\n")
	}
	return b.String()
}

// line builds and runs one line, and judges it. An error tells that it could not be tried.
func (s *session) line(ctx context.Context, l *suite.Line) (r suite.Result, output string, err error) {
	r = suite.Result{Key: l.Key()}
	if err := s.builder.build(ctx, l); err != nil {
		r.Why = "it cannot be built"
		return r, err.Error(), nil
	}
	limit := l.Limit
	if limit == 0 {
		limit = s.Time
	}
	j := job{
		argv: s.argv(l, limit), dir: filepath.Join(s.tests.dir, filepath.FromSlash(l.Dir)),
		env:  append(append(environment(), l.Env...), "MPIEXEC_TIMEOUT="+seconds(limit)),
		time: limit + s.grace, memory: max(s.Memory<<20, int64(l.Memory*(1<<30))),
	}
	end, err := j.run(ctx)
	if err != nil {
		return r, end.output, err
	}
	switch end.killed {
	case tooLong:
		r.Why = fmt.Sprintf("it ran longer than %v", limit)
	case tooMuch:
		r.Why = fmt.Sprintf("it had more than %d MiB in memory", j.memory>>20)
	default:
		r.Verdict, r.Why = l.Rule.Judge(end.output, end.bad)
	}
	return r, end.output, nil
}

// Programs in directories of that name spawn others: some 128, one after the other. Lines of errors/spawn want that
// MPI_Comm_connect gives up after 20 seconds, and name MPICH's variables for that.
const (
	spawnDir   = "spawn"
	spawnFlags = "-universe 160 -env GOLCI_INIT_TIMEOUT=20s"
)

// argv is the command of a line.
func (s *session) argv(l *suite.Line, limit time.Duration) []string {
	room := ""
	if strings.Contains(l.Dir, spawnDir) {
		room = spawnFlags
	}
	launcher := strings.NewReplacer("{time}", seconds(limit)+"s", "{room}", room).Replace(s.Launcher)
	argv := strings.Fields(launcher)
	argv = append(argv, "-n", strconv.Itoa(l.Procs))
	argv = append(argv, l.LauncherArgs...)
	argv = append(argv, "./"+l.Program)
	return append(argv, l.Args...)
}

func seconds(d time.Duration) string { return strconv.Itoa(max(1, int(d.Seconds()))) }
