// Package launch starts the ranks of a job, serves them PMI-1, and ends them: no rank outlives the job, whatever ends
// it.
package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
)

// Spec describes a job.
type Spec struct {
	Commands []boot.Command                // the programs, as paths; ranks are numbered through
	Room     int                           // the most ranks, with those that ranks spawn; less than Ranks means none
	Env      []string                      // KEY=VALUE on top of the launcher's own environment; a later one wins
	Bind     string                        // "core" or "none"
	Prefix   bool                          // begin every line of output with the rank, but in files
	Files    string                        // directory for the output of the ranks; "": it goes to Stdout and Stderr
	Tee      bool                          // with Files: it goes there, too
	Survive  bool                          // go on without ranks that die
	Timeout  time.Duration                 // after which every rank is asked for a dump and ended; 0: none
	Grace    time.Duration                 // between asking the ranks to end and SIGKILL
	Limit    func(ranks int) time.Duration // from the first rank that ends as all have agreed to the last
	Guard    *Guard                        // ends the ranks when this process is killed; may be nil
	Parts    string                        // directory for the parts of a timeline; "": none is wanted

	Stdin          *os.File // for rank 0; the others get none
	Stdout, Stderr io.Writer
	Say            func(text string) // messages about the job
	Detail         func(text string) // prints each step, for -v
	Signals        <-chan os.Signal  // to be passed on; may be nil
}

// ErrPlatform: this system cannot hand a connected socket to a process it starts.
var ErrPlatform = errors.New("golci run needs Linux, macOS or another Unix")

var errNoProgram = errors.New("no program given")

// Ranks is how many ranks start with the job. 0 means as many as the team has room for: the number of an only command
// may be 0.
func (s *Spec) Ranks() (n int) {
	for _, c := range s.Commands {
		n += c.N
	}
	return n
}

// checkSpec looks for errors of the caller. least is 0 for a team that can say how many ranks there are.
func (s *Spec) checkSpec(least int) error {
	if len(s.Commands) > 1 {
		least = 1
	}
	for _, c := range s.Commands {
		switch {
		case c.N < least || c.N > MaxRanks:
			return fmt.Errorf("the number of ranks must be from 1 to %d, not %d", MaxRanks, c.N)
		case len(c.Argv) == 0:
			return errNoProgram
		}
	}
	switch ranks := s.Ranks(); {
	case ranks > MaxRanks:
		return fmt.Errorf("the number of ranks must be from 1 to %d, not %d", MaxRanks, ranks)
	case s.Room > MaxRanks:
		return fmt.Errorf("-universe must be at most %d, not %d", MaxRanks, s.Room)
	case len(s.Commands) == 0:
		return errNoProgram
	case s.Bind != "core" && s.Bind != "none":
		return fmt.Errorf("-bind must be core or none, not %q", s.Bind)
	}
	return nil
}

// PartEnding is that of the parts of a timeline in a directory of parts. The rest of a part's name is its rank.
const PartEnding = ".part"

// PartPath is the part of a rank in a directory of parts.
func PartPath(dir string, rank int) string { return filepath.Join(dir, strconv.Itoa(rank)+PartEnding) }

// PartsEnv is the variable that has ranks write parts into dir. Options of a timeline in env, a list of "name=value",
// stay.
func PartsEnv(dir string, env []string) string {
	var files settings.TraceFiles
	for _, kv := range env {
		if text, ok := strings.CutPrefix(kv, settings.Trace.Env()+"="); ok {
			files, _ = settings.ParseTrace(text) // golci run has told of an error
		}
	}
	files.Timeline = filepath.Join(dir, "%r"+PartEnding)
	return settings.Trace.Env() + "=" + files.String()
}

// StartError is a job that could not be started, with an exit code of its own.
type StartError struct {
	Code int
	Err  error
}

func (e StartError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e StartError) Unwrap() error { return e.Err }

// NotStarted is the exit code of a job that could not be started, where nothing else is known.
const NotStarted = 126

func codeOf(err error) int {
	if e, ok := errors.AsType[StartError](err); ok {
		return e.Code
	}
	return NotStarted
}

// MaxRanks bounds a job on one machine: a rank takes a process, two descriptors and several threads.
const MaxRanks = 4096

// EndsJob tells the signals that ask a job to end from those that only tell it something.
func EndsJob(sig syscall.Signal) bool {
	return sig == syscall.SIGINT || sig == syscall.SIGTERM || sig == syscall.SIGHUP
}
