//go:build linux

package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/internal/test/nettest"
)

// shell is a remote shell for any machine: it runs the command here. It stays beside the command, as ssh does.
const shell = `sh -c 'shift; "$@" <&0' rsh`

// execShell becomes the command, as ip netns exec does.
const execShell = `sh -c 'shift; exec "$@"' rsh`

// onHosts are the arguments for a job on hosts, whose ranks play role.
func onHosts(hosts, role string, more ...string) []string {
	args := append([]string{"run", "-hosts", hosts, "-rsh", shell, "-env", roleVar + "=" + role}, more...)
	return append(args, os.Args[0])
}

func TestHostsJoin(t *testing.T) {
	for name, args := range map[string][]string{
		"shell":    onHosts("a:2,b:1", "join", "-prefix"),
		"exec":     onHosts("a:2,b:1", "join", "-prefix", "-rsh", execShell),
		"here":     onHosts("localhost:2,b:1", "join", "-prefix", "-rsh", execShell),
		"number":   onHosts("a:2,b:2,c:7", "join", "-prefix", "-n", "3"),
		"twice":    onHosts("a:1,b:1,a:1", "join", "-prefix"),
		"preload":  onHosts("a:2,b:1", "join", "-prefix", "-preload"),
		"loopback": onHosts("a:2,b:1", "join", "-prefix", "-listen", "127.0.0.1:0"),
	} {
		t.Run(name, func(t *testing.T) {
			cmd := golci(t, args...)
			tmp := t.TempDir()
			cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
			r := run(t, cmd)
			r.want(t, 0, "")
			want := []string{"[0] rank 0 of 3 local 2 launcher golci", "[1] rank 1 of 3 local 2 launcher golci", "[2] rank 2 of 3 local 1 launcher golci"}
			if got := sorted(r.out); !slices.Equal(got, want) || r.err != "" {
				t.Errorf("got %q\n%s", got, r.err)
			}
			wantEmpty(t, tmp)
		})
	}
}

// TestHostsFile: machines come from a file, and slots from the cores.
func TestHostsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte("# machines\na slots=2\n\nb:1 # small\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, golci(t, "run", "-hostfile", file, "-n", "4", "-rsh", shell, "-env", roleVar+"=join", os.Args[0]))
	r.want(t, 0, "")
	if got := sorted(r.out); len(got) != 4 || got[3] != "rank 3 of 4 local 1 launcher golci" {
		t.Errorf("got %q", got)
	}
}

// TestHostsEnds: a rank that fails is named with its machine, and nothing is left.
func TestHostsEnds(t *testing.T) {
	testEnds(t, "rank 1 on b", func(_ int, role string, more ...string) []string { return onHosts("a:1,b:2", role, more...) })
}

