//go:build linux

package main

import (
	"strings"
	"testing"
)

// TestSurvive: a job goes on without a rank that has died, if it is started so, and ends well.
func TestSurvive(t *testing.T) {
	r := run(t, golci(t, "run", "-survive", "-n", "4", "./testdata/survive"))
	r.want(t, 0, "")
	if r.out != "3 went on\n" || !strings.Contains(r.err, "rank 2 was killed by signal 9") {
		t.Errorf("got %q\n%s", r.out, r.err)
	}
}

// TestSurviveWorkers: a master that receives from any rank goes on without a worker that has died with a task.
func TestSurviveWorkers(t *testing.T) {
	for _, conduit := range []string{"shm", "udp"} {
		t.Setenv("GOLCI_CONDUIT", conduit)
		t.Setenv("GOLCI_DEADAFTER", "5s")
		r := run(t, golci(t, "run", "-survive", "-n", "4", "../../examples/workers", "-crash", "2"))
		r.want(t, 0, "")
		if r.out != "100 tasks, sum 328350, 1 of 3 workers have died\n" || !strings.Contains(r.err, "rank 2 was killed by signal 9") {
			t.Errorf("%s: got %q\n%s", conduit, r.out, r.err)
		}
	}
}

// TestSurviveRealm: a job of package realm ends well without a rank that has died.
func TestSurviveRealm(t *testing.T) {
	for _, n := range []string{"2", "3", "7"} {
		r := run(t, golci(t, "run", "-survive", "-n", n, "./testdata/survive_realm"))
		r.want(t, 0, "")
		if !strings.HasSuffix(r.out, " went on\n") || !strings.Contains(r.err, "rank 1 was killed by signal 9") {
			t.Errorf("%s ranks: got %q\n%s", n, r.out, r.err)
		}
	}
}
