//go:build linux

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// alive says whether the process runs: it is there and no zombie.
func alive(pid string) bool {
	return !strings.Contains("ZX", state(pid)) // state is "" when there is no such process
}

// state is the letter by which the kernel tells what a process does, or "".
func state(pid string) string {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	_, tail, _ := strings.Cut(string(stat), ") ")
	return tail[:min(1, len(tail))]
}

// children lists the direct children of a process.
func children(pid string) []string {
	var out []string
	files, _ := filepath.Glob("/proc/" + pid + "/task/*/children")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		out = append(out, strings.Fields(string(b))...)
	}
	return out
}

// lineReader gives the lines of a running command one by one.
type lineReader struct {
	t *testing.T
	r io.Reader
}

// next reads up to and without the line feed, byte by byte, so that nothing is lost between calls.
func (l lineReader) next() string {
	l.t.Helper()
	var line []byte
	b := make([]byte, 1)
	for {
		if _, err := io.ReadFull(l.r, b); err != nil {
			l.t.Fatalf("after %q: %v", line, err)
		}
		if b[0] == '\n' {
			return string(line)
		}
		line = append(line, b[0])
	}
}

// startLines starts cmd and returns a reader of its standard output.
func startLines(t *testing.T, cmd *exec.Cmd) lineReader { return startStream(t, cmd, &cmd.Stdout) }

// startStream starts cmd and returns a reader of one of its output streams.
func startStream(t *testing.T, cmd *exec.Cmd, stream *io.Writer) lineReader {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	*stream = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return lineReader{t, r}
}

// TestKillLauncher: when the launcher gets SIGKILL, its ranks, their children and the guard end, and nothing stays in
// the temporary directory.
func TestKillLauncher(t *testing.T) {
	for name, args := range map[string][]string{
		"ranks": ranks(2, "family"), "built": {"run", "-n", "2", "./testdata/hello", "wait"},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			cmd := golci(t, args...)
			cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
			lines := startLines(t, cmd)
			pids := append(lastWords(lines.next(), lines.next()), children(strconv.Itoa(cmd.Process.Pid))...)
			if len(pids) < 5 { // two ranks or their children, and as the launcher's children two ranks and the guard
				t.Fatalf("processes %v", pids)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			for _, pid := range pids {
				wantGone(t, pid)
			}
			wantEmpty(t, tmp)
		})
	}
}

