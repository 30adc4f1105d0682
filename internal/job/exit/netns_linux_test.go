package exit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/job/boot/pmi"
	"github.com/golci/golci/internal/job/boot/serve"
)

// machines makes two network namespaces that stand for machines, with a cable between them. Each has an address that
// the other has, too, as machines with containers have.
func machines(t *testing.T) (names [2]string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces can only be made by root")
	}
	names = [2]string{fmt.Sprintf("golci-exit-%d-%d-a", os.Getpid(), made), fmt.Sprintf("golci-exit-%d-%d-b", os.Getpid(), made)}
	made++
	for _, name := range names {
		ip(t, "netns", "add", name)
		t.Cleanup(func() { // the cable goes with it
			if out, err := exec.Command("ip", "netns", "del", name).CombinedOutput(); err != nil {
				t.Errorf("ip netns del %s: %v: %s", name, err, out)
			}
		})
	}
	ip(t, "-n", names[0], "link", "add", "v", "type", "veth", "peer", "name", "v", "netns", names[1])
	for i, name := range names {
		ip(t, "-n", name, "link", "set", "lo", "up")
		ip(t, "-n", name, "addr", "add", "172.17.0.1/16", "dev", "lo")
		ip(t, "-n", name, "addr", "add", fmt.Sprintf("10.99.0.%d/24", i+1), "dev", "v")
		ip(t, "-n", name, "link", "set", "v", "up")
	}
	return names
}

// made counts the pairs of namespaces; the kernel takes its time to forget a name.
var made int

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Skipf("this machine has no network namespaces to use: ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// rankRole makes the test binary a rank.
const rankRole = "GOLCI_TEST_EXIT_RANK"

func init() {
	asRank = func() (int, bool) {
		if os.Getenv(rankRole) == "" {
			return 0, false
		}
		return rankMain(), true
	}
}

// limitOfRanks is the environment variable with the limit for the ranks of these tests; without it, the default one
// for two.
const limitOfRanks = "GOLCI_TEST_EXIT_LIMIT"

func exitLimit() time.Duration {
	if d, err := time.ParseDuration(os.Getenv(limitOfRanks)); err == nil {
		return d
	}
	return 5500 * time.Millisecond
}

// rankMain is a rank. It says when the plane is open; what comes on its input is the code to exit with. It ends as
// agreed.
func rankMain() int {
	j, err := boot.Join(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 70
	}
	d, err := newDriver(j, exitLimit())
	if err == nil {
		err = j.Fence(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 71
	}
	fmt.Println("ready")
	go func() {
		var code int
		if _, err := fmt.Scan(&code); err == nil {
			d.exit(code)
		}
	}()
	a := <-d.over
	if a.Kind == GiveUp {
		fmt.Printf("code %d of %d, by force\n", a.Verdict.Code, a.Verdict.Rank)
		return 72
	}
	d.sends.Wait()
	fmt.Printf("code %d of %d\n", a.Verdict.Code, a.Verdict.Rank)
	_ = j.Leave(int(a.Verdict.Code), "")
	return int(a.Verdict.Code)
}

// process is a rank in a namespace.
type process struct {
	cmd   *exec.Cmd
	input *os.File // the parent's end
	lines *bufio.Scanner
	said  bytes.Buffer // on standard error
}

// spread starts a job with as many ranks in each namespace, and waits until all are ready.
func spread(t *testing.T, names [2]string, each int) []*process {
	t.Helper()
	size := each * len(names)
	srv, err := serve.New(pmi.Config{Size: size, KVSName: "exit", Preset: map[string]string{
		pmi.KeySecret: hex.EncodeToString(boot.NewKey()), pmi.KeyMapping: pmi.FormatMapping([]int{each, each}),
	}}, serve.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	all := make([]*process, size)
	for rank := range all {
		all[rank] = startRank(t, srv, names[rank/each], rank, size)
	}
	for rank, p := range all {
		if got := p.line(); got != "ready" {
			t.Fatalf("rank %d: %q, %s", rank, got, &p.said)
		}
	}
	return all
}

func startRank(t *testing.T, srv *serve.Server, netns string, rank, size int) *process {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := os.NewFile(uintptr(fds[0]), "pmi"), os.NewFile(uintptr(fds[1]), "pmi")
	defer theirs.Close()
	c, err := net.FileConn(mine)
	mine.Close()
	if err != nil {
		t.Fatal(err)
	}
	srv.Attach(rank, c)
	p := &process{cmd: exec.Command("ip", "netns", "exec", netns, os.Args[0])}
	p.cmd.ExtraFiles = []*os.File{theirs} // descriptor 3
	p.cmd.Env = append(os.Environ(), rankRole+"=1", "PMI_FD=3", fmt.Sprint("PMI_RANK=", rank), fmt.Sprint("PMI_SIZE=", size),
		boot.EnvLauncher+"=exit")
	p.cmd.Stderr = &p.said
	in, input, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p.cmd.Stdin, p.input = in, input
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has ended, unless the test has failed
		_ = p.cmd.Wait()
		input.Close()
	})
	return p
}

// line is the next line that the rank prints, or "".
func (p *process) line() string {
	p.lines.Scan()
	return p.lines.Text()
}

// want wants the rank to end with code, which comes from rank from.
func (p *process) want(t *testing.T, rank, code, from int) {
	t.Helper()
	said := p.line()
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code || said != fmt.Sprintf("code %d of %d", code, from) {
		t.Errorf("rank %d: exit code %d, %q; want code %d of %d; %s", rank, got, said, code, from, &p.said)
	}
}

// TestNetnsExit: one rank calls, and the ranks of both machines end with its code.
func TestNetnsExit(t *testing.T) {
	names := machines(t)
	for _, caller := range []int{0, 3} {
		all := spread(t, names, 2)
		begin := time.Now()
		fmt.Fprintln(all[caller].input, 3)
		for rank, p := range all {
			p.want(t, rank, 3, caller)
		}
		t.Logf("rank %d: all have ended after %v", caller, time.Since(begin))
	}
}

// TestNetnsDead: a rank of the other machine is killed before; the others end all the same.
func TestNetnsDead(t *testing.T) {
	all := spread(t, machines(t), 2)
	_ = all[3].cmd.Process.Kill()
	_ = all[3].cmd.Wait()
	begin := time.Now()
	fmt.Fprintln(all[0].input, 0)
	for rank, p := range all[:3] {
		p.want(t, rank, 1, 3)
	}
	t.Logf("all have ended after %v", time.Since(begin))
}

// TestNetnsCut: when the other machine says nothing any more, those on this one take it for dead and end, with the
// code they know. The limit is far away, so that a busy machine does not reach it first.
func TestNetnsCut(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until a machine counts as gone")
	}
	t.Setenv(limitOfRanks, "10m")
	names := machines(t)
	all := spread(t, names, 2)
	ip(t, "-n", names[1], "link", "set", "v", "down")
	begin := time.Now()
	fmt.Fprintln(all[0].input, 3)
	for rank, p := range all[:2] {
		p.want(t, rank, 3, 0)
	}
	t.Logf("the ranks on this side have ended after %v", time.Since(begin))
}