// TestHostsStreams: both output streams come out, and the input reaches rank 0.
func TestHostsStreams(t *testing.T) {
	r := run(t, golci(t, onHosts("a:1,b:1", "talk", "-prefix")...))
	r.want(t, 0, "[1] to err\n")
	if got, want := sorted(r.out), []string{"[0] half", "[0] one", "[0] two", "[1] half", "[1] one", "[1] two"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	long := strings.Repeat("0123456789abcde\n", 1<<16) // a MiB: many pieces
	cmd := golci(t, onHosts("a:1,b:1", "cat")...)
	cmd.Stdin = strings.NewReader(long)
	r = run(t, cmd)
	r.want(t, 0, "")
	if r.out != long {
		t.Errorf("%d bytes in, %d out\n%s", len(long), len(r.out), r.err)
	}
}

// TestHostsEnvironment: the ranks of other machines get the settings and what -env says.
func TestHostsEnvironment(t *testing.T) {
	cmd := golci(t, append(onHosts("a:1,b:1", "env", "-env", "A=b=c", "-env", "GOLCI_WORKERS=3"), "GOMAXPROCS", "A", "GOLCI_SPIN", "PMIX_RANK", "MPI_LOCALNRANKS")...)
	cmd.Env = append(cmd.Env, "PMIX_RANK=7", "GOMAXPROCS=", "GOLCI_SPIN=3us")
	r := run(t, cmd)
	r.want(t, 0, "")
	if want := []string{"4 b=c 3us  1", "4 b=c 3us  1"}; !slices.Equal(sorted(r.out), want) {
		t.Errorf("got %q", r.out)
	}
}

// TestHostsKeepInput: a job whose rank 0 reads nothing leaves the standard input to others: where rank 0 is on this
// machine, and with -stdin none anywhere.
func TestHostsKeepInput(t *testing.T) {
	for name, args := range map[string][]string{
		"here":      ranks(1, "join"),
		"localhost": onHosts("localhost:1,b:1", "join"),
		"none":      onHosts("a:1,b:1", "join", "-stdin", "none"),
	} {
		t.Run(name, func(t *testing.T) {
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if _, err := out.WriteString("a line\n"); err != nil {
				t.Fatal(err)
			}
			out.Close()
			cmd := golci(t, args...)
			cmd.Stdin = in
			run(t, cmd).want(t, 0, "")
			if rest, err := io.ReadAll(in); err != nil || string(rest) != "a line\n" {
				t.Errorf("%q is left, %v", rest, err)
			}
		})
	}
	cmd := golci(t, onHosts("localhost:1,b:1", "cat")...)
	cmd.Stdin = strings.NewReader("some\ninput\n")
	if r := run(t, cmd); r.code != 0 || r.out != "some\ninput\n" {
		t.Errorf("rank 0 on this machine: %+v", r)
	}
}

// TestHostsBytes: arguments and variables that are not UTF-8, and many of them, reach the ranks of any machine as they
// are.
func TestHostsBytes(t *testing.T) {
	text := "\xff\xfe x\xe9 " + strings.Repeat("0123456789\xe8", 11_000)
	for name, args := range map[string][]string{"hosts": onHosts("a:1", "env"), "here": ranks(1, "env")} {
		prog := args[len(args)-1]
		args := append(args[:len(args)-1], "-env", "A="+text, "-env", "C="+text, "-env", "D="+text, prog, "A", "B\xff", "D")
		r := run(t, golci(t, args...))
		r.want(t, 0, "")
		if want := text + "  " + text + "\n"; r.out != want {
			t.Errorf("%s: %d bytes, want %d: %.40q", name, len(r.out), len(want), r.out)
		}
	}
}

// TestHostsSignals: signals reach every rank of every machine.
func TestHostsSignals(t *testing.T) {
	cmd := golci(t, onHosts("a:1,b:1", "usr1", "-prefix")...)
	lines := startLines(t, cmd)
	wantLines(t, lines, "[0] ready", "[1] ready")
	for _, s := range []struct {
		sig  syscall.Signal
		text string
	}{{syscall.SIGUSR1, "user defined signal 1"}, {syscall.SIGTERM, "terminated"}} {
		if err := cmd.Process.Signal(s.sig); err != nil {
			t.Fatal(err)
		}
		wantLines(t, lines, "[0] "+s.text, "[1] "+s.text)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("both ranks ended in order, but: %v", err)
	}
}

// TestHostsCopy: a machine without golci gets a copy of it, and keeps nothing. The same holds for the program.
func TestHostsCopy(t *testing.T) {
	tmp := t.TempDir()
	self := filepath.Join(t.TempDir(), "golci")
	if out, err := exec.Command("cp", os.Args[0], self).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// The remote shell makes the head's own program unusable.
	hide := fmt.Sprintf(`sh -c 'shift; chmod 600 %s; exec "$@"' rsh`, self)
	cmd := golci(t, onHosts("a:1,b:1", "join", "-rsh", hide, "-preload", "-v")...)
	cmd.Path = self
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	r := run(t, cmd)
	r.want(t, 0, "a: copying golci there\n")
	if got := sorted(r.out); len(got) != 2 || got[1] != "rank 1 of 2 local 1 launcher golci" {
		t.Errorf("got %q\n%s", got, r.err)
	}
	wantEmpty(t, tmp)
}

// TestHostsPortCloses: when all machines have called back, nobody can call the head any more.
func TestHostsPortCloses(t *testing.T) {
	at := nettest.FreePort(t)
	r := run(t, golci(t, append(onHosts("a:1,b:1", "knock", "-listen", at), at)...))
	r.want(t, 0, "")
	if r.out != "refused: true\nrefused: true\n" {
		t.Errorf("got %q", r.out)
	}
}

// TestHostsStranger: a caller without a ticket gets no byte of a handshake from the head.
func TestHostsStranger(t *testing.T) {
	at := nettest.FreePort(t)
	cmd := golci(t, onHosts("a:1", "join", "-listen", at, "-rsh", "sh -c 'exec sleep 600' rsh")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	var c net.Conn
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		var err error
		if c, err = net.Dial("tcp", at); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	defer c.Close()
	err := tls.Client(c, &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true}).Handshake()
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the handshake: %v", err)
	}
}

