package slurmtest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// rootHere is a variable that names a port of this machine for rank 0: the nodes share its loopback interface.
func rootHere(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return "GOLCI_ROOT=" + ln.Addr().String()
}

// ways are the ways to start four ranks on the two nodes.
func ways(t *testing.T) map[string][]string {
	w := map[string][]string{
		"srun --nodes=2 --ntasks=4 --mpi=pmi2":     nil,
		"salloc -Q --nodes=2 --ntasks=4 golci run": nil,
		"srun --nodes=2 --ntasks=4 --mpi=none":     {secret(), rootHere(t)},
	}
	if os.Getenv(apartVar) == "yes" {
		w["srun -Q --nodes=2 --ntasks=4 --mpi=none"] = []string{secret()} // rank 0 is found by the name of its node
	}
	return w
}

func TestHello(t *testing.T) {
	build(t)
	var want []string
	for r := range 4 {
		want = append(want, fmt.Sprintf("hello from rank %d of 4", r))
	}
	for line, env := range ways(t) {
		j := run(t, env, line+" hello")
		if j.failed != nil || j.out != strings.Join(want, "\n")+"\n" {
			t.Error(j.all())
		}
	}
}

// TestApart: without a secret the ranks of two nodes say what to do, and none is a job of its own.
func TestApart(t *testing.T) {
	build(t)
	j := run(t, []string{"GOLCI_SECRET="}, "srun --nodes=2 --ntasks=2 --mpi=none hello")
	if j.failed == nil || strings.Contains(j.out, "hello from") ||
		strings.Count(j.err, "use srun --mpi=pmi2, build the program with -tags pmix") != 2 {
		t.Error(j.all())
	}
	j = run(t, []string{"GOLCI_SECRET="}, "srun --nodes=1 --ntasks=2 --mpi=none hello")
	if j.failed != nil || strings.Count(j.out, "of 2") != 2 {
		t.Error(j.all())
	}
}

// TestStep: golci run in each of several tasks starts nothing; in one it has the node of its step.
func TestStep(t *testing.T) {
	build(t)
	j := run(t, nil, "srun --nodes=2 --ntasks=2 --mpi=none golci run hello")
	if j.failed == nil || j.out != "" || strings.Count(j.err, "rank 0 of 2 that srun has started") != 1 {
		t.Error(j.all())
	}
	j = run(t, nil, "salloc -Q --nodes=2 --ntasks=4 srun --nodes=1 --ntasks=1 --mpi=none golci run -n 2 hello")
	if j.failed != nil || strings.Count(j.out, "of 2") != 2 {
		t.Error(j.all())
	}
}

// TestInfo: golci info tells of the allocation, and of the place of a rank.
func TestInfo(t *testing.T) {
	build(t)
	j := run(t, nil, "salloc -Q --nodes=2 --ntasks=4 golci info")
	for _, text := range []string{"Slurm (SLURM_JOB_NODELIST): n1:", "srun --overlap"} {
		if !strings.Contains(j.out, text) {
			t.Errorf("no %q: %s", text, j.all())
		}
	}
	j = run(t, []string{secret()}, "srun --nodes=2 --ntasks=2 --mpi=none golci info")
	if j.failed != nil || !strings.Contains(j.out, "slurm, rank 1 of 2") {
		t.Error(j.all())
	}
}

// TestKilled: when a rank is killed, all others have gone soon, and the node is named.
func TestKilled(t *testing.T) {
	build(t)
	for line, env := range ways(t) {
		file := filepath.Join(t.TempDir(), "killed")
		mark := victimVar + "=" + file
		if strings.Contains(line, "golci run") {
			line += " -env " + victimVar
		}
		j := run(t, append(slices.Clone(env), mark), line, os.Args[0])
		killed := readTime(t, file)
		for len(left(t, mark)) > 0 && time.Since(killed) < goneWithin {
			time.Sleep(10 * time.Millisecond)
		}
		gone := time.Since(killed)
		t.Logf("%s: all gone after %v", line, gone.Round(time.Millisecond))
		if j.failed == nil || gone >= goneWithin || !strings.Contains(j.err, "n2") {
			t.Errorf("%d processes are left after %v: %s", len(left(t, mark)), gone, j.all())
		}
		if strings.Contains(line, "none") && !strings.Contains(j.err, "rank 3 on n2 has gone without finalizing") {
			t.Error(j.all())
		}
		if strings.Contains(line, "golci run") && !strings.Contains(j.err, "rank 3 on n2 was killed by signal 9 (SIGKILL)") {
			t.Error(j.all())
		}
	}
}