// TestNetnsStopped: a rank of the other machine that is stopped is not taken for dead; the limit is for it.
func TestNetnsStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the limit")
	}
	all := spread(t, machines(t), 2)
	if err := all[3].cmd.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	fmt.Fprintln(all[0].input, 3)
	for rank, p := range all[:3] {
		if got := p.line(); got != "code 3 of 0, by force" {
			t.Errorf("rank %d: %q, %s", rank, got, &p.said)
		}
	}
	t.Logf("the others have given up after %v", time.Since(begin))
}

// farShell is a remote shell for mpiexec that reaches any machine by staying on this one.
const farShell = "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nshift\nexec sh -c \"$*\"\n"

// TestMpiexecNodes: the same under a launcher that is not ours, which takes this machine for two.
func TestMpiexecNodes(t *testing.T) {
	path, err := exec.LookPath("mpiexec.mpich")
	if err != nil {
		t.Skip("mpiexec.mpich is not installed")
	}
	shell := filepath.Join(t.TempDir(), "rsh")
	if err := os.WriteFile(shell, []byte(farShell), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "-launcher", "ssh", "-launcher-exec", shell, "-hosts", "h1:2,h2:2", "-n", "4", os.Args[0])
	cmd.Env = append(os.Environ(), rankRole+"=1")
	cmd.Stdin = strings.NewReader("3\n") // for rank 0
	out, err := cmd.CombinedOutput()
	if n := strings.Count(string(out), "code 3 of 0\n"); n != 4 || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("%v, %d ranks have agreed:\n%s", err, n, out)
	}
}
