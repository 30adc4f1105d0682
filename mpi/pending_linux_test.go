package mpi

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/golci/golci/internal/test/pendingtest"
)

func init() {
	roles["pending"] = rolePending
}

// rolePending has rank 0 die while all calls of the table wait on rank 1.
func rolePending(p *Proc) error {
	c := p.World()
	rows, err := prepare(c, "death", byDeath, pendingRows())
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		if _, err := Recv(c, ins(), 1, 0); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	calls, err := beginAll(c, rows, nil)
	if err = errors.Join(err, Send(c, ins(), 0, 0)); err != nil {
		return err
	}
	if err := pendingtest.Ended(calls, ErrPeer); err != nil {
		return err
	}
	dead, err := c.GetFailed()
	if err != nil {
		return err
	}
	_, err = c.AckFailed(len(dead))
	return err
}

func TestPendingAfterDeath(t *testing.T) {
	for _, conduit := range append([]string{"shm"}, networks...) {
		t.Setenv("GOLCI_CONDUIT", conduit)
		t.Setenv("GOLCI_DEADAFTER", "5s")
		j := startProcesses(t, 2, "pending")
		_ = j.cmds[0].Wait() // it kills itself
		if err := j.cmds[1].Wait(); err != nil || !strings.Contains(j.text(), "rank 1 is done") {
			t.Errorf("%s: %v\n%s", conduit, err, j.text())
		}
	}
}
