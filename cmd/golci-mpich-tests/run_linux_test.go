package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/golci/golci/cmd/golci-mpich-tests/internal/suite"
)

// A fake of MPICH's tests: programs are shell scripts, make copies them whenever it is asked to, and the launcher starts them side by side.
const (
	fakeConfigure = `#!/bin/sh
echo "$@" > configured.with
for d in . pt2pt errors/coll; do
	{ printf 'again:\n%%: %%.c again\n'; printf '\tcp $< $@ && chmod +x $@ && echo $@ >> made\n'; } > $d/Makefile
done
`
	fakeLauncher = `#!/bin/sh
shift; n=$1; shift
code=0 pids=
for i in $(seq $n); do
	RANK=$i "$@" & pids="$pids $!"
done
trap 'kill $pids; exit 3' TERM
for p in $pids; do
	wait $p || code=$?
done
exit $code
`
	fakeList = `good 2
good 2 arg=-x env=A=b
wrong 2
dies 2
hangs 2 timeLimit=1
eats 2
eats 2 arg=-less mem=0.2
deaf 1 timeLimit=1
orphan 1
shuts 2 timeLimit=100 resultTest=TestErrFatal
noisy 1
skips 1
unbuildable 1
big 9
xf 2 xfail=ticket
`
)

// fakePrograms: the first process of a job says that there are no errors, the others are quiet.
var fakePrograms = map[string]string{
	"good":  `test "$1" = "-x" && test "$A" != b && exit 1; lead && echo " No Errors"; true`,
	"wrong": `lead && echo "Found 1 errors"; true`,
	"dies":  `lead && { echo " No Errors"; kill -9 $$; }; true`,
	"hangs": `lead && echo " No Errors"; exec sleep 1000`,
	"eats": `head -c 60000000 /dev/zero | tail -c 60000000 | { sleep 2; wc -c > /dev/null; }
lead && echo " No Errors"; true`,
	"deaf":   `trap '' TERM; setsid sh -c 'trap "" TERM; exec sleep 1000' & echo " No Errors"; exec sleep 1000`,
	"orphan": `setsid sleep 1000 & echo $! > orphan.pid; echo " No Errors"`,
	"shuts":  `test "$MPIEXEC_TIMEOUT" = 100 && exit 7`,
	"noisy":  `yes | head -c 3000000; echo " No Errors"`,
	"skips":  `echo "Test Skipped"`,
	"big":    `exit 1`,
	"xf":     `lead && echo " No Errors"; true`,
	"bad":    `lead && echo " No Errors"; true`,
}

// lead is true in the first process of a job.
const lead = `lead() { test "$RANK" = 1; }
`

func put(t *testing.T, dir, name, text string, mode os.FileMode) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// checkoutOf makes the fake suite.
func checkoutOf(t *testing.T) (src string) {
	t.Helper()
	src = t.TempDir()
	put(t, src, "test/mpi/configure", fakeConfigure, 0o777)
	put(t, src, "test/mpi/testlist.in", "pt2pt\n@errordir@\n@perfdir@\n", 0o666)
	put(t, src, "test/mpi/pt2pt/testlist", fakeList, 0o666)
	put(t, src, "test/mpi/errors/testlist", "coll\n", 0o666)
	put(t, src, "test/mpi/errors/coll/testlist", "bad 2\n", 0o666)
	put(t, src, "elsewhere/large", "is not copied", 0o666)
	for name, text := range fakePrograms {
		dir := "test/mpi/pt2pt"
		if name == "bad" {
			dir = "test/mpi/errors/coll"
		}
		put(t, src, filepath.Join(dir, name+".c"), "#!/bin/sh\n"+lead+text+"\n", 0o666)
	}
	put(t, src, "launch", fakeLauncher, 0o777)
	return src
}

// judge runs the command over the fake suite with a list of its own, and gives what it printed.
func judge(t *testing.T, src, scratch, list string, args ...string) (code int, out string) {
	t.Helper()
	name := filepath.Join(scratch, "list")
	put(t, scratch, "list", list, 0o666)
	var b, errs bytes.Buffer
	all := append([]string{
		"-tests", src, "-scratch", scratch, "-list", name, "-cc", "fakecc -x", "-launcher", filepath.Join(src, "launch"),
		"-memory", "90",
	}, args...)
	code = realMain(context.Background(), all, &b, &errs, 0)
	return code, b.String() + errs.String()
}

