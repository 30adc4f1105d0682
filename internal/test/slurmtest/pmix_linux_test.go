package slurmtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// buildPMIx makes programs that speak PMIx, and the test binary as one more, in a directory of their own.
func buildPMIx(t *testing.T) (dir string) {
	t.Helper()
	build(t)
	if os.Getenv(apartVar) != "yes" {
		t.Skip("the nodes are not apart: Slurm's PMIx plugin makes one directory for both")
	}
	out, err := exec.Command("srun", "--mpi=list").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "pmix") {
		t.Skipf("this Slurm has no PMIx plugin: %v, %s", err, out)
	}
	if libs, _ := exec.Command("ldconfig", "-p").Output(); !strings.Contains(string(libs), "libpmix.so.2 ") {
		t.Skip("there is no libpmix.so.2 (Debian: libpmix2)")
	}
	dir = t.TempDir()
	for _, args := range [][]string{
		{"build", "-tags", "pmix", "-o", dir, "./examples/hello", "./examples/pagerank"},
		{"test", "-c", "-tags", "pmix", "-vet=off", "-o", filepath.Join(dir, "victim"), "./internal/test/slurmtest"},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = filepath.Join("..", "..", "..")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

// TestPMIx: srun brings ranks of one node and of two together over PMIx; when one is killed all have gone soon.
func TestPMIx(t *testing.T) {
	dir := buildPMIx(t)
	alone := ranking(run(t, nil, "pagerank -scale 12"))
	for _, line := range []string{
		"srun --nodes=1 --ntasks=2 --mpi=pmix", "srun --nodes=2 --ntasks=2 --mpi=pmix",
		"srun --nodes=2 --ntasks=4 --mpi=pmix",
	} {
		n := line[strings.Index(line, "--ntasks=")+len("--ntasks="):][:1]
		j := run(t, nil, line, filepath.Join(dir, "hello"))
		if j.failed != nil || strings.Count(j.out, "hello from rank ") != int(n[0]-'0') ||
			strings.Count(j.out, " of "+n+"\n") != int(n[0]-'0') {
			t.Error(j.all())
		}
		j = run(t, nil, line, filepath.Join(dir, "pagerank"), "-scale", "12")
		if diff := compare(alone, ranking(j)); diff != "" || j.failed != nil {
			t.Errorf("%s: %s", diff, j.all())
		}
	}
	file := filepath.Join(t.TempDir(), "killed")
	mark := fmt.Sprintf("%s=%s", victimVar, file)
	j := run(t, []string{mark}, "srun --nodes=2 --ntasks=4 --mpi=pmix", filepath.Join(dir, "victim"))
	killed := readTime(t, file)
	for len(left(t, mark)) > 0 && time.Since(killed) < goneWithin {
		time.Sleep(10 * time.Millisecond)
	}
	gone := time.Since(killed)
	t.Logf("all gone after %v", gone.Round(time.Millisecond))
	if j.failed == nil || gone >= goneWithin {
		t.Errorf("%d processes are left after %v: %s", len(left(t, mark)), gone, j.all())
	}
}