// TestHostsPackage: a package is built here and copied.
func TestHostsPackage(t *testing.T) {
	tmp := t.TempDir()
	cmd := golci(t, "run", "-hosts", "a:1,b:1", "-rsh", shell, "./testdata/hello", "7")
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	r := run(t, cmd)
	r.want(t, 0, "")
	if got := sorted(r.out); len(got) != 2 || !strings.HasPrefix(got[1], "hello from 1 7") {
		t.Errorf("%q", r.out)
	}
	wantEmpty(t, tmp)
}

func TestHostsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		code int
		text string
	}{
		"shell ends":  {onHosts("a:1,b:1", "join", "-rsh", "sh -c 'exit 7'"), 126, "its remote shell has ended: exit status 7"},
		"no shell":    {onHosts("a:1", "join", "-rsh", "no-such-shell"), 126, `host a: exec: "no-such-shell"`},
		"no golci":    {onHosts("a:1", "join", "-golci", "/no such/golci"), 126, "host a: there is no program /no such/golci"},
		"not golci":   {onHosts("a:1", "join", "-golci", "/bin/true"), 126, "host a: its remote shell has ended"},
		"long line":   {onHosts("a:1", "join", "-rsh", `sh -c 'head -c 70000 /dev/zero; sleep 60'`), 126, "a line of more than 65536 bytes"},
		"escapes":     {onHosts("a:1", "join", "-rsh", `sh -c 'read x; printf "\033[2Jboo\n"; exit 7'`), 126, "?[2Jboo\n"},
		"silent":      {onHosts("a:1,b:1", "join", "-rsh", "sh -c 'sleep 60'", "-env", "GOLCI_INIT_TIMEOUT=300ms"), 126, "no answer within 300ms from a, b"},
		"not there":   {append(onHosts("a:1,b:1", "join")[:7], "/bin/does-not-exist"), 1, "does-not-exist"},
		"directory":   {onHosts("a:2", "join", "-wdir", "/no/dir"), 126, "host a: cannot start the ranks: rank 0: working directory /no/dir: no such file"},
		"slots":       {onHosts("a:1,b:1", "join", "-n", "3"), 2, "3 ranks, but the hosts have 2 slots"},
		"no slots":    {onHosts("a:0", "join"), 1, "want slots"},
		"no ranks":    {onHosts("a:2", "join", "-n", "0"), 2, "number of ranks"},
		"option":      {onHosts("a:1,-oProxyCommand=x:2", "join"), 1, "no name of a machine"},
		"quote":       {onHosts("a:2", "join", "-rsh", "ssh 'x"), 1, "a quote is not closed"},
		"both":        {onHosts("a:2", "join", "-hostfile", "x"), 1, "not both"},
		"no hostfile": {[]string{"run", "-hostfile", "/does-not-exist", os.Args[0]}, 1, "does-not-exist"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, golci(t, c.args...)).want(t, c.code, c.text)
		})
	}
}

