//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stayShell is a remote shell that stays beside what it runs in a namespace, as ssh does.
const stayShell = `sh -c 'ip netns exec "$@" <&0; exit $?' rsh`

// talk is a job of ranks that talk until that fails, and what it has that must be gone when it has ended.
type talk struct {
	w      *world
	cmd    *exec.Cmd
	stderr strings.Builder
	dir    string         // of the ranks' errors
	tmp    string         // TMPDIR of all
	ranks  map[int]string // process numbers
	all    []string       // of all processes
	memory map[string]bool
}

// startTalk starts four machines of two ranks that talk, and waits until they do.
func startTalk(t *testing.T, w *world, flags ...string) *talk {
	t.Helper()
	j := &talk{w: w, dir: t.TempDir(), tmp: t.TempDir(), ranks: map[int]string{}}
	args := append([]string{"run", "-hosts", w.slots(2), "-env", roleVar + "=talkers", "-env", dirVar + "=" + j.dir}, overNetns...)
	args = append(args, "-grace", "1m", "-env", "TMPDIR="+j.tmp, "-env", "GOLCI_DEADAFTER=5s")
	j.cmd = golci(t, append(append(args, flags...), os.Args[0])...)
	j.cmd.Env = append(j.cmd.Env, "TMPDIR="+j.tmp)
	j.cmd.Stderr = &j.stderr
	lines := startLines(t, j.cmd)
	for range 2 * len(w.hosts) {
		line := strings.Fields(lines.next())
		rank, err := strconv.Atoi(line[0])
		if err != nil {
			t.Fatal(err)
		}
		j.ranks[rank] = line[1]
	}
	j.all = descend(strconv.Itoa(j.cmd.Process.Pid), nil)
	j.memory = map[string]bool{}
	for _, pid := range j.all {
		for _, m := range memory(pid) {
			j.memory[m] = true
		}
	}
	if len(j.ranks) != 8 || len(j.memory) == 0 {
		t.Fatalf("ranks %v, memory %v", j.ranks, j.memory)
	}
	return j
}

// memory lists the inodes of the memfds that a process has mapped or open.
func memory(pid string) (inodes []string) {
	maps, _ := os.ReadFile("/proc/" + pid + "/maps")
	for line := range strings.Lines(string(maps)) {
		if f := strings.Fields(line); len(f) >= 6 && strings.HasPrefix(f[5], "/memfd:") {
			inodes = append(inodes, f[4])
		}
	}
	fds, _ := filepath.Glob("/proc/" + pid + "/fd/*")
	for _, fd := range fds {
		var st syscall.Stat_t
		if name, _ := os.Readlink(fd); strings.HasPrefix(name, "/memfd:") && syscall.Stat(fd, &st) == nil {
			inodes = append(inodes, strconv.FormatUint(st.Ino, 10))
		}
	}
	return inodes
}

// wantNothing waits until all is gone that the job had.
func (j *talk) wantNothing(t *testing.T) {
	t.Helper()
	for _, pid := range j.all {
		wantGone(t, pid)
	}
	j.w.wantDeserted()
	j.w.wantNoSockets()
	procs, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range procs {
		for _, m := range memory(filepath.Base(p)) {
			if j.memory[m] {
				t.Errorf("process %s still has memory %s of the job", filepath.Base(p), m)
			}
		}
	}
	if rest, _ := filepath.Glob(filepath.Join(j.tmp, "*")); len(rest) > 0 {
		t.Errorf("files are left: %v", rest)
	}
}

// rankNamed finds the ranks that an error is about. A first number after "rank" that "of" follows is the caller's own.
var rankNamed = regexp.MustCompile(`rank (\d+)( of)?`)

// wantErrors waits until each rank of who has an error that matches mpi.ErrPeer and names a rank of lost.
func (j *talk) wantErrors(t *testing.T, who, lost []int) {
	t.Helper()
	for _, rank := range who {
		var text string
		if !eventually(func() bool {
			b, err := os.ReadFile(filepath.Join(j.dir, strconv.Itoa(rank)))
			text = string(b)
			return err == nil
		}) {
			t.Errorf("rank %d has no error; it is in state %q: %s", rank, state(j.ranks[rank]), &j.stderr)
			continue
		}
		named := false
		for _, m := range rankNamed.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(m[1])
			named = named || m[2] == "" && slices.Contains(lost, n)
		}
		if !named || !strings.HasPrefix(text, "ErrPeer: ") {
			t.Errorf("rank %d does not name any of %v: %s", rank, lost, text)
		}
	}
}

