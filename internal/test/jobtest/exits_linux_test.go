package jobtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/test/tuningtest"
)

// exits is the program that ends in many ways: this test binary, without the race detector, under which many ranks
// take minutes to start.
var exits = sync.OnceValues(func() (string, error) {
	if !invariants.Race {
		return os.Args[0], nil
	}
	if _, err := launcher(); err != nil { // makes the directory
		return "", err
	}
	path := filepath.Join(builtIn, "exits")
	if out, err := exec.Command("go", "test", "-c", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c: %w\n%s", err, out)
	}
	return path, nil
})

// ending is a way in which a job ends.
type ending struct {
	way     string
	code    int
	says    string         // on standard error, once
	signal  syscall.Signal // sent to the last rank, or to the launcher, when all ranks wait
	toAll   bool           // to the launcher
	variant bool           // so like another that it need not be tried with more than two ranks
	agreed  bool           // all ranks agree on the end, and the launcher hurries nobody
	few     bool           // one of the few that are tried with many ranks
	env     []string
}

// named is what golci run says of the rank that ends the job with a code.
func named(rank, code int) string {
	return fmt.Sprintf("golci: rank %d ended the job with code %d\n", rank, code)
}

// endings are the ways for n ranks, where the last one does what is special.
func endings(n int) []ending {
	last := n - 1
	killed := func(what string) string { return fmt.Sprintf("golci: rank %d was killed by signal %s\n", last, what) }
	exited := func(code int) string { return fmt.Sprintf("golci: rank %d exited with code %d\n", last, code) }
	return []ending{
		{way: "finalize", agreed: true},
		{way: "collective", few: true, code: 7, says: named(0, 7), agreed: true, env: patient},
		{way: "collective zero", agreed: true},
		{way: "several", code: 10 + last, says: named(last, 10+last), agreed: true, env: patient},
		{way: "range", variant: true, code: 5, says: named(0, 5), agreed: true, env: patient},
		{way: "negative", variant: true, code: 255, says: named(0, 255), agreed: true, env: patient},
		{way: "receive", few: true, code: 3, says: named(last, 3), agreed: true},
		{way: "receive zero", agreed: true},
		{way: "barrier", code: 4, says: named(last, 4), agreed: true},
		{way: "finalizing", code: 5, says: named(last, 5), agreed: true},
		{way: "compute", code: 6, says: named(last, 6), agreed: true},
		{way: "in handlers", code: 15, says: named(last, 15), agreed: true},
		{way: "from handler", code: 16, says: named(0, 16), agreed: true},
		{way: "from thread", code: 17, says: named(last, 17), agreed: true},
		{way: "large", code: 8, says: named(last, 8), agreed: true},
		{way: "abort", code: 11, says: fmt.Sprintf("golci: rank %d aborted the job with code 11: on purpose", last)},
		{way: "unfinished", code: 1, says: fmt.Sprintf("golci: rank %d exited with code 0, but without Finalize\n", last)},
		{way: "os.Exit", code: 9, says: exited(9)},
		{way: "finalize, then code", code: 12, says: exited(12)},
		{way: "panic", code: 2, says: "panic: on purpose"},
		{way: "goroutine panic", variant: true, code: 2, says: "panic: on purpose"},
		{way: "thread panic", code: 2, says: fmt.Sprintf("golci: rank %d aborted the job with code 2: panic in a thread: on purpose", last)},
		{way: "segv", code: 2, says: "SIGSEGV"},
		{way: "kill", few: true, code: 137, says: killed("9 (SIGKILL)")},
		{way: "death in exit", code: 137, says: killed("9 (SIGKILL)"), env: patient},
		{way: "deaf", code: 3, says: "ends the job with code 3 by force", env: deaf},
		{way: "wait", signal: syscall.SIGTERM, code: 143, says: killed("15 (SIGTERM)")},
		{way: "wait", signal: syscall.SIGINT, variant: true, code: 130, says: killed("2 (SIGINT)")},
		{way: "wait", signal: syscall.SIGHUP, code: 129, says: killed("1 (SIGHUP)")},
		{way: "wait", signal: syscall.SIGQUIT, code: 2, says: exited(2)},
		{way: "wait", few: true, signal: syscall.SIGTERM, toAll: true, code: 143, says: "golci: signal 15 (SIGTERM) passed on to all ranks\n"},
		{way: "wait", signal: syscall.SIGINT, toAll: true, variant: true, code: 130, says: "golci: signal 2 (SIGINT) passed on to all ranks\n"},
		{way: "wait", signal: syscall.SIGHUP, toAll: true, code: 129, says: "golci: signal 1 (SIGHUP) passed on to all ranks\n"},
		{way: "wait", signal: syscall.SIGQUIT, toAll: true, code: 2, says: " exited with code 2\n"},
	}
}

