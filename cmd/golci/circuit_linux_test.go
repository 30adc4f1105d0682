package main

import (
	"strings"
	"testing"
)

// TestRunCircuit: ranks that are processes compute what a serial run does, over shared memory and over UDP.
func TestRunCircuit(t *testing.T) {
	prog := example(t, "circuit")
	for _, conduit := range []string{"shm", "udp"} {
		args := []string{
			"run", "-n", "3", "-env", "GOLCI_CONDUIT=" + conduit, prog, "-steps", "40", "-pct", "30",
			"-nodes", "100",
		}
		r := run(t, golci(t, args...))
		r.want(t, 0, "")
		if !strings.HasSuffix(r.out, "check: both are equal to a serial run\n") || !strings.Contains(r.out,
			"12 pieces") {
			t.Errorf("%s:\n%s%s", conduit, r.out, r.err)
		}
	}
	r := run(t, golci(t, "run", "-n", "2", prog, "-pct", "200"))
	r.want(t, 2, "-pct 200: want at most 100")
}