// safeDir is a directory below which no other user can write.
func safeDir(t *testing.T) string {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skipf("skipped: no home directory: %v", err)
	}
	dir, err := os.MkdirTemp(home, "golci-test-")
	if err != nil {
		t.Skipf("skipped: the home directory cannot be written: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestHostsNoProgram: a machine that does not have the program is named.
func TestHostsNoProgram(t *testing.T) {
	prog := filepath.Join(safeDir(t), "prog")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\nsleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	lose := fmt.Sprintf(`sh -c 'rm -f %s; shift; exec "$@"' rsh`, prog)
	run(t, golci(t, "run", "-hosts", "a:2", "-rsh", lose, prog)).want(t, 126, "golci: host a: cannot start the ranks: rank 0: fork/exec "+prog)
}

// TestHostsExposed: a program below a directory that every user can write is copied. If only the other machine has such
// a directory on the path, the job is refused.
func TestHostsExposed(t *testing.T) {
	dir := safeDir(t)
	prog := filepath.Join(dir, "prog")
	if err := os.WriteFile(prog, []byte("#!/bin/sh\necho mine\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	// The other machine has another program there.
	swap := fmt.Sprintf(`sh -c 'echo "#!/bin/sh" >%[1]s; echo echo theirs >>%[1]s; chmod %%s %[2]s; shift; exec "$@"' rsh`, prog, dir)
	args := func(mode string) []string {
		return []string{"run", "-hosts", "a:1", "-rsh", fmt.Sprintf(swap, mode), prog}
	}
	run(t, golci(t, args("777")...)).want(t, 126, "every user can write "+dir+", so "+prog+" may be another program here: use -preload")
	if r := run(t, golci(t, args("700")...)); r.out != "theirs\n" {
		t.Errorf("the machine's own program did not run: %+v", r)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(prog, []byte("#!/bin/sh\necho mine\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	keep := `sh -c 'shift; exec "$@"' rsh`
	r := run(t, golci(t, "run", "-hosts", "a:1", "-v", "-rsh", keep, prog))
	r.want(t, 0, "every user can write "+dir)
	if r.out != "mine\n" {
		t.Errorf("%+v", r)
	}
}

// TestHelperKeepsOthersFiles: a helper that is given a directory of the user's removes nothing.
func TestHelperKeepsOthersFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "precious")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, golci(t, "helper", dir)).want(t, 1, "no directory for a copy of golci")
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// hostJob is a job on two machines that waits: its processes by kind.
type hostJob struct {
	cmd     *exec.Cmd
	stderr  strings.Builder
	shells  []string // the remote shells
	helpers []string
	all     []string // everything, ranks and their children, too
	tmp     string
}

// descend adds the descendants of pid to all.
func descend(pid string, all []string) []string {
	for _, c := range children(pid) {
		all = descend(c, append(all, c))
	}
	return all
}

// waiting starts a job of two ranks with children, on machines a and b.
func waiting(t *testing.T, more ...string) *hostJob {
	t.Helper()
	j := &hostJob{cmd: golci(t, onHosts("a:1,b:1", "family", more...)...), tmp: t.TempDir()}
	j.cmd.Env = append(j.cmd.Env, "TMPDIR="+j.tmp)
	j.cmd.Stderr = &j.stderr
	lines := startLines(t, j.cmd)
	ranks := append(strings.Fields(lines.next()), strings.Fields(lines.next())...)
	head := strconv.Itoa(j.cmd.Process.Pid)
	j.all = descend(head, nil)
	for _, pid := range ranks {
		if !slices.Contains(j.all, pid) {
			t.Fatalf("process %s is not among %v", pid, j.all)
		}
	}
	for _, pid := range children(head) {
		if below := descend(pid, nil); len(below) > 0 {
			j.shells = append(j.shells, pid)
		}
	}
	for _, pid := range j.all {
		if slices.ContainsFunc(ranks, func(r string) bool { return slices.Contains(children(pid), r) }) && !slices.Contains(ranks, pid) {
			j.helpers = append(j.helpers, pid)
		}
	}
	if len(j.shells) != 2 || len(j.helpers) != 2 || len(ranks) != 4 {
		t.Fatalf("shells %v, helpers %v, ranks %v of %v", j.shells, j.helpers, ranks, j.all)
	}
	return j
}

// wantNothing waits for the end of all.
func (j *hostJob) wantNothing(t *testing.T) {
	t.Helper()
	for _, pid := range j.all {
		wantGone(t, pid)
	}
	wantEmpty(t, j.tmp)
}

// TestHostsKill kills each process on the way to a machine. The job ends, names the lost machine, and leaves nothing.
func TestHostsKill(t *testing.T) {
	for name, c := range map[string]struct {
		more   []string
		victim func(j *hostJob) string
	}{
		"helper":       {nil, func(j *hostJob) string { return j.helpers[1] }},
		"shell":        {nil, func(j *hostJob) string { return j.shells[1] }},
		"exec":         {[]string{"-rsh", execShell}, func(j *hostJob) string { return j.helpers[1] }},
		"preload":      {[]string{"-preload"}, func(j *hostJob) string { return j.helpers[1] }},
		"shell, files": {[]string{"-preload"}, func(j *hostJob) string { return j.shells[1] }},
	} {
		t.Run(name, func(t *testing.T) {
			j := waiting(t, c.more...)
			if err := exec.Command("kill", "-KILL", c.victim(j)).Run(); err != nil {
				t.Fatal(err)
			}
			_ = j.cmd.Wait()
			if code := j.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(j.stderr.String(), "is lost with rank(s) ") {
				t.Errorf("code %d, %s", code, &j.stderr)
			}
			j.wantNothing(t)
		})
	}
}

// TestHostsKillHead: when the head gets SIGKILL, nothing is left on any machine.
func TestHostsKillHead(t *testing.T) {
	for _, more := range [][]string{nil, {"-rsh", execShell}, {"-preload"}} {
		t.Run(fmt.Sprint(more), func(t *testing.T) {
			j := waiting(t, more...)
			if err := j.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = j.cmd.Wait()
			j.wantNothing(t)
		})
	}
}

// TestHostsInterrupt: a signal that ends the job ends it on all machines.
func TestHostsInterrupt(t *testing.T) {
	j := waiting(t)
	if err := j.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = j.cmd.Wait()
	if code := j.cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("code %d: %s", code, &j.stderr)
	}
	j.wantNothing(t)
}

// TestHostsStop: Ctrl-Z stops the ranks and the head; SIGCONT continues them.
func TestHostsStop(t *testing.T) {
	j := waiting(t)
	head := strconv.Itoa(j.cmd.Process.Pid)
	var ranks []string
	for _, h := range j.helpers {
		for _, pid := range children(h) {
			if len(children(pid)) > 0 {
				ranks = append(ranks, pid)
			}
		}
	}
	for _, s := range []struct {
		sig     syscall.Signal
		stopped bool
	}{{syscall.SIGTSTP, true}, {syscall.SIGCONT, false}} {
		if err := j.cmd.Process.Signal(s.sig); err != nil {
			t.Fatal(err)
		}
		for _, pid := range append([]string{head}, ranks...) {
			if !eventually(func() bool { return (state(pid) == "T") == s.stopped }) {
				t.Errorf("after %v process %s is in state %s", s.sig, pid, state(pid))
			}
		}
	}
	if err := j.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = j.cmd.Wait()
	if code := j.cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("code %d", code)
	}
	j.wantNothing(t)
}
