//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/golci/golci/mpi"
)

func init() {
	mpiRoles["part"] = func(c *mpi.Comm) error {
		app, err := c.Proc().AppNum()
		if err != nil {
			return err
		}
		fmt.Printf("%d of %d, program %d: A=%s %s\n", c.Rank(), c.Size(), app, os.Getenv("A"), strings.Join(os.Args[1:], ","))
		return c.Barrier()
	}
}

// asPart are the words of a further program of a job, of n ranks that play role.
func asPart(n, role string, more ...string) []string {
	return append([]string{":", "-n", n, "-env", roleVar + "=" + role}, more...)
}

// TestParts: the ranks of several programs are numbered through, and each program has its arguments and variables.
func TestParts(t *testing.T) {
	self := os.Args[0]
	tail := slices.Concat([]string{"x", "-n"}, asPart("2", "part", "-env", "A=2", self, "y"),
		asPart("1", "part", "--", self, ":"))
	for name, args := range map[string][]string{
		"here":    ranks(1, "part", "-env", "A=1"),
		"room":    ranks(1, "part", "-env", "A=1", "-universe", "5"),
		"udp":     ranks(1, "part", "-env", "A=1"),
		"hosts":   onHosts("a:2,localhost:1,b:1", "part", "-n", "1", "-env", "A=1"),
		"preload": onHosts("a:2,b:2", "part", "-n", "1", "-env", "A=1", "-preload"),
	} {
		t.Run(name, func(t *testing.T) {
			cmd := golci(t, append(args, tail...)...)
			tmp := t.TempDir()
			cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
			if name == "udp" {
				cmd.Env = append(cmd.Env, "GOLCI_CONDUIT=udp")
			}
			r := run(t, cmd)
			r.want(t, 0, "")
			want := []string{
				"0 of 4, program 0: A=1 x,-n", "1 of 4, program 1: A=2 y", "2 of 4, program 1: A=2 y", "3 of 4, program 2: A= :",
			}
			if got := sorted(r.out); !slices.Equal(got, want) {
				t.Errorf("got %q\n%s", got, r.err)
			}
			wantEmpty(t, tmp)
		})
	}
}

// TestPartsBuilt: each Go package is built once, also if another one has its name, and other programs stay what they
// are.
func TestPartsBuilt(t *testing.T) {
	cmd := golci(t, "run", "-v", "-hosts", "a:3,b:1", "-rsh", execShell, "-n", "1", "./testdata/hello", "1", ":",
		"-n", "1", "testdata/hello/../hello", "2", ":", "-n", "1", "./testdata/hello", "3", ":",
		"-n", "1", "/bin/sh", "-c", "echo $0")
	tmp := t.TempDir()
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	r := run(t, cmd)
	r.want(t, 0, "")
	got := sorted(r.out)
	ok := len(got) == 4 && got[0] == "/bin/sh"
	for i := range min(3, len(got)-1) {
		ok = ok && strings.HasPrefix(got[i+1], fmt.Sprintf("hello from %d %d ", i, i+1))
	}
	if builds := strings.Count(r.err, "golci: go build "); !ok || builds != 2 {
		t.Errorf("%d packages are built; %q\n%s", builds, r.out, r.err)
	}
	wantEmpty(t, tmp)
}

// TestPartsEnd: a rank of any program that fails is named, and its code is that of the job.
func TestPartsEnd(t *testing.T) {
	args := append(ranks(1, "family"), append(asPart("1", "wait", os.Args[0]), ":", "-n", "1", "sh", "-c", "exit 7")...)
	r := run(t, golci(t, args...))
	r.want(t, 7, "golci: rank 2 exited with code 7\n")
	for _, pid := range strings.Fields(r.out) {
		wantGone(t, pid)
	}
}

// TestPartsWrong: errors name the part and the flag.
func TestPartsWrong(t *testing.T) {
	for text, args := range map[string]string{
		"part 2 of the job: no program given":                                           "-n 1 true :",
		"part 1 of the job: no program given":                                           "-n 1 : -n 1 true",
		"part 3 of the job: no program given":                                           "-n 1 true : -n 1 true : -n 2 :",
		"part 1 of the job: true needs its number of ranks: -n before it":               "true : -n 1 true",
		"part 2 of the job: false needs its number of ranks: -n before it":              "-n 1 true : false",
		"part 2 of the job: -n 0: the number of ranks must be from 1 to 4096":           "-n 1 true : -n 0 true",
		"part 1 of the job: -n -1: the number of ranks must be from 1 to 4096":          "-n -1 true : -n 1 true",
		"golci: -n 4097: the number of ranks must be from 1 to 4096":                    "-n 4000 true : -n 97 true",
		"-timeout is for the whole job: it belongs before the first program, not in p":  "-n 1 true : -timeout 5s -n 1 true",
		"--hosts=a is for the whole job: it belongs before the first program, not in p": "-n 1 true : --hosts=a -n 1 true",
		"-v is for the whole job":                                                       "-n 1 true : -n 1 -v true",
		"part 2 of the job: unknown flag -bogus before the program":                     "-n 1 true : -bogus true",
		"part 2 of the job: --ranks: expected":                                          "-n 1 true : -n two true",
		"-env NO_SUCH_VARIABLE: the variable is not set here":                           "-n 1 true : -n 1 -env NO_SUCH_VARIABLE true",
		"no-such-program":                     "-n 1 true : -n 1 no-such-program",
		"3 ranks, but the hosts have 2 slots": "-hosts a:1,b:1 -n 1 true : -n 2 true",
		"-race: flags for go build, and the job has no Go package to bui": "-race -n 1 true : -n 1 true",
	} {
		r := run(t, golci(t, append([]string{"run", "-rsh", execShell}, strings.Fields(args)...)...))
		if r.code == 0 || !strings.Contains(r.err, text) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%q: code %d, want %q\n%s", args, r.code, text, r.err)
		}
	}
}

// TestPartsMisspelt: a wrong name of a setting is found in any part.
func TestPartsMisspelt(t *testing.T) {
	r := run(t, golci(t, "run", "-n", "1", "true", ":", "-n", "1", "-env", "GOLCI_SPNI=1us", "true"))
	r.want(t, 0, "did you mean GOLCI_SPIN?")
}

// TestPartsMPICH: MPI_APPNUM of a C program linked with MPICH is its place among the programs.
func TestPartsMPICH(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "appnum")
	cc, err := exec.LookPath("mpicc.mpich")
	if err != nil {
		t.Skip("mpicc.mpich is not installed")
	}
	if out, err := exec.CommandContext(t.Context(), cc, "-o", bin, "testdata/c/appnum.c").CombinedOutput(); err != nil {
		t.Skipf("mpicc.mpich does not work: %v\n%s", err, out)
	}
	r := run(t, golci(t, "run", "-n", "1", bin, ":", "-n", "2", bin))
	r.want(t, 0, "")
	want := []string{"rank 0: program 0", "rank 1: program 1", "rank 2: program 1"}
	if !slices.Equal(sorted(r.out), want) {
		t.Errorf("%q", r.out)
	}
}
