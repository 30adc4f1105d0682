// Command golci-mpich-tests runs MPICH's tests of MPI in C against golci's C library, judges them by MPICH's rules, and
// compares the outcome with lines.txt.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/golci/golci/cmd/golci-mpich-tests/internal/suite"
)

//go:embed lines.txt
var embedded string

// listFile is where -update writes, below the root of the repository.
const listFile = "cmd/golci-mpich-tests/lines.txt"

type cli struct {
	Tests     string   `help:"Checkout of MPICH, or a git directory of one." env:"MPICH_TESTS" placeholder:"DIR"`
	CC        string   `help:"Compiler for programs of MPI." name:"cc" env:"GOLCI_MPICH_CC" default:"golci cc"`
	Launcher  string   `help:"What starts a job, without -n N. {time} stands for the limit, {room} for the flag of golci run by which lines of spawn may start processes." default:"${launcher}"`
	Configure []string `help:"Arguments for configure, instead of those that fit CC." sep:"none" placeholder:"ARG"`
	List      string   `help:"File with what is expected, instead of the one in this program." placeholder:"FILE"`
	Foreign   bool     `help:"The library is another one: only tell what passes."`
	Only      []string `help:"Run these: pt2pt/*, errors/..., or a line of the list." sep:"none" placeholder:"GLOB"`
	Quick     bool     `help:"Run some 40 lines, for a minute at most."`
	Skipped   bool     `help:"Run lines that the list skips, too."`
	Update    bool     `help:"Write the list anew: lines that pass, lines that are missing or gone."`
	Dry       bool     `help:"Print the lines that would be run."`
	Verbose   bool     `help:"Print each line, and what failing programs write." short:"v"`
	Jobs      int      `help:"Directories at once; lines of one take turns." short:"j" default:"1" placeholder:"N"`
	MaxNP     int      `help:"Leave out lines with more processes." name:"maxnp" default:"16" placeholder:"N"`
	Memory    int64    `help:"MiB that a job may have in memory." default:"2048" placeholder:"MIB"`
	Mem       float64  `help:"Run lines that want up to so many GB; they may have as much." placeholder:"GB"`
	Scratch   string   `help:"Folder for copies of the tests, configured and built." placeholder:"DIR"`

	Time time.Duration `help:"Limit for a line that has none." default:"60s" placeholder:"D"`

	out   io.Writer
	grace time.Duration // after a line's limit, in which the launcher may end the job itself
}

const (
	quickLines = 40
	quickTime  = time.Minute
)

// errRed: the run is complete, and not as expected. It has been reported.
var errRed = errors.New("not as expected")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := realMain(ctx, os.Args[1:], os.Stdout, os.Stderr, 10*time.Second)
	stop()
	os.Exit(code)
}

