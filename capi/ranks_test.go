//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// launcher builds golci.
func launcher(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "golci")
	build := exec.Command("go", "build", "-o", file, "./cmd/golci")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
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
	for _, name := range []string{"two.c", "posts.c", "fork.c", "differ.c"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata/ranks", name))
			if err != nil {
				t.Fatal(err)
			}
			program := compile(t, string(frame)+"#line 1 \""+name+"\"\n"+string(text))
			out := output(t, exec.Command(golci, "run", "-n", "2", "-timeout", "60s", program))
			if !regexp.MustCompile(`^([1-9]\d* checks\n){2}$`).MatchString(out) {
				t.Error(out)
			}
		})
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