// expectations of the fake suite, as its programs behave.
const expectations = `errors/coll/bad 2  pass
pt2pt/big 9  todo env
pt2pt/deaf 1  todo env
pt2pt/dies 2  todo env
pt2pt/eats 2  todo env
pt2pt/eats 2 arg=-less  skip memory
pt2pt/good 2  pass
pt2pt/good 2 arg=-x env=A=b  pass
pt2pt/hangs 2  todo env
pt2pt/noisy 1  todo env
pt2pt/orphan 1  pass
pt2pt/shuts 2  pass
pt2pt/skips 1  pass
pt2pt/unbuildable 1  todo env
pt2pt/wrong 2  todo env
pt2pt/xf 2  skip xfail
`

// TestFakeSuite: each program meets its end, and all is as the list says.
func TestFakeSuite(t *testing.T) {
	src, scratch := checkoutOf(t), t.TempDir()
	code, out := judge(t, src, scratch, expectations, "-v", "-j", "2", "-maxnp", "8")
	if code != 0 {
		t.Errorf("code %d, want 0", code)
	}
	for key, want := range map[string]string{
		"pt2pt/deaf 1": "longer than 1s", "pt2pt/dies 2": "Killed", "pt2pt/eats 2": "more than 90 MiB",
		"pt2pt/hangs 2": "longer than 1s", "pt2pt/noisy 1": "does not say", "pt2pt/unbuildable 1": "cannot be built",
		"pt2pt/wrong 2": "does not say", "pt2pt/skips 1": "skips it",
	} {
		if !strings.Contains(row(out, key), want) {
			t.Errorf("%s: %q, want %q", key, row(out, key), want)
		}
	}
	for _, key := range []string{
		"pt2pt/good 2", "pt2pt/good 2 arg=-x env=A=b", "errors/coll/bad 2", "pt2pt/shuts 2", "pt2pt/orphan 1",
	} {
		if !strings.HasPrefix(row(out, key), "passed") {
			t.Errorf("%s: %q, want passed", key, row(out, key))
		}
	}
	for _, key := range []string{"pt2pt/big 9", "pt2pt/xf 2", "pt2pt/eats 2 arg=-less"} {
		if row(out, key) != "" {
			t.Errorf("%s was run", key)
		}
	}
	copied := copyOf(t, scratch)
	nobodyLeft(t, copied)
	if text := read(t, copied, "pt2pt/made"); strings.Count(text, "good") != 1 {
		t.Errorf("made %q: want each program once", text)
	}
	text := read(t, copied, "configured.with")
	if !strings.Contains(text, "CC=fakecc -x") || !strings.Contains(text, "--enable-strictmpi") {
		t.Errorf("configured with %s", text)
	}
	if _, err := os.Stat(filepath.Join(copied, "../../elsewhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("more than the tests was copied: %v", err)
	}
	if t.Failed() {
		t.Log(out)
	}
}

// row is the line of out about the test of that key.
func row(out, key string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, " "+key+" (") {
			return line
		}
	}
	return ""
}

