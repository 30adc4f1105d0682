//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/observe/settings"
)

// roleVar makes the test binary golci itself, or one of the ranks of rank_test.go.
const roleVar = "GOLCI_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVar); role {
	case "":
		goleak.VerifyTestMain(m)
	case "golci":
		os.Exit(realMain(os.Args[1:]))
	default:
		os.Exit(rankMain(role))
	}
}

// patience bounds every wait of a test. It does not tell how long things should take.
const patience = 2 * time.Minute

// golci makes the command golci with args.
func golci(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if len(args) > 0 && args[0] == "run" { // a scheduler may have started the test
		args = slices.Insert(slices.Clone(args), 1, "-allocation", "none")
	}
	return golciHere(t, args...)
}

// golciHere is golci that looks for machines which a scheduler has given.
func golciHere(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVar+"=golci", "GORACE=atexit_sleep_ms=0")
	cmd.WaitDelay = time.Second
	return cmd
}

// ranks are the arguments for a job of n ranks that play role.
func ranks(n int, role string, more ...string) []string {
	args := append([]string{"run", "-n", strconv.Itoa(n), "-env", roleVar + "=" + role}, more...)
	return append(args, os.Args[0])
}

// result is what a command leaves.
type result struct {
	out, err string
	code     int
}

func run(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	e := cmd.Run()
	var exit *exec.ExitError
	if e != nil && !errors.As(e, &exit) {
		t.Fatalf("%v: %v\n%s%s", cmd.Args, e, &out, &err)
	}
	return result{out.String(), err.String(), cmd.ProcessState.ExitCode()}
}

// want checks the exit code and that standard error holds text.
func (r result) want(t *testing.T, code int, text string) {
	t.Helper()
	if r.code != code || !strings.Contains(r.err, text) {
		t.Errorf("code %d, want %d with %q on standard error; out:\n%s\nerr:\n%s", r.code, code, text, r.out, r.err)
	}
}

func sorted(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	slices.Sort(lines)
	return lines
}