// patient has a rank that is told of the end wait for its own program, however slow the machine is. Each rank is about
// to call Exit, and of equal codes that of rank 0 counts.
var patient = []string{tuningtest.ExitSettle + "=1h"}

// deaf makes a rank that computes run nothing else, so that it never learns of the end.
var deaf = []string{"GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1", tuningtest.ExitSettle + "=1h", "GOLCI_EXITTIMEOUT=1s"}

func (e ending) name() string {
	switch {
	case e.toAll:
		return fmt.Sprint(e.signal, " to the launcher")
	case e.signal != 0:
		return fmt.Sprint(e.signal, " to a rank")
	}
	return e.way
}

// The ranks of the larger jobs. Some are enough for a tree of ranks with inner nodes. Many take long to start.
const (
	someRanks = 8
	manyRanks = 64
)

// TestExits: in whatever way a job ends, it does so with the right code, and leaves nothing behind.
func TestExits(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, someRanks, manyRanks} {
		if n > 2 && invariants.Race {
			continue // the program is the same one
		}
		for _, e := range endings(n) {
			if n > 2 && e.variant || n == someRanks && testing.Short() || n == manyRanks && !e.few {
				continue
			}
			t.Run(fmt.Sprintf("ranks=%d/%s", n, e.name()), func(t *testing.T) {
				t.Parallel() // much of a job's time is waiting
				path, err := exits()
				if err != nil {
					t.Fatal(err)
				}
				args := append([]string{"run", "-n", fmt.Sprint(n), path, exitWord}, strings.Fields(e.way)...)
				e.check(t, golci(t, args...), n)
			})
		}
	}
}

// check runs the job j of n ranks, which ends as e says.
func (e ending) check(t *testing.T, j *job, n int) {
	t.Helper()
	// A slow machine must not fail the test. What the job says shows that the limit was not needed.
	j.cmd.Env = append(append(j.cmd.Env, "GOLCI_EXITTIMEOUT=10m"), e.env...)
	if n == manyRanks { // matching tables for a quarter of a million threads are half of the work of 64 ranks
		j.cmd.Env = append(j.cmd.Env, "GOLCI_THREADS=1024")
	}
	input, err := j.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	j.start()
	j.await(n, "ready")
	x := observe(j.cmd.Process.Pid, j.tmp)
	if len(x.pids) < n+1 || len(x.memory) < segments(n) || len(x.sockets) < n {
		t.Fatalf("the job has %d processes, %d segments, %d sockets: not what must be looked for later", len(x.pids), len(x.memory), len(x.sockets))
	}
	begun := time.Now()
	e.begin(j, input, n)
	code := j.wait()
	t.Logf("code %d after %v", code, time.Since(begun).Round(time.Millisecond))
	if e.signal == syscall.SIGQUIT && code == 128+int(syscall.SIGSEGV) {
		// The Go runtime prints the stacks of all goroutines then, and itself crashes at that in rare cases: seen once.
		t.Logf("a rank's runtime crashed while it printed stacks\n%s", j.all())
		x.wantNothing(t)
		return
	}
	if code != e.code {
		t.Errorf("exit code %d, want %d\n%s", code, e.code, j.all())
	}
	e.wantSaid(t, j)
	x.wantNothing(t)
}

