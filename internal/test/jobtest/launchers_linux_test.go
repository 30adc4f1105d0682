package jobtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// wantDone checks that every one of n ranks has come to its end.
func (j *job) wantDone(n int) {
	j.t.Helper()
	for r := range n {
		if line := fmt.Sprintf("rank %d of %d done\n", r, n); strings.Count(j.out.String(), line) != 1 {
			j.t.Errorf("not once %q\n%s", line, j.all())
		}
	}
}

// TestManyRanks: more ranks than cores complete every collective and ping-pong in pairs.
func TestManyRanks(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 8} {
		j := golci(t, ranks(n, "all")...)
		start := time.Now()
		j.succeed()
		t.Logf("%d ranks: %v", n, time.Since(start).Round(time.Millisecond))
		j.wantDone(n)
	}
}

// TestLaunchers: one program, under every launcher.
func TestLaunchers(t *testing.T) {
	t.Parallel()
	self := os.Args[0]
	for _, l := range []struct {
		name string
		argv []string
		n    int
	}{
		{"alone", []string{self}, 1},
		{"mpiexec.mpich", []string{"mpiexec.mpich", "-n", "2", self}, 2},
		{"mpirun.openmpi", []string{"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2", self}, 2},
	} {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(l.argv[0])
			if err != nil {
				t.Skipf("%s is not installed", l.argv[0])
			}
			j := command(t, path, l.argv[1:]...)
			j.cmd.Env = append(j.cmd.Env, roleVar+"=all")
			start := time.Now()
			j.succeed()
			t.Logf("%d ranks: %v", l.n, time.Since(start).Round(time.Millisecond))
			j.wantDone(l.n)
		})
	}
}