func TestRunJoin(t *testing.T) {
	r := run(t, golci(t, ranks(3, "join", "-prefix")...))
	r.want(t, 0, "")
	want := []string{"[0] rank 0 of 3 local 3 launcher golci", "[1] rank 1 of 3 local 3 launcher golci", "[2] rank 2 of 3 local 3 launcher golci"}
	if got := sorted(r.out); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestRunEnds(t *testing.T) { testEnds(t, "rank 1", ranks) }

// testEnds runs jobs of three ranks, whose arguments job makes, that end in each of the ways there are. one is what
// rank 1 is called.
func testEnds(t *testing.T, one string, job func(n int, role string, more ...string) []string) {
	t.Helper()
	for _, c := range []struct {
		role string
		code int
		text string
	}{
		{"exit", 5, one + " exited with code 5\n"},
		{"die", 137, one + " was killed by signal 9 (SIGKILL)\n"},
		{"abort", 9, one + " aborted the job with code 9: enough is enough\n"},
		{"unfinished", 1, one + " exited with code 0, but without Finalize\n"},
		{"absent", 1, one + " has gone, while other ranks wait for it\n"},
		{"late", 3, "rank(s) 1 of 3 did not come: context deadline exceeded\n"},
		{"stubborn", 5, one + " exited with code 5\n"},
	} {
		t.Run(c.role, func(t *testing.T) {
			t.Parallel()
			limit := "GOLCI_INIT_TIMEOUT=1m" // a busy machine takes its time to start three processes
			if c.role == "late" {
				limit = "GOLCI_INIT_TIMEOUT=5s" // time enough for the two that come
			}
			r := run(t, golci(t, job(3, c.role, "-grace", "200ms", "-env", limit)...))
			r.want(t, c.code, "golci: "+c.text)
			for _, pid := range strings.Fields(r.out) {
				wantGone(t, pid)
			}
		})
	}
}

func TestRunOutput(t *testing.T) {
	r := run(t, golci(t, ranks(2, "talk", "-prefix")...))
	r.want(t, 0, "[1] to err\n")
	if got, want := sorted(r.out), []string{"[0] half", "[0] one", "[0] two", "[1] half", "[1] one", "[1] two"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestRunInput(t *testing.T) {
	cmd := golci(t, ranks(2, "cat", "-prefix")...)
	cmd.Stdin = strings.NewReader("some\ninput\n")
	r := run(t, cmd)
	r.want(t, 0, "")
	if r.out != "[0] some\n[0] input\n" {
		t.Errorf("got %q", r.out)
	}
}

func TestRunEnvironment(t *testing.T) {
	cmd := golci(t, append(ranks(2, "env", "-prefix", "-bind", "none", "-env", "A=b=c", "-env", "GOLCI_WORKERS=3"), "GOMAXPROCS", "A", "PMIX_RANK")...)
	cmd.Env = append(cmd.Env, "PMIX_RANK=7", "GOMAXPROCS=")
	r := run(t, cmd)
	r.want(t, 0, "")
	if want := []string{"[0] 4 b=c ", "[1] 4 b=c "}; !slices.Equal(sorted(r.out), want) {
		t.Errorf("got %q", r.out)
	}
	cmd = golci(t, append(ranks(1, "env", "-env", "GOMAXPROCS=7"), "GOMAXPROCS")...)
	if r := run(t, cmd); r.out != "7\n" {
		t.Errorf("GOMAXPROCS of the user: %q", r.out)
	}
}

// TestHelp: help and the version are there in each way that people try.
func TestHelp(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		text string
	}{
		{"", 2, "Start a job of several ranks"},
		{"help", 0, "Start a job of several ranks"},
		{"-h", 0, "Start a job of several ranks"},
		{"help run", 0, "1 to 4096"},
		{"run -help", 0, "1 to 4096"},
		{"help bench", 0, "ping-pong"},
		{"version", 0, "golci "},
		{"-version", 0, "golci "},
		{"--version", 0, "golci "},
	} {
		r := run(t, golci(t, strings.Fields(c.args)...))
		if r.code != c.code || !strings.Contains(r.out+r.err, c.text) || strings.Contains(r.out+r.err, "relay") {
			t.Errorf("golci %s: code %d, want %q\n%s%s", c.args, r.code, c.text, r.out, r.err)
		}
	}
	for text, args := range map[string][]string{
		"-n 0: the number of ranks must be from 1 to 4096":    {"run", "-n", "0", os.Args[0]},
		"-n -1: the number of ranks must be from 1 to 4096":   {"run", "-n", "-1", os.Args[0]},
		"-n 5000: the number of ranks must be from 1 to":      {"run", "-np", "5000", os.Args[0]},
		"unexpected argument extra":                           {"help", "run", "extra"},
		"no command rnu; did you mean run?":                   {"rnu", "-n", "2", os.Args[0]},
		"it is not package main, so it is no program":         {"run", "./internal/launch"},
		"-n 0: want at least 1 rank":                          {"bench", "latency", "-n", "0"},
		"unknown flag -x before the program":                  {"run", "-x", os.Args[0]},
		"-race: flags for go build":                           {"run", "-race", os.Args[0]},
		"-env NO_SUCH_VARIABLE: the variable is not set here": {"run", "-env", "NO_SUCH_VARIABLE", os.Args[0]},
	} {
		if r := run(t, golci(t, args...)); r.code == 0 || !strings.Contains(r.err, text) {
			t.Errorf("%q: code %d, %s", args, r.code, r.err)
		}
	}
}

// TestRunMisspelt: a name that is almost a setting's is reported by the launcher alone.
func TestRunMisspelt(t *testing.T) {
	cmd := golci(t, ranks(2, "join", "-env", "GOLCI_SPNI=1us")...)
	cmd.Env = append(cmd.Env, "GOLCI_WORKRS=1", "GOLCI_OTHER_TOOL=1")
	r := run(t, cmd)
	r.want(t, 0, "")
	lines := sorted(r.err)
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "did you mean GOLCI_SPIN?") || !strings.HasSuffix(lines[1], "did you mean GOLCI_WORKERS?") {
		t.Errorf("%q", r.err)
	}
}

func TestRunTimeout(t *testing.T) {
	r := run(t, golci(t, ranks(2, "wait", "-timeout", "500ms", "-prefix")...))
	r.want(t, 124, "golci: the job's time of 500ms is over; asking every rank for a dump\n")
	for _, text := range []string{"[0] SIGQUIT: quit", "[1] SIGQUIT: quit"} {
		if !strings.Contains(r.err, text) {
			t.Errorf("no %q in\n%s", text, r.err)
		}
	}
}

func TestRunBadArguments(t *testing.T) {
	for name, args := range map[string][]string{
		"nothing":      {"run"},
		"ranks":        {"run", "-n", "0", os.Args[0]},
		"fewer ranks":  {"run", "-n", "-1", os.Args[0]},
		"build flags":  {"run", "-race", os.Args[0]},
		"helpless":     {"help", "walk"},
		"many":         {"run", "-n", "5000", os.Args[0]},
		"no number":    {"run", "-n", "two", os.Args[0]},
		"bind":         {"run", "-bind", "socket", os.Args[0]},
		"env":          {"run", "-env", "novalue", os.Args[0]},
		"flag":         {"run", "-what", os.Args[0]},
		"no program":   {"run", "./does-not-exist"},
		"no command":   {"run", "does-not-exist-either"},
		"no package":   {"run", "./testdata"},
		"not a job":    {"walk"},
		"not runnable": {"run", "main_test.txt"},
	} {
		r := run(t, golci(t, args...))
		if r.code == 0 || !strings.Contains(r.err, "golci: ") {
			t.Errorf("%s: code %d\n%s%s", name, r.code, r.out, r.err)
		}
	}
}

func TestInfo(t *testing.T) {
	cmd := golci(t, "info")
	cmd.Env = append(cmd.Env, "GOLCI_SPIN=3us", "GOLCI_SPNI=4us")
	r := run(t, cmd)
	r.want(t, 0, "")
	for _, text := range []string{
		"processor", "reductions", "cache line", "layouts assume 64", "CPUs usable",
		"conduit local", "conduit udp", "GOLCI_INIT_TIMEOUT", "3us *", "launcher",
		"GOLCI_SPNI is set, but no setting is called so",
	} {
		if !strings.Contains(r.out, text) {
			t.Errorf("no %q in\n%s", text, r.out)
		}
	}
	if strings.Contains(r.out, "GOLCI_AMRECV_SPACE") || !strings.Contains(r.out, "more: golci info -all") || !strings.Contains(r.out, "conduit udp") {
		t.Errorf("settings that few people need, or no conduit for networks:\n%s", r.out)
	}
	if want := "16 KiB in a job of 2 ranks, 4968 bytes in a job of 4096 ranks; chosen: GOLCI_EAGER is 0, GOLCI_FLOWCONTROL is auto\n"; !strings.Contains(r.out, want) {
		t.Errorf("no %q in\n%s", want, r.out)
	}
	set := golci(t, "info")
	set.Env = append(set.Env, "GOLCI_EAGER=1MiB")
	if r := run(t, set); !strings.Contains(r.out, "130920 bytes in a job of 2 ranks,") || !strings.Contains(r.out, "; GOLCI_EAGER is 1 MiB, within what one record holds\n") {
		t.Errorf("GOLCI_EAGER=1MiB:\n%s", r.out)
	}
	if r := run(t, golci(t, "info", "-all")); !strings.Contains(r.out, "GOLCI_AMRECV_SPACE") || strings.Contains(r.out, "more:") {
		t.Errorf("-all:\n%s", r.out)
	}
	cmd = golci(t, "info", "-json")
	cmd.Env = append(cmd.Env, "GOLCI_SPIN=3us", "GOLCI_SPNI=4us")
	var j machineReport
	if err := json.Unmarshal([]byte(run(t, cmd).out), &j); err != nil {
		t.Fatal(err)
	}
	udp := slices.IndexFunc(j.Conduits, func(c carrier) bool { return c.Name == "udp" && c.Usable })
	spin := slices.IndexFunc(j.Settings,
		func(s settings.Info) bool { return s.Env == "GOLCI_SPIN" && s.Value == "3us" && s.Set })
	if want := (eagerReport{16 << 10, 2, "chosen: GOLCI_EAGER is 0, GOLCI_FLOWCONTROL is auto"}); j.Eager != want {
		t.Errorf("-json: eager limit %+v, want %+v", j.Eager, want)
	}
	if kind := j.Threads.Kind; kind != "fult" && kind != "goroutine" {
		t.Errorf("-json: threads are %+v", j.Threads)
	}
	if udp < 0 || spin < 0 || len(j.CPUs) == 0 || j.Launcher != "single" || !slices.ContainsFunc(j.Unknown, func(s string) bool { return strings.HasPrefix(s, "GOLCI_SPNI ") }) {
		t.Errorf("-json: %+v", j)
	}
	bad := golci(t, "info")
	bad.Env = append(bad.Env, "GOLCI_SPIN=long", "GOLCI_LOAN=-1")
	r = run(t, bad)
	r.want(t, 1, `GOLCI_SPIN="long": want a time`)
	r.want(t, 1, `GOLCI_LOAN="-1": want a whole number`)
}

// wantGone waits until the process has ended; a zombie that its new parent does not reap counts as ended.
func wantGone(t *testing.T, pid string) {
	t.Helper()
	if !eventually(func() bool { return !alive(pid) }) {
		t.Errorf("process %s is still there", pid)
	}
}

func eventually(f func() bool) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			return true
		}
	}
	return false
}