func copyOf(t *testing.T, scratch string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(scratch, "*", "test", "mpi"))
	if err != nil || len(found) != 1 {
		t.Fatalf("copies %q, %v; want one", found, err)
	}
	return found[0]
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// nobodyLeft: a process that left its session and its parent ends with its job, too.
func nobodyLeft(t *testing.T, copied string) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, copied, "pt2pt/orphan.pid")))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok := stat(pid); ok {
		t.Errorf("process %d is still there", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestOtherLibrary: a copy whose programs are linked with another library than the compiler's is made anew.
func TestOtherLibrary(t *testing.T) {
	src, scratch, bin := checkoutOf(t), t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var builds []int
	for _, library := range []string{"first", "first", "second"} {
		put(t, bin, "fakecc", "#!/bin/sh\n[ \"$2\" = -show ] && echo cc -L"+library+"\n", 0o777)
		if code, out := judge(t, src, scratch, expectations, "-only", "pt2pt/good 2"); code != 0 {
			t.Fatalf("code %d\n%s", code, out)
		}
		builds = append(builds, strings.Count(read(t, copyOf(t, scratch), "pt2pt/made"), "good"))
	}
	if !slices.Equal(builds, []int{1, 2, 1}) {
		t.Errorf("times that a copy has built the program: %v, want 1 2 1", builds)
	}
}

// TestFindings: a line that fails, one that passes, one that the list lacks and one that the suite lacks make it red;
// -update takes all but the first.
func TestFindings(t *testing.T) {
	src, scratch := checkoutOf(t), t.TempDir()
	list := strings.NewReplacer(
		"pt2pt/good 2  pass", "pt2pt/good 2  todo env", "pt2pt/wrong 2  todo env", "pt2pt/wrong 2  pass",
		"pt2pt/xf 2  skip xfail", "pt2pt/zz 2  pass", "pt2pt/skips 1  pass\n", "").Replace(expectations)
	only := []string{"-only", "pt2pt/good", "-only", "pt2pt/wrong", "-only", "pt2pt/skips"}
	code, out := judge(t, src, scratch, list, only...)
	for _, want := range []string{
		"broken: pt2pt/wrong 2", "fixed: pt2pt/good 2", "missing: pt2pt/xf 2", "missing: pt2pt/skips 1", "gone: pt2pt/zz 2",
		"5 lines are not as",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if code != 1 || !strings.Contains(out, "    Found 1 errors") {
		t.Errorf("code %d, and the output of the broken program is not shown", code)
	}
	code, out = judge(t, src, scratch, list, append(only, "-update")...)
	if code != 1 || strings.Count(out, "not as") != 1 || !strings.Contains(out, "1 lines are not as") {
		t.Errorf("after -update: code %d\n%s", code, out)
	}
	text := read(t, scratch, "list")
	for _, want := range []string{"pass", "pt2pt/xf 2", "# commit unknown"} {
		if !strings.Contains(text, want) {
			t.Errorf("the list lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "pt2pt/zz") {
		t.Errorf("a line that is gone is still there:\n%s", text)
	}
	if code, out = judge(t, src, scratch, text, "-only", "pt2pt/good"); code != 0 {
		t.Errorf("with the new list: code %d\n%s", code, out)
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestMemoryWanted: a line that says how much memory it wants is run if there is so much, and may have it.
func TestMemoryWanted(t *testing.T) {
	src, scratch := checkoutOf(t), t.TempDir()
	code, out := judge(t, src, scratch, expectations, "-v", "-mem", "1", "-only", "pt2pt/eats 2 arg=-less")
	if code != 1 || !strings.Contains(out, "fixed: pt2pt/eats 2 arg=-less") {
		t.Errorf("code %d\n%s", code, out)
	}
}

// TestForeign: with another library only the results count.
func TestForeign(t *testing.T) {
	src, scratch := checkoutOf(t), t.TempDir()
	if code, out := judge(t, src, scratch, "", "-foreign", "-only", "pt2pt/good", "-only", "errors/..."); code != 0 {
		t.Errorf("code %d\n%s", code, out)
	}
	code, out := judge(t, src, scratch, "", "-foreign", "-only", "pt2pt/wrong")
	if code != 1 || row(out, "pt2pt/wrong 2") == "" {
		t.Errorf("code %d\n%s", code, out)
	}
}

// TestQuickDry: the chosen lines are printed and nothing is run.
func TestQuickDry(t *testing.T) {
	src, scratch := checkoutOf(t), t.TempDir()
	code, out := judge(t, src, scratch, expectations, "-dry", "-quick")
	unwanted := strings.Contains(out, "shuts") || strings.Contains(out, "big")
	if code != 0 || !strings.Contains(out, "pt2pt/good 2\n") || unwanted {
		t.Errorf("code %d\n%s", code, out)
	}
	if _, err := os.Stat(filepath.Join(copyOf(t, scratch), "pt2pt/good")); err == nil {
		t.Error("a program was built")
	}
}

// TestStops: a run that is interrupted ends its job and says so.
func TestStops(t *testing.T) {
	src, scratch := checkoutOf(t), t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	var b, errs bytes.Buffer
	done := make(chan int)
	go func() {
		done <- realMain(ctx, []string{
			"-tests", src, "-scratch", scratch, "-cc", "x", "-launcher", filepath.Join(src, "launch"), "-foreign",
			"-only", "pt2pt/hangs",
		}, &b, &errs, time.Hour)
	}()
	for !fileThere(scratch, "*/test/mpi/pt2pt/made") {
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	if code := <-done; code != 1 || !strings.Contains(errs.String(), "canceled") {
		t.Errorf("code %d\n%s%s", code, &b, &errs)
	}
}

func fileThere(dir, pattern string) bool {
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	return err == nil && len(found) > 0
}

// TestGitDirectory: what is needed comes out of a git directory; a changed work tree is copied anew.
func TestGitDirectory(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	src, scratch := checkoutOf(t), t.TempDir()
	put(t, src, "confdb/a.m4", "", 0o666)
	put(t, src, "maint/version.m4", "", 0o666)
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "all"},
	} {
		if out, err := exec.Command("git", append([]string{"-C", src}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	launcher := filepath.Join(src, "launch")
	bare := filepath.Join(src, ".git")
	code, out := judge(t, bare, scratch, "", "-foreign", "-launcher", launcher, "-only", "pt2pt/good")
	if code != 0 {
		t.Errorf("code %d\n%s", code, out)
	}
	if _, err := os.Stat(filepath.Join(copyOf(t, scratch), "../../confdb/a.m4")); err != nil {
		t.Error(err)
	}
	put(t, src, "test/mpi/pt2pt/good.c", "#!/bin/sh\nexit 1\n", 0o666)
	if code, out := judge(t, src, t.TempDir(), "", "-foreign", "-only", "pt2pt/good"); code != 1 {
		t.Errorf("code %d of a program that was changed\n%s", code, out)
	}
}

// TestUntar: an archive cannot write beside its folder.
func TestUntar(t *testing.T) {
	for _, name := range []string{"../x", "/x", "a/../../x"} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o666}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := untar(&b, t.TempDir()); err == nil {
			t.Errorf("%s was unpacked", name)
		}
	}
}

// TestUsage: what is wrong with the command line gives code 2; without a checkout there is nothing to do.
func TestUsage(t *testing.T) {
	t.Setenv("MPICH_TESTS", "")
	for _, args := range [][]string{
		{"-only", "["},
		{"-j", "0"},
		{"-maxnp", "0"},
		{"-time", "0"},
		{"-memory", "-1"},
		{"-nobody"},
		{"-cc", " "},
		{"-foreign", "-update"},
	} {
		var out, errs bytes.Buffer
		if code := realMain(context.Background(), args, &out, &errs, 0); code != 2 || errs.Len() == 0 {
			t.Errorf("%q: code %d, %s", args, code, &errs)
		}
	}
	var out, errs bytes.Buffer
	code := realMain(context.Background(), nil, &out, &errs, 0)
	if code != 0 || !strings.Contains(out.String(), "skipped") {
		t.Errorf("code %d, %s%s", code, &out, &errs)
	}
	if code := realMain(context.Background(), []string{"-tests", t.TempDir()}, &out, &errs, 0); code != 1 {
		t.Errorf("code %d of a folder without tests", code)
	}
	if code := realMain(context.Background(), []string{"-help"}, &out, &errs, 0); code != 0 {
		t.Errorf("code %d of -help", code)
	}
}

// TestArgv: the launcher's own arguments come first, then the line's, then the program with its own.
func TestArgv(t *testing.T) {
	s := &session{cli: &cli{Launcher: "run -timeout {time} -q"}}
	l := suite.Line{Program: "p", Procs: 3, Args: []string{"-a"}, LauncherArgs: []string{"-b"}}
	got := strings.Join(s.argv(&l, 90*time.Second), " ")
	if want := "run -timeout 90s -q -n 3 -b ./p -a"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
