package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/cmd/golci/internal/launch/far"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
)

type runCmd struct {
	part    `embed:""`
	Room    int           `name:"universe" help:"The most ranks of the job, with those that its ranks spawn; default: -n, so that none can be." placeholder:"N"`
	Bind    string        `help:"Bind each rank to its share of the cores (core), or not (none); default: GOLCI_BIND." placeholder:"core|none"`
	Prefix  bool          `help:"Begin every line of output with its rank."`
	Output  string        `help:"Write the output of each rank to files in this directory, DIR/0.out and DIR/0.err, and not to the terminal." placeholder:"DIR"`
	Tee     bool          `help:"With -output: write it to the terminal as well."`
	Survive bool          `help:"Do not end the job when a rank dies; the program goes on without it."`
	Timeout time.Duration `help:"After this time ask every rank for a dump of what it waits for, and end the job." placeholder:"D"`
	Grace   time.Duration `default:"1s" help:"Time between asking the ranks to end and killing them."`
	Trace   string        `help:"Write a timeline of all ranks to this file, for ui.perfetto.dev; options may follow it, as in GOLCI_TRACE." placeholder:"FILE"`
	Input   string        `name:"stdin" default:"0" help:"Who gets the standard input: rank 0 (0), or nobody (none)." placeholder:"0|none"`
	Race    bool          `help:"Build PROG, a Go package, with the race detector."`
	Tags    string        `help:"Build tags for PROG, a Go package." placeholder:"LIST"`
	Build   string        `help:"More flags for go build, as in -build '-gcflags=-m -trimpath'." placeholder:"FLAGS"`
	runFar  `embed:""`
	Verbose bool `short:"v" help:"Print each step."`

	more []part // further programs
}

// Run starts the job and reports its exit code as the error.
func (r *runCmd) Run() error {
	set, err := settings.Parse(os.LookupEnv)
	if err != nil {
		return err
	}
	if r.Bind == "" {
		r.Bind = settings.Bind.Get(set)
	}
	if err := r.checkFlags(); err != nil {
		return err
	}
	for _, text := range settings.Misspelt(slices.Concat(os.Environ(), r.envVariables())) {
		sayLine(text)
	}
	hosts, err := r.namedMachines()
	if err != nil {
		return err
	}
	tieToGoRun()
	guard, err := startGuard()
	if err != nil {
		return err
	}
	defer guard.Close()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded...)
	defer signal.Stop(signals)
	programs, cleanup, err := r.findPrograms(guard, signals)
	defer cleanup()
	if err != nil {
		return err
	}
	return r.launchJob(programs, hosts, guard, signals)
}

// checkFlags looks at the flags that kong cannot judge.
func (r *runCmd) checkFlags() error {
	if r.Allocation != "auto" && r.Allocation != "none" {
		return fmt.Errorf("-allocation must be auto or none, not %q", r.Allocation)
	}
	if len(r.buildFlags()) > 0 && len(r.Argv) > 0 && !r.isBuilt() {
		return r.noPackage()
	}
	if r.Tee && r.Output == "" {
		return errors.New("-tee: the output goes to no files; -output DIR says where they are to be")
	}
	if r.Input != "0" && r.Input != "none" {
		return fmt.Errorf("-stdin must be 0 or none, not %q", r.Input)
	}
	return r.checkParts()
}

func (r *runCmd) buildFlags() (flags []string) {
	if r.Race {
		flags = append(flags, "-race")
	}
	if r.Tags != "" {
		flags = append(flags, "-tags="+r.Tags)
	}
	return append(flags, strings.Fields(r.Build)...)
}

func (r *runCmd) launchJob(argvs [][]string, hosts []far.Host, guard *launch.Guard, signals <-chan os.Signal) error {
	if err := r.makeOutput(); err != nil {
		return err
	}
	stdin, done := r.rankInput()
	defer done()
	set, err := r.settings()
	if err != nil {
		return err
	}
	team, err := r.teamOf(hosts, set)
	if err != nil {
		return err
	}
	files, err := r.traceFiles(set)
	if err != nil {
		return err
	}
	parts, err := newParts(files.Timeline, guard)
	if err != nil {
		return err
	}
	cmds, env := r.programCommands(argvs, r.rankCount(hosts))
	if parts != nil {
		env = append(env, settings.Trace.Env()+"="+files.String()) // each machine puts its parts in the file's place
	}
	code, err := launch.Run(&launch.Spec{
		Commands: cmds, Env: append([]string{settings.Bind.Env() + "=" + r.Bind}, env...),
		Bind: r.Bind, Prefix: r.Prefix, Files: r.Output, Tee: r.Tee, Survive: r.Survive, Timeout: r.Timeout, Grace: r.Grace,
		Limit: func(ranks int) time.Duration { return boot.ExitLimit(set, ranks) + limitMargin },
		Guard: guard, Stdin: stdin, Stdout: os.Stdout, Stderr: os.Stderr, Signals: signals, Say: sayLine, Detail: r.sayDetail,
		Parts: parts.path(), Room: r.Room,
	}, team)
	if err != nil {
		fmt.Fprintln(os.Stderr, "golci:", err)
	}
	if err := parts.merge(files.Timeline); err != nil {
		sayLine(fmt.Sprintf("no timeline in %s: %v", files.Timeline, err))
		code = max(code, 1)
	}
	if code != 0 {
		return exitCode(code)
	}
	return nil
}

// makeOutput makes the directory for the output of the ranks.
func (r *runCmd) makeOutput() error {
	if r.Output == "" {
		return nil
	}
	if err := os.MkdirAll(r.Output, 0o777); err != nil {
		return fmt.Errorf("-output %s: %w", r.Output, err)
	}
	return nil
}

// limitMargin gives the ranks, which keep the same limit, time to report what they wait for before the launcher acts.
const limitMargin = 500 * time.Millisecond

func (r *runCmd) settings() (*settings.Set, error) {
	return settings.Parse(func(name string) (string, bool) {
		for _, kv := range slices.Backward(r.envVariables()) {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v, true
			}
		}
		return os.LookupEnv(name)
	})
}

func sayLine(text string) { fmt.Fprintln(os.Stderr, "golci:", text) }

func (r *runCmd) sayDetail(text string) {
	if r.Verbose {
		fmt.Fprintln(os.Stderr, "golci:", text)
	}
}

// startGuard starts this program once more as the guard of the job.
func startGuard() (*launch.Guard, error) {
	self, err := ownPath()
	if err != nil {
		return nil, err
	}
	g, err := launch.StartGuard([]string{self, "guard"})
	if err != nil {
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	return g, nil
}

// guardCmd is the guard's side; people do not call it.
type guardCmd struct{}

// Run lasts as long as the launcher.
func (guardCmd) Run() error {
	launch.GuardMain(os.Stdin)
	return nil
}
