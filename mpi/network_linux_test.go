package mpi

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/job/boot/pmi"
	"github.com/golci/golci/internal/job/boot/serve"
	"github.com/golci/golci/internal/test/ofitest"
)

// startOnNodes starts processes as if each of nodes had its share of them, in order.
func startOnNodes(t *testing.T, role string, perNode ...int) *processes {
	t.Helper()
	n := 0
	for _, k := range perNode {
		n += k
	}
	j := &processes{fail: make(chan string, n)}
	var err error
	j.srv, err = serve.New(pmi.Config{
		Size: n, KVSName: fmt.Sprintf("test-%d-%d", os.Getpid(), time.Now().UnixNano()),
		Preset: map[string]string{pmi.KeyMapping: pmi.FormatMapping(perNode)},
	}, serve.Hooks{Fail: func(_, _ int, text string) { j.fail <- text }, EOF: func(int) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.srv.Close)
	for r := range n {
		j.start(t.Context(), t, r, n, role)
	}
	return j
}

// TestConduitThatDoesNotReachAll: one that the setting names is used for all, or every rank's Init fails at once and
// says why.
func TestConduitThatDoesNotReachAll(t *testing.T) {
	t.Setenv("GOLCI_INIT_TIMEOUT", "10m") // a rank that waits for the others would not end within the test's patience
	for _, c := range []struct {
		conduit string
		perNode []int
		says    []string // of each rank
	}{
		{"shm", []int{2, 1}, []string{
			"GOLCI_CONDUIT=shm joins ranks of one node, and rank 0 and rank 2 are on different nodes; set it to auto,",
			"GOLCI_CONDUIT=shm joins ranks of one node, and rank 1 and rank 2 are on different nodes; set it to auto,",
			"GOLCI_CONDUIT=shm joins ranks of one node, and rank 2 and rank 0 are on different nodes; set it to auto,",
		}},
		{"local", []int{1, 1}, []string{"the local conduit joins the ranks of one process", "the local conduit joins the ranks of one process"}},
		{"local", []int{2}, []string{"the local conduit joins the ranks of one process", "the local conduit joins the ranks of one process"}},
	} {
		t.Setenv("GOLCI_CONDUIT", c.conduit)
		j := startOnNodes(t, "all", c.perNode...)
		for r, cmd := range j.cmds {
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
				t.Errorf("%s: rank %d ended with %v\n%s", c.conduit, r, err, j.text())
			}
			text := j.outs[r].String()
			if !strings.Contains(text, fmt.Sprintf("mpi: Init: rank %d of %d: ", r, len(j.cmds))) || !strings.Contains(text, c.says[r]) {
				t.Errorf("%s: rank %d printed\n%s", c.conduit, r, text)
			}
		}
	}
}

// networks are the conduits between machines that this build and system have.
var networks = append([]string{"udp"}, ofitest.Networks()...)

// TestConduitsThatReachAll: the same jobs go with what is set instead.
func TestConduitsThatReachAll(t *testing.T) {
	for _, conduit := range append([]string{"auto"}, networks...) {
		t.Setenv("GOLCI_CONDUIT", conduit)
		j := startOnNodes(t, "all", 2, 1)
		for r, cmd := range j.cmds {
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: rank %d: %v\n%s", conduit, r, err, j.text())
			}
		}
	}
}
