package mpi

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

func init() {
	roles["pending"] = rolePending
}

// rolePending has rank 0 die while all calls of the table wait on rank 1.
func rolePending(p *Proc) error {
	c := p.World()
	calls, err := prepare(c, "death", byDeath, pendingRows())
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		if _, err := Recv(c, ins(), 1, 0); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	err = errors.Join(beginAll(c, calls, nil), Send(c, ins(), 0, 0))
	if err != nil {
		return err
	}
	if err := ended(calls, ErrPeer); err != nil {
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
		t.Setenv("GOLCI_UDP_DEADAFTER", "1s")
		t.Setenv("GOLCI_OFI_DEADAFTER", "1s")
		j := startProcesses(t, 2, "pending")
		_ = j.cmds[0].Wait() // it kills itself
		if err := j.cmds[1].Wait(); err != nil || !strings.Contains(j.text(), "rank 1 is done") {
			t.Errorf("%s: %v\n%s", conduit, err, j.text())
		}
	}
}
