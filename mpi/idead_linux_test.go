package mpi

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() { roles["open"] = roleOpen }

// roleOpen has rank 1 die while the others have a collective of each kind open, each on a communicator of its own with
// the ranks in reversed order. All get ErrPeer, which names the rank, from the open call or from the next one.
func roleOpen(p *Proc) error {
	c := p.World()
	comms := make([]*Comm, len(starters))
	for i := range comms {
		var err error
		if comms[i], err = c.Split(0, -c.Rank()); err != nil {
			return err
		}
	}
	if c.Rank() == 1 {
		for r := range c.Size() {
			if r == 1 {
				continue
			}
			if _, err := Recv(c, one(), r, 0); err != nil {
				return err
			}
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // cannot fail
	}
	open := make([]pendingCall, len(starters))
	for i, start := range starters {
		var err error
		if open[i], err = start(comms[i], i, 5000); err != nil {
			return fmt.Errorf("start %d: %w", i, err)
		}
	}
	if err := Send(c, one(), 1, 0); err != nil {
		return err
	}
	begun := time.Now()
	for i := range open {
		_, err := open[i].r.Wait()
		if err == nil { // its part was done without rank 1
			_, err = AllreduceOne(comms[i], 1, Sum)
		}
		if !errors.Is(err, ErrPeer) || !strings.Contains(err.Error(), "rank 1") {
			return fmt.Errorf("collective %d: %w", i, errors.Join(errors.New("no ErrPeer of rank 1"), err))
		}
	}
	if took := time.Since(begun); took > 30*time.Second { // of which a network takes two: see GOLCI_DEADAFTER
		return fmt.Errorf("the last call has ended after %v", took)
	}
	// Finalize waits for the others now. One that left at once would be a second death to those still in a collective.
	if n, err := c.AckFailed(1); n != 1 || err != nil {
		return fmt.Errorf("acknowledged %d: %w", n, err)
	}
	fmt.Println("all ended")
	return nil
}

// TestDeadRankInOpenCollectives: collectives that do not wait end when a rank dies, within one node and over a network
// that loses datagrams.
func TestDeadRankInOpenCollectives(t *testing.T) {
	for conduit, faults := range map[string]string{"shm": "off", "udp": "loss=0.05,dup=0.02,reorder=0.05,seed=3"} {
		t.Run(conduit, func(t *testing.T) {
			t.Setenv("GOLCI_CONDUIT", conduit)
			t.Setenv("GOLCI_UDP_FAULTS", faults)
			t.Setenv("GOLCI_DEADAFTER", "5s")
			j := startProcesses(t, 4, "open")
			for r, cmd := range j.cmds {
				if err := cmd.Wait(); r != 1 && (err != nil || !strings.Contains(j.outs[r].String(), "all ended")) {
					t.Errorf("rank %d: %v\n%s", r, err, j.text())
				}
			}
		})
	}
}
