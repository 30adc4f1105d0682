package slurmtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

const (
	apartVar   = "SLURM_NODES_APART"     // set by .ci/slurm for its command
	victimVar  = "GOLCI_TEST_SLURM_KILL" // makes the test binary a rank that dies, and names the file for the time
	patience   = time.Minute             // for a job, on a loaded machine
	goneWithin = 5 * time.Second         // after a rank was killed
)

var built string // directory of golci and the examples

func TestMain(m *testing.M) {
	if file := os.Getenv(victimVar); file != "" {
		os.Exit(victimMain(file))
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(built) // what stays is in the directory for temporary files
		os.Exit(code)
	}))
}

// victimMain is a rank of a job whose last rank kills itself while the others wait for it.
func victimMain(file string) int {
	p, err := mpi.Init()
	if err == nil {
		err = die(p.World(), file)
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	return 3
}

func die(c *mpi.Comm, file string) error {
	if err := c.Barrier(); err != nil {
		return err
	}
	if c.Rank() == c.Size()-1 {
		if err := os.WriteFile(file, []byte(time.Now().Format(time.RFC3339Nano)), 0o600); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	_, err := mpi.Recv(c, make([]byte, 1), c.Size()-1, 0)
	return err
}

// build makes golci and the examples, once.
func build(t *testing.T) {
	t.Helper()
	if os.Getenv(apartVar) == "" {
		t.Skip("there is no Slurm cluster; .ci/run slurm starts one for these tests")
	}
	if built != "" {
		return
	}
	dir, err := os.MkdirTemp("", "golci-slurm-")
	if err != nil {
		t.Fatal(err)
	}
	built = dir
	cmd := exec.Command("go", "build", "-o", dir, "./cmd/golci", "./examples/hello", "./examples/pagerank")
	cmd.Dir = filepath.Join("..", "..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// job is a finished command.
type job struct {
	name     string
	out, err string
	failed   error
	took     time.Duration
}

// run runs the words of line, of which the last is a program that build has made, or a path.
func run(t *testing.T, env []string, line string, args ...string) job {
	t.Helper()
	words := append(strings.Fields(line), args...)
	for i, w := range words {
		switch w {
		case "golci", "hello", "pagerank":
			words[i] = filepath.Join(built, w)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	cmd.Env = append(cmd.Env, env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // srun then ends its step
	cmd.WaitDelay = 5 * time.Second
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	begun := time.Now()
	err := cmd.Run()
	j := job{name: line, out: out.String(), err: errs.String(), failed: err, took: time.Since(begun)}
	t.Logf("%s: %v", line, j.took.Round(time.Millisecond))
	return j
}

func (j job) all() string { return fmt.Sprintf("%s: %v\n%s%s", j.name, j.failed, j.out, j.err) }

// secret is a variable with a new secret.
func secret() string {
	b := make([]byte, 32)
	rand.Read(b)
	return "GOLCI_SECRET=" + hex.EncodeToString(b)
}

// left lists the processes that have kv in their environment.
func left(t *testing.T, kv string) (pids []string) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range dirs {
		text, err := os.ReadFile(file)
		if err != nil { // it has ended, or is the kernel's
			continue
		}
		if strings.Contains("\x00"+string(text), "\x00"+kv+"\x00") {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

// readTime is what a victim has written.
func readTime(t *testing.T, file string) time.Time {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	when, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		t.Fatalf("no rank has come so far as to die: %v", &fs.PathError{Op: "read", Path: file, Err: err})
	}
	return when
}
