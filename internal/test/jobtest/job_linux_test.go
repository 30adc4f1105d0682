package jobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/udp"
)

// patience bounds everything a test waits for, where the requirement names no time.
const patience = 2 * time.Minute

// builtIn is the directory of the launcher, made when it is first asked for.
var builtIn string

// launcher builds golci and returns its path.
var launcher = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "golci-jobtest-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	path := filepath.Join(dir, "golci")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/golci")
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// text is what a job has printed so far.
type text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (x *text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.buf.Write(p)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.buf.String()
}

// job is a launcher and its ranks.
type job struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err text
	tmp      string // its directory for temporary files
}

// segments is how many segments of shared memory a job of n ranks has at least: none over datagrams, which the
// environment asks for.
func segments(n int) int {
	if os.Getenv(settings.Conduit.Env()) == udp.Name {
		return 0
	}
	return n
}

// ranks are the arguments of golci for n ranks that play role.
func ranks(n int, role string, flags ...string) []string {
	args := append([]string{"run", "-n", strconv.Itoa(n), "-env", roleVar + "=" + role}, flags...)
	return append(args, os.Args[0])
}

// golci makes a job that is started with args, and not yet running.
func golci(t *testing.T, args ...string) *job {
	t.Helper()
	return within(t, patience, args...)
}

// within is golci for a job that may take as long as bound.
func within(t *testing.T, bound time.Duration, args ...string) *job {
	t.Helper()
	path, err := launcher()
	if err != nil {
		t.Fatal(err)
	}
	return commandWithin(t, bound, path, args...)
}

// command makes a job under any launcher.
func command(t *testing.T, path string, args ...string) *job {
	t.Helper()
	return commandWithin(t, patience, path, args...)
}

func commandWithin(t *testing.T, bound time.Duration, path string, args ...string) *job {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	t.Cleanup(cancel)
	j := &job{t: t, cmd: exec.CommandContext(ctx, path, args...), tmp: t.TempDir()}
	j.cmd.Env = append(os.Environ(), "TMPDIR="+j.tmp, "GORACE=atexit_sleep_ms=0")
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.err
	j.cmd.WaitDelay = 5 * time.Second
	return j
}

// start starts the job; it ends with the test at the latest.
func (j *job) start() *job {
	j.t.Helper()
	if err := j.cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	j.t.Cleanup(func() {
		if j.cmd.ProcessState == nil {
			_ = j.cmd.Process.Kill()
			_ = j.cmd.Wait()
		}
	})
	return j
}

// wait waits for the launcher and returns its exit code, negative when a signal ended it.
func (j *job) wait() int {
	j.t.Helper()
	err := j.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		j.t.Fatalf("%v\n%s", err, j.all())
	}
	return j.cmd.ProcessState.ExitCode()
}

// succeed runs the whole job, which must end well.
func (j *job) succeed() {
	j.t.Helper()
	j.start()
	if code := j.wait(); code != 0 {
		j.t.Fatalf("exit code %d\n%s", code, j.all())
	}
}

func (j *job) all() string { return fmt.Sprintf("--- out\n%s--- err\n%s", &j.out, &j.err) }

// await waits until the job has printed n lines that end with line.
func (j *job) await(n int, line string) {
	j.t.Helper()
	for end := time.Now().Add(patience); strings.Count(j.out.String(), line+"\n") < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			j.t.Fatalf("%d lines %q are missing\n%s", n, line, j.all())
		}
	}
}

var pidLine = regexp.MustCompile(`rank (\d+) pid (\d+)\D`)

// pids are the processes of the n ranks, by rank. It waits until all have told theirs.
func (j *job) pids(n int) []int {
	j.t.Helper()
	told := pidLine.FindAllStringSubmatch(j.out.String(), -1)
	for end := time.Now().Add(patience); len(told) < n; told = pidLine.FindAllStringSubmatch(j.out.String(), -1) {
		if time.Sleep(5 * time.Millisecond); time.Now().After(end) {
			j.t.Fatalf("%d of %d ranks told their processes\n%s", len(told), n, j.all())
		}
	}
	pids := make([]int, n)
	for _, m := range told {
		rank, _ := strconv.Atoi(m[1])
		pids[rank], _ = strconv.Atoi(m[2])
	}
	return pids
}
