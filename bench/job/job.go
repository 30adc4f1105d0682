// Package job runs a launcher, reads rows from it, and ensures that the job ends. After the time allowed neither
// launcher nor ranks are left, whatever the program does.
package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/golci/golci/bench"
)

// ErrTime says that a job was ended because its time was over.
var ErrTime = errors.New("job: time is over")

// grace is how long a job that was asked to end may take before it is killed.
const grace = 2 * time.Second

// Job is one run of a launcher.
type Job struct {
	Argv  []string      // launcher and its arguments; Argv[0] is a path
	Env   []string      // K=V, added to this process's environment
	Limit time.Duration // after which it is ended
	// Strays is a program that only this job runs. Its processes that outlive the launcher are killed, because some
	// launchers put ranks into process groups of their own. May be "".
	Strays string
	Row    func(bench.Row) // called with each row as it is printed
	// Line, if not nil, is called with each line in place of Row. Its first error is Run's.
	Line func(text []byte) error
}

// Run starts j and blocks until it has ended. If the exit status is not 0 it returns an error with the last standard
// error output of j. Rows that came before stay valid. Cancelling ctx ends the job too.
func Run(ctx context.Context, j Job) error {
	limited, cancel := context.WithTimeoutCause(ctx, j.Limit, ErrTime)
	defer cancel()
	cmd := exec.CommandContext(limited, j.Argv[0], j.Argv[1:]...)
	cmd.Env = append(os.Environ(), j.Env...)
	cmd.WaitDelay = grace
	cmd.Cancel = func() error { return terminate(cmd) }
	group(cmd)
	errText := &tail{max: 4 << 10}
	cmd.Stderr = errText
	out := &lines{line: j.Line}
	if out.line == nil {
		out.line = func(text []byte) error { return bench.ReadJSON(bytes.NewReader(text), j.Row) }
	}
	cmd.Stdout = out
	err := cmd.Run()
	reap(cmd, j.Strays)
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		return fmt.Errorf("%w after %v: %s", ErrTime, j.Limit, strings.Join(j.Argv, " "))
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("job: %s: %w\n%s", strings.Join(j.Argv, " "), err, errText)
	}
	return out.err
}

// lines takes standard output apart; exec.Cmd writes to it from one goroutine.
type lines struct {
	line func(text []byte) error
	rest []byte
	err  error // the first broken line
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 {
			return len(p), nil
		}
		if err := l.line(l.rest[:end+1]); err != nil && l.err == nil {
			l.err = err
		}
		l.rest = l.rest[end+1:]
	}
}

// tail keeps the last bytes written.
type tail struct {
	mu  sync.Mutex
	max int
	buf []byte // protected by mu
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - t.max; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}