// begin sets the end off.
func (e ending) begin(j *job, input io.Closer, n int) {
	j.t.Helper()
	if err := input.Close(); err != nil {
		j.t.Fatal(err)
	}
	if e.signal == 0 {
		return
	}
	j.await(n, "waiting")
	pid := j.cmd.Process.Pid
	if !e.toAll {
		pid = j.pids(n)[n-1]
	}
	if err := syscall.Kill(pid, e.signal); err != nil {
		j.t.Fatal(err)
	}
}

// wantSaid looks at what the job said of its end.
func (e ending) wantSaid(t *testing.T, j *job) {
	t.Helper()
	text := j.err.String()
	if e.says != "" && !strings.Contains(text, e.says) {
		t.Errorf("not said: %q\n%s", e.says, text)
	}
	if !e.agreed {
		return
	}
	if want := strings.Count(e.says, "\n"); strings.Count(text, "\n") != want {
		t.Errorf("want %d lines\n%s", want, text)
	}
}

// wantNothing waits until nothing is left of a job that has ended.
func (x traces) wantNothing(t *testing.T) {
	t.Helper()
	left := x.left()
	for end := time.Now().Add(patience); len(left) > 0 && time.Now().Before(end); left = x.left() {
		time.Sleep(5 * time.Millisecond)
	}
	if len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestExitsElsewhere: without golci run, the ranks agree among themselves all the same.
func TestExitsElsewhere(t *testing.T) {
	t.Parallel()
	const n = 2
	agreed := endings(n)
	for _, l := range [][]string{
		{"mpiexec.mpich", "-n", "2"},
		{"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2"},
	} {
		path, err := exec.LookPath(l[0])
		if err != nil {
			t.Run(l[0], func(t *testing.T) { t.Skipf("%s is not installed", l[0]) })
			continue
		}
		for _, e := range agreed {
			if e.variant || !e.agreed && e.way != "abort" {
				continue // or the launcher's own affair
			}
			t.Run(l[0]+"/"+e.name(), func(t *testing.T) {
				t.Parallel() // mpirun takes its time after a code other than 0
				program, err := exits()
				if err != nil {
					t.Fatal(err)
				}
				args := append(append(l[1:len(l):len(l)], program, exitWord), strings.Fields(e.way)...)
				e.agreed = false      // the launcher has more to say
				if e.way == "abort" { // and may not wait for the last words of the rank, when others have ended first
					e.says = fmt.Sprintf("golci: rank %d of %d: the job is aborted: ", n-1, n)
				}
				e.check(t, command(t, path, args...), n)
			})
		}
	}
}

// slowly reads what a job prints with pauses, so that the pipes between are full when its ranks end.
func slowly(r io.Reader, all *strings.Builder, done chan<- error) {
	buf := make([]byte, 4<<10)
	for {
		n, err := r.Read(buf)
		all.Write(buf[:n])
		if err != nil {
			done <- err
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// TestExitOutput: all that ranks have written when they end comes out, also to a slow reader.
func TestExitOutput(t *testing.T) {
	t.Parallel()
	const n, lines = 8, 300
	program, err := exits()
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-prefix"}, nil} {
		j := golci(t, append(append([]string{"run", "-n", fmt.Sprint(n)}, flags...), program, exitWord, "output")...)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		j.cmd.Stdout, j.cmd.Env = w, append(j.cmd.Env, patient...)
		var out strings.Builder
		done := make(chan error, 1)
		j.start()
		_ = w.Close() // the job's own is open
		go slowly(r, &out, done)
		if code := j.wait(); code != 0 {
			t.Errorf("exit code %d\n%s", code, j.all())
		}
		if err := <-done; err != io.EOF { //nolint:errorlint // as io.Reader returns it
			t.Error(err)
		}
		_ = r.Close()
		for rank := range n {
			for _, i := range []int{0, lines / 2, lines - 1} {
				if line := fmt.Sprintf("line %d of rank %d\n", i, rank); strings.Count(out.String(), line) != 1 {
					t.Errorf("%v: not once %q", flags, line)
				}
			}
		}
		if got := strings.Count(out.String(), "line "); got != n*lines {
			t.Errorf("%v: %d lines, want %d", flags, got, n*lines)
		}
	}
}
