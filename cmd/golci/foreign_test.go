//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// TestRunMPICH: a C program linked with MPICH runs under golci run, because both speak PMI-1.
func TestRunMPICH(t *testing.T) {
	cc, err := exec.LookPath("mpicc.mpich")
	if err != nil {
		t.Skip("mpicc.mpich is not installed")
	}
	bin := filepath.Join(t.TempDir(), "sum")
	if out, err := exec.CommandContext(t.Context(), cc, "-o", bin, "testdata/c/sum.c").CombinedOutput(); err != nil {
		t.Skipf("mpicc.mpich does not work: %v\n%s", err, out)
	}
	for _, n := range []int{1, 2, 4} {
		r := run(t, golci(t, "run", "-n", strconv.Itoa(n), "-prefix", bin))
		r.want(t, 0, "")
		var want []string
		for i := range n {
			me := strconv.Itoa(i)
			want = append(want, "["+me+"] rank "+me+" of "+strconv.Itoa(n)+", sum "+strconv.Itoa(n*(n-1)/2))
		}
		if got := sorted(r.out); !slices.Equal(got, want) {
			t.Errorf("%d ranks: %q", n, got)
		}
	}
	r := run(t, golci(t, "run", "-n", "3", bin, "abort"))
	r.want(t, 7, "golci: rank 1 aborted the job with code 7")
}

// TestGoRun kills the go command that runs golci. The job ends, though golci leads no process group of its own and
// nobody waits for it.
func TestGoRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds golci")
	}
	tmp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "."}, ranks(2, "family")...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	lines := startLines(t, cmd)
	pids := lastWords(lines.next(), lines.next())
	for _, pid := range children(strconv.Itoa(cmd.Process.Pid)) {
		pids = append(append(pids, pid), children(pid)...)
	}
	if len(pids) < 6 { // the ranks' children; golci; two ranks and the guard
		t.Fatalf("processes %v", pids)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, pid := range pids {
		wantGone(t, pid)
	}
	wantEmpty(t, tmp)
}