// TestKillBoth: when the guard is killed as well, the kernel ends the ranks.
func TestKillBoth(t *testing.T) {
	cmd := golci(t, ranks(2, "wait")...)
	lines := startLines(t, cmd)
	pids := []string{lines.next(), lines.next()}
	for _, pid := range children(strconv.Itoa(cmd.Process.Pid)) {
		if pid == pids[0] || pid == pids[1] {
			continue
		}
		if err := exec.Command("kill", "-KILL", pid).Run(); err != nil {
			t.Fatal(err)
		}
		wantGone(t, pid)
		pids = append(pids, pid)
	}
	if len(pids) != 3 {
		t.Fatalf("two ranks and the guard, but %v", pids)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, pid := range pids {
		wantGone(t, pid)
	}
}

// TestKillRank: a rank that gets SIGKILL takes the job with it, children included.
func TestKillRank(t *testing.T) {
	cmd := golci(t, ranks(2, "family")...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	lines := startLines(t, cmd)
	pids := strings.Fields(lines.next() + " " + lines.next())
	if err := exec.Command("kill", "-KILL", pids[0]).Run(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 137 || !strings.Contains(stderr.String(), "was killed by signal 9 (SIGKILL)") {
		t.Errorf("code %d, %s", code, &stderr)
	}
	for _, pid := range pids {
		wantGone(t, pid)
	}
}

// TestForward: signals reach every rank, once each.
func TestForward(t *testing.T) {
	cmd := golci(t, ranks(2, "usr1", "-prefix")...)
	lines := startLines(t, cmd)
	wantLines(t, lines, "[0] ready", "[1] ready")
	for _, s := range []struct {
		sig  syscall.Signal
		text string
	}{{syscall.SIGUSR1, "user defined signal 1"}, {syscall.SIGUSR2, "user defined signal 2"}, {syscall.SIGTERM, "terminated"}} {
		if err := cmd.Process.Signal(s.sig); err != nil {
			t.Fatal(err)
		}
		wantLines(t, lines, "[0] "+s.text, "[1] "+s.text)
	}
	if rest, err := io.ReadAll(lines.r); len(rest) > 0 || err != nil {
		t.Errorf("more output: %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("both ranks ended in order, but: %v", err)
	}
}

// TestInterrupt: each signal that ends a job ends it, with its own exit code.
func TestInterrupt(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		cmd := golci(t, ranks(2, "family")...)
		lines := startLines(t, cmd)
		pids := strings.Fields(lines.next() + " " + lines.next())
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(sig) {
			t.Errorf("%v: code %d", sig, code)
		}
		for _, pid := range pids {
			wantGone(t, pid)
		}
	}
}

func wantLines(t *testing.T, r lineReader, want ...string) {
	t.Helper()
	got := map[string]bool{}
	for range want {
		got[r.next()] = true
	}
	for _, w := range want {
		if !got[w] {
			t.Errorf("no line %q in %v", w, got)
		}
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	var names []string
	if !eventually(func() bool {
		names, _ = filepath.Glob(filepath.Join(dir, "golci-*"))
		return len(names) == 0
	}) {
		t.Errorf("left behind: %v", names)
	}
}

// lastWords are the process numbers at the ends of what ranks print.
func lastWords(lines ...string) []string {
	var out []string
	for _, l := range lines {
		words := strings.Fields(l)
		out = append(out, words[len(words)-1])
	}
	return out
}

// TestRunPackage: a Go package is built, run with its arguments, and removed.
func TestRunPackage(t *testing.T) {
	for _, prog := range []string{"./testdata/hello", "testdata/hello", "./testdata/hello/main.go"} {
		tmp := t.TempDir()
		cmd := golci(t, "run", "-n=2", "-bind=none", prog, "-n", "7")
		cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
		r := run(t, cmd)
		r.want(t, 0, "")
		got := sorted(r.out)
		if len(got) != 2 || !strings.HasPrefix(got[0], "hello from 0 -n,7") || !strings.HasPrefix(got[1], "hello from 1 -n,7") {
			t.Errorf("%s: %q", prog, r.out)
		}
		wantEmpty(t, tmp)
	}
}

// TestStop: Ctrl-Z stops the ranks and the launcher, and the shell's SIGCONT continues them.
func TestStop(t *testing.T) {
	cmd := golci(t, ranks(2, "wait")...)
	lines := startLines(t, cmd)
	pids := []string{lines.next(), lines.next(), strconv.Itoa(cmd.Process.Pid)}
	for _, s := range []struct {
		sig     syscall.Signal
		stopped bool
	}{{syscall.SIGTSTP, true}, {syscall.SIGCONT, false}} {
		if err := cmd.Process.Signal(s.sig); err != nil {
			t.Fatal(err)
		}
		for _, pid := range pids {
			if !eventually(func() bool { return (state(pid) == "T") == s.stopped }) {
				t.Errorf("after %v process %s is in state %s", s.sig, pid, state(pid))
			}
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("code %d", code)
	}
}

// TestInterruptBuild: a signal ends a go build under way, and its directory is removed. SIGKILL to the launcher does
// the same. A script stands for a go command that takes long.
func TestInterruptBuild(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		tmp := t.TempDir()
		slow := []byte("#!/bin/sh\necho $$\nsleep 60 & echo $!\nwait\n")
		if err := os.WriteFile(filepath.Join(tmp, "go"), slow, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := golci(t, "run", "./testdata/hello")
		cmd.Env = append(cmd.Env, "TMPDIR="+tmp, "PATH="+tmp+":"+os.Getenv("PATH"))
		lines := startStream(t, cmd, &cmd.Stderr)
		pids := lastWords(lines.next(), lines.next())
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); sig == syscall.SIGTERM && code != 143 {
			t.Errorf("code %d", code)
		}
		for _, pid := range pids {
			wantGone(t, pid)
		}
		wantEmpty(t, tmp)
	}
}
