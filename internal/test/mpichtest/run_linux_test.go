package mpichtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A small MPICH. Its runtests builds a program by a note of the library that the compiler links.
var mpich = map[string]string{
	"confdb/x":           "",
	"maint/version.m4":   "",
	"test/mpi/configure": "#!/bin/sh\n",
	"test/mpi/testlist":  "pt2pt # folder\n\nerrors\n",
	"test/mpi/pt2pt/testlist": "good 2\ngood 2 arg=-x env=A=b\nwrong\nshy 1 mem=4\n" +
		"unbuilt 1\nlarge 5\nslow 2 timeLimit=90\n",
	"test/mpi/errors/testlist": "fatal 2 resultTest=TestErrFatal xfail=ticket\n",
	"test/mpi/runtests": `#!/bin/sh
while read -r name np words; do
	n=$((n + 1))
	[ -e $name ] || { $MPICC -show >>built && : >$name; }
	case $name in
	*/wrong) echo "not ok $n - ./$name $np # time=1" ;;
	*/shy) echo "ok $n - ./$name $np  # SKIP missing feature" ;;
	*/unbuilt) ;;
	*) echo "ok $n - ./$name $np # time=1" ;;
	esac
done <list.golci >results.tap
`,
}

// checkout makes a repository of the small MPICH, and sets the environment of the script. It gives the commit.
func checkout(t *testing.T) (commit string) {
	t.Helper()
	src, bin := t.TempDir(), t.TempDir()
	for name, text := range mpich {
		write(t, filepath.Join(src, name), text)
	}
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", src}, args...)...).CombinedOutput()
		if err != nil {
			t.Skipf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", ".")
	git("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "all")
	write(t, filepath.Join(bin, "fakecc"), "#!/bin/sh\necho cc -L$LINKED\n")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("MPICC", "fakecc")
	t.Setenv("LINKED", "first")
	t.Setenv("MPICH_TESTS", src)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return git("rev-parse", "HEAD")
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
}

// tests is the folder in which the script runs programs.
func tests() string { return filepath.Join(os.Getenv("XDG_CACHE_HOME"), "golci/mpich-tests/test/mpi") }

// run runs the script with these rows of what is expected.
func run(t *testing.T, rows string, args ...string) (out string, ok bool) {
	t.Helper()
	expected := filepath.Join(t.TempDir(), "expected")
	write(t, expected, rows)
	cmd := exec.Command("./run", args...)
	cmd.Env = append(os.Environ(), "MPICH_EXPECTED="+expected)
	text, err := cmd.CombinedOutput()
	return string(text), err == nil
}

// right is what is expected of the small MPICH, but for the row about its lines.
const right = "\nfail comm pt2pt/wrong 2 # remark\nskip memory pt2pt/unb*\n"

// TestVerdicts meets what is expected, and fails in each way not to.
func TestVerdicts(t *testing.T) {
	lines := "# all\nlines 8 " + checkout(t)
	for _, c := range []struct {
		rows, want string
		ok         bool
	}{
		{lines + right, "7 lines: 5 passed, 1 failed, 1 skipped by themselves, 0 not run; 0 not as expected", true},
		{"lines 9 of-another-commit" + right, "0 not as expected", true},
		{lines + strings.Replace(right, "fail comm", "pass it", 1), "failed: pt2pt/wrong 2\n", false},
		{lines + right + "fail comm pt2pt/good * env=A=*\n", "passed: pt2pt/good 2 arg=-x env=A=b\n", false},
		{lines + strings.Replace(right, "skip memory", "fail memory", 1), "not run: pt2pt/unbuilt 1\n", false},
		{lines + right + "skip abi attr/*\n", "gone: attr/*\n", false},
		{strings.Replace(lines, "8", "9", 1) + right, "MPICH has 8 lines, not 9 of ", false},
	} {
		if out, ok := run(t, c.rows); ok != c.ok || !strings.Contains(out, c.want) {
			t.Errorf("with %q: success is %v, want %v and %q:\n%s", c.rows, ok, c.ok, c.want, out)
		}
	}
	list := filepath.Join(tests(), "list.golci")
	want := "\nerrors/fatal 2 resultTest=TestErrFatal\n"
	if text, err := os.ReadFile(list); err != nil || !strings.Contains(string(text), want) {
		t.Errorf("runtests got %q, %v; want %q in it", text, err, want)
	}
}

// TestChoice looks at which lines the options and patterns choose.
func TestChoice(t *testing.T) {
	rows := "lines 8 " + checkout(t) + right
	for args, want := range map[string]string{
		"-quick":              "pt2pt/good 2, pt2pt/shy 1, errors/fatal 2",
		"pt2pt/s* errors/*":   "pt2pt/shy 1, pt2pt/slow 2, errors/fatal 2",
		"-skipped pt2pt/unb*": "pt2pt/unbuilt 1",
		"*=b":                 "pt2pt/good 2 arg=-x env=A=b",
	} {
		out, ok := run(t, rows, append([]string{"-n"}, strings.Fields(args)...)...)
		out = strings.TrimSpace(strings.TrimPrefix(out, "configure runs\n"))
		if got := strings.ReplaceAll(out, "\n", ", "); !ok || got != want {
			t.Errorf("%s chooses %q, want %q", args, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(tests(), "built")); err == nil {
		t.Error("a program was built")
	}
}

// TestOtherLibrary builds programs anew where the compiler links another library.
func TestOtherLibrary(t *testing.T) {
	rows := "lines 8 " + checkout(t) + right
	for _, c := range []struct{ linked, want string }{
		{"first", "cc -Lfirst\n"}, {"first", "cc -Lfirst\n"}, {"second", "cc -Lsecond\n"},
	} {
		t.Setenv("LINKED", c.linked)
		if out, ok := run(t, rows, "pt2pt/good 2"); !ok {
			t.Fatal(out)
		}
		if text, err := os.ReadFile(filepath.Join(tests(), "built")); err != nil || string(text) != c.want {
			t.Errorf("programs are built with %q, want %q; %v", text, c.want, err)
		}
	}
}
