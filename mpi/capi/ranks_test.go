//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golci/golci/internal/abi"
)

// launch builds golci, once.
var launch = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "golci")
	if err != nil {
		return "", err
	}
	launcherDir = dir
	file := filepath.Join(dir, "golci")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-w", "-o", file, "./cmd/golci")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return file, nil
})

// launcher is golci.
func launcher(t *testing.T) string {
	t.Helper()
	file, err := launch()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestRanks runs programs with two ranks. Each prints what it finds wrong, and then its number of checks.
func TestRanks(t *testing.T) {
	frame, err := os.ReadFile("testdata/check.h")
	if err != nil {
		t.Fatal(err)
	}
	golci := launcher(t)
	for name, variables := range map[string][]string{
		"two.c": {""}, "posts.c": {""}, "fork.c": {""}, "bottom.c": {""}, "differ.c": {""}, "gaps.c": {""}, "looks.c": {""},
		"reach.c":   {""},
		"checked.c": {"GOLCI_COLLECTIVES=memory", "GOLCI_COLLECTIVES=messages"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata/ranks", name))
			if err != nil {
				t.Fatal(err)
			}
			program := compile(t, string(frame)+"#line 1 \""+name+"\"\n"+string(text))
			for _, v := range variables {
				cmd := exec.Command(golci, "run", "-n", "2", "-timeout", "60s", program)
				if cmd.Env = os.Environ(); v != "" {
					cmd.Env = append(cmd.Env, v, "GOLCI_CHECK=types")
				}
				out := output(t, cmd)
				if !regexp.MustCompile(`^([1-9]\d* checks\n){2}$`).MatchString(out) {
					t.Errorf("%s\n%s", v, out)
				}
			}
		})
	}
}

// TestFaults runs a program of three ranks of which one dies. The others go on.
func TestFaults(t *testing.T) {
	frame, err := os.ReadFile("testdata/check.h")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/survive/faults.c")
	if err != nil {
		t.Fatal(err)
	}
	program := compile(t, string(frame)+"#line 1 \"faults.c\"\n"+string(text))
	out := output(t, exec.Command(launcher(t), "run", "-survive", "-n", "3", "-timeout", "60s", program))
	if !regexp.MustCompile(`^([1-9]\d* checks\n){2}$`).MatchString(out) {
		t.Error(out)
	}
}

// TestMixed runs ranks in Go, C and Python in one job.
func TestMixed(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	if out, err := exec.Command(python, "-c", "import ctypes").CombinedOutput(); err != nil {
		t.Skipf("python3 has no ctypes: %s", out)
	}
	text, err := os.ReadFile("testdata/mixed/main.c")
	if err != nil {
		t.Fatal(err)
	}
	inC, inGo := compile(t, string(text)), filepath.Join(t.TempDir(), "mixed")
	if out, err := exec.Command("go", "build", "-o", inGo, "./testdata/mixed/ingo").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lib := filepath.Join(filepath.Dir(library(t)), abi.LibraryName)
	cmd := exec.Command(launcher(t), "run", "-timeout", "60s", "-n", "1", inGo, ":", "-n", "1", inC, ":",
		"-n", "1", python, "testdata/mixed/main.py", lib)
	lines := strings.Split(strings.TrimSpace(output(t, cmd)), "\n")
	slices.Sort(lines)
	sent := 0
	for i, name := range []string{"C", "Go", "Python"} {
		var from int
		if i >= len(lines) {
			break
		}
		if _, err := fmt.Sscanf(lines[i], name+": sum 6, from the rank before %d", &from); err != nil {
			t.Errorf("%q: %v", lines[i], err)
		}
		sent += from
	}
	if len(lines) != 3 || sent != 30 {
		t.Errorf("the ranks print %q", lines)
	}
}

// TestAppNum: MPI_APPNUM is the place of the program among those of golci run.
func TestAppNum(t *testing.T) {
	program := compile(t, `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int rank, found, *app;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2; i++)
		MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &found);
	printf("rank %d: %d\n", rank, found ? *app : -1);
	return MPI_Finalize();
}
`)
	lines := strings.Fields(output(t, exec.Command(launcher(t), "run", "-n", "1", program, ":", "-n", "2", program)))
	got := strings.Join(lines, " ")
	for _, want := range []string{"rank 0: 0", "rank 1: 1", "rank 2: 1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// TestHang: a program in C that waits in vain is reported when its time is over.
func TestHang(t *testing.T) {
	program := compile(t, `#include <mpi.h>
int main(void)
{
	int rank, x;
	MPI_Init(0, 0);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		MPI_Recv(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
}
`)
	out, err := exec.Command(launcher(t), "run", "-n", "2", "-timeout", "3s", program).CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || !strings.Contains(string(out), "Recv on world from rank 1, tag 7") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestFatal: an error ends the program, with its class as the exit code, unless the program asks for another handler.
func TestFatal(t *testing.T) {
	for source, want := range map[string]string{
		`MPI_Init(0, 0); MPI_Send(&argc, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);`: "MPI_ERR_RANK",
		`MPI_Barrier(MPI_COMM_WORLD);`:                                       "not between MPI_Init and MPI_Finalize",
		`MPI_Init(0, 0); MPI_Finalize(); MPI_Init(0, 0);`:                    "not between MPI_Init and MPI_Finalize",
		`MPI_Init(0, 0); MPI_Abort(MPI_COMM_SELF, 3);`:                       "MPI_Abort was called with code 3",
	} {
		program := compile(t, "#include <mpi.h>\nint main(int argc, char **argv) { "+source+" return 0; }\n")
		out, err := exec.Command(program).CombinedOutput()
		if exit := new(exec.ExitError); !errors.As(err, &exit) || !strings.Contains(string(out), want) {
			t.Errorf("%s\n%v: %s", source, err, out)
		}
	}
}

// TestFault: memory that the program must not use ends it, and the function of MPI is named before Go's stack.
func TestFault(t *testing.T) {
	for call, want := range map[string]string{
		`MPI_Send(bad, 4, MPI_INT, 0, 0, MPI_COMM_WORLD)`:               "rank 0 of 1: MPI_Send has met",
		`MPI_Allreduce(bad, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)`:   "rank 0 of 1: MPI_Allreduce has met",
		`MPI_Bsend(bad, 4, MPI_INT, 0, 0, MPI_COMM_WORLD)`:              "rank 0 of 1: MPI_Bsend has met",
		`MPI_Gather(&x, 1, MPI_INT, bad, 1, MPI_INT, 0, MPI_COMM_SELF)`: "rank 0 of 1: MPI_Gather has met",
	} {
		program := compile(t, `#include <mpi.h>
#include <sys/mman.h>
int main(void)
{
	int x;
	static char room[1000];
	char *bad = mmap(0, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MPI_Init(0, 0);
	MPI_Buffer_attach(room, sizeof(room));
	x = `+call+`;
	return x;
}
`)
		out, err := exec.Command(program).CombinedOutput()
		text := string(out)
		exit := new(exec.ExitError)
		if !errors.As(err, &exit) || !strings.Contains(text, want) || strings.Index(text, want) > strings.Index(text, "goroutine") {
			t.Errorf("%s\n%v: %.600s", call, err, text)
		}
	}
}