func realMain(ctx context.Context, args []string, out, errs io.Writer, grace time.Duration) int {
	c := cli{out: out, grace: grace}
	helped := false
	parser, err := kong.New(&c, kong.Name("golci-mpich-tests"), kong.Writers(out, errs),
		kong.Description("Run MPICH's tests of MPI, and compare the outcome with what is expected."),
		kong.Exit(func(int) { helped = true }), kong.Vars{"launcher": "golci run -timeout {time} {room}"},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err == nil {
		_, err = parser.Parse(doubleDashes(args))
	}
	if helped {
		return 0
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		fmt.Fprintln(errs, "golci-mpich-tests:", err)
		return 2
	}
	if c.Tests == "" {
		fmt.Fprintln(out, "skipped: MPICH_TESTS does not name a checkout of MPICH")
		return 0
	}
	if err := c.run(ctx); err != nil {
		if !errors.Is(err, errRed) {
			fmt.Fprintln(errs, "golci-mpich-tests:", err)
		}
		return 1
	}
	return 0
}

// doubleDashes makes --name of -name: flags may be written as for Go's tools.
func doubleDashes(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && len(a) > 2 && a[2] != '=' && !digit(a[2]) {
			a = "-" + a
		}
		out[i] = a
	}
	return out
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func (c *cli) check() error {
	for _, o := range c.Only {
		if _, err := path.Match(o, ""); err != nil {
			return fmt.Errorf("-only %s: %w", o, err)
		}
	}
	for name, words := range map[string]string{"-cc": c.CC, "-launcher": c.Launcher} {
		if len(strings.Fields(words)) == 0 {
			return fmt.Errorf("%s names no command", name)
		}
	}
	switch {
	case c.Jobs < 1:
		return fmt.Errorf("-j %d: want at least one", c.Jobs)
	case c.MaxNP < 1:
		return fmt.Errorf("-maxnp %d: want at least one", c.MaxNP)
	case c.Time <= 0 || c.Memory <= 0 || c.Mem < 0:
		return errors.New("limits of time and memory must be more than nothing")
	case c.Foreign && c.Update:
		return errors.New("-update is for golci's own results, not with -foreign")
	}
	return nil
}

// run is the whole: copy and configure, load, choose, run, compare, report.
func (c *cli) run(ctx context.Context) error {
	list, err := c.readList()
	if err != nil {
		return err
	}
	tests, err := c.prepare(ctx)
	if err != nil {
		return err
	}
	defer tests.unlock()
	lines, notes, err := suite.Load(os.DirFS(tests.dir), suite.Strict)
	if err != nil {
		return err
	}
	if c.Verbose {
		for _, n := range notes {
			fmt.Fprintln(c.out, "note:", n)
		}
	}
	choice := suite.Choice{Only: c.Only, MaxProcs: c.MaxNP, Memory: c.Mem, Skipped: c.Skipped}
	if c.Quick {
		choice.Quick = quickLines
	}
	chosen := choice.Choose(list, lines)
	if c.Dry {
		for i := range chosen {
			fmt.Fprintln(c.out, chosen[i].Key())
		}
		return nil
	}
	results, err := c.runLines(ctx, tests, list, chosen)
	if err != nil {
		return err
	}
	return c.report(ctx, tests, list, lines, results)
}

// report prints what was found, and writes the list if that is asked for.
func (c *cli) report(
	ctx context.Context, tests *checkout, list *suite.List, lines []suite.Line, results []suite.Result,
) error {
	found := suite.Compare(list, lines, results)
	if c.Foreign {
		found = nil
	}
	if c.Update {
		next, err := c.updated(ctx, tests, list, lines, found)
		if err != nil {
			return err
		}
		list, found = next, suite.Compare(next, lines, results)
	}
	for _, d := range found {
		fmt.Fprintf(c.out, "%s: %s %s\n", d.What, d.Key, d.Why)
	}
	fmt.Fprint(c.out, suite.Table(suite.Count(list, results)))
	if c.Foreign {
		for _, r := range results {
			if r.Verdict == suite.Failed {
				return errRed
			}
		}
	}
	if len(found) > 0 {
		fmt.Fprintf(c.out, "%d lines are not as %s says; -update writes what passes\n", len(found), listFile)
		return errRed
	}
	return nil
}

func (c *cli) readList() (*suite.List, error) {
	text, name := embedded, listFile
	if c.List != "" {
		b, err := os.ReadFile(c.List)
		if err != nil {
			return nil, err
		}
		text, name = string(b), c.List
	}
	list, err := suite.ParseList(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

// updated writes the new list and gives it back.
func (c *cli) updated(
	ctx context.Context, tests *checkout, list *suite.List, lines []suite.Line, found []suite.Difference,
) (*suite.List, error) {
	name := c.List
	if name == "" {
		name = filepath.FromSlash(listFile)
		if _, err := os.Stat(name); err != nil {
			return nil, fmt.Errorf("-update writes below the root of the repository: %w", err)
		}
	}
	classify, err := c.classifier(ctx, tests, lines)
	if err != nil {
		return nil, err
	}
	next := suite.Update(list, found, classify)
	next.Commit = tests.commit
	return next, os.WriteFile(name, []byte(next.Format()), 0o666)
}