// letEnd tells the ranks that all have their errors, so that they may end.
func letEnd(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, allKnow), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func kill(t *testing.T, pids ...string) {
	t.Helper()
	for _, pid := range pids {
		n, err := strconv.Atoi(pid)
		if err == nil {
			err = syscall.Kill(n, syscall.SIGKILL)
		}
		if err != nil {
			t.Fatalf("process %s: %v", pid, err)
		}
	}
}

// TestNetnsKillRanks kills the ranks of a machine. Each of the others gets an error that names one of them. The head
// says which rank it was, and on which machine. Nothing is left.
func TestNetnsKillRanks(t *testing.T) {
	w := newWorld(t, plan{hosts: 4})
	j := startTalk(t, w)
	began := time.Now()
	kill(t, j.ranks[4], j.ranks[5])
	j.wantErrors(t, []int{0, 1, 2, 3, 6, 7}, []int{4, 5})
	t.Logf("all ranks knew after %v", time.Since(began))
	letEnd(t, j.dir)
	_ = j.cmd.Wait()
	t.Logf("the job was over after %v", time.Since(began))
	said := regexp.MustCompile(fmt.Sprintf(`rank [45] on %s was killed by signal 9`, w.hosts[2]))
	if code := j.cmd.ProcessState.ExitCode(); code != 137 || !said.MatchString(j.stderr.String()) {
		t.Errorf("code %d: %s", code, &j.stderr)
	}
	j.wantNothing(t)
}

// TestNetnsKillHelper kills what the head has on a machine. The head names the machine and its ranks. The other ranks
// get errors that name one of these. Nothing is left.
func TestNetnsKillHelper(t *testing.T) {
	for name, c := range map[string]struct {
		flags  []string
		victim func(j *talk) string
	}{
		"helper": {nil, func(j *talk) string { return parent(j.ranks[4]) }},
		"shell":  {[]string{"-rsh", stayShell}, func(j *talk) string { return parent(parent(j.ranks[4])) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, plan{hosts: 4})
			j := startTalk(t, w, c.flags...)
			began := time.Now()
			kill(t, c.victim(j))
			j.wantErrors(t, []int{0, 1, 2, 3, 6, 7}, []int{4, 5})
			t.Logf("all ranks knew after %v", time.Since(began))
			letEnd(t, j.dir)
			_ = j.cmd.Wait()
			t.Logf("the job was over after %v", time.Since(began))
			if code := j.cmd.ProcessState.ExitCode(); code == 0 || !strings.Contains(j.stderr.String(), "host "+w.hosts[2]+" is lost with rank(s) 4-5: ") {
				t.Errorf("code %d: %s", code, &j.stderr)
			}
			j.wantNothing(t)
		})
	}
}

// parent is the number of a process's parent.
func parent(pid string) string {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	_, tail, _ := strings.Cut(string(stat), ") ")
	if f := strings.Fields(tail); len(f) > 1 {
		return f[1]
	}
	return ""
}

// TestNetnsLost cuts a machine off for longer than a rank may be silent. Every rank on either side gets an error that
// names one of the other side. The launcher is more patient, and ends the job when it is told to.
func TestNetnsLost(t *testing.T) {
	w := newWorld(t, plan{hosts: 4})
	j := startTalk(t, w, "-silence", "3m")
	began := time.Now()
	w.cut(2, 0)
	j.wantErrors(t, []int{0, 1, 2, 3, 6, 7}, []int{4, 5})
	j.wantErrors(t, []int{4, 5}, []int{0, 1, 2, 3, 6, 7})
	t.Logf("all ranks knew after %v", time.Since(began))
	letEnd(t, j.dir)
	w.heal(2, 0)
	if err := j.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = j.cmd.Wait()
	if code := j.cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("code %d: %s", code, &j.stderr)
	}
	j.wantNothing(t)
}

// TestNetnsLostForGood: a machine stays away. The head names it and its ranks, and nothing is left on either side.
func TestNetnsLostForGood(t *testing.T) {
	w := newWorld(t, plan{hosts: 4})
	j := startTalk(t, w, "-silence", "3s")
	w.unplug(2, 0)
	j.wantErrors(t, []int{0, 1, 2, 3, 6, 7}, []int{4, 5})
	letEnd(t, j.dir)
	_ = j.cmd.Wait()
	if code := j.cmd.ProcessState.ExitCode(); code == 0 || !strings.Contains(j.stderr.String(), "host "+w.hosts[2]+" is lost with rank(s) 4-5: ") {
		t.Errorf("code %d: %s", code, &j.stderr)
	}
	j.wantNothing(t)
}
