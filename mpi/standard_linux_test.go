package mpi

import (
	"fmt"
	"testing"
)

func init() {
	roles["standard"] = func(p *Proc) error { return checkAll(p.World()) }
}

// TestStandardBetweenProcesses checks all rules of a number of ranks in one job of processes of this machine.
func TestStandardBetweenProcesses(t *testing.T) {
	skipUnderRace(t, "it does not see memory that processes share; TestStandard has the goroutines of one")
	for n := 1; n <= 8; n++ {
		if testing.Short() && n != 2 && n != 5 {
			continue // processes of more ranks than cores take long
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			j := startProcesses(t, n, "standard", "GOLCI_CONDUIT=shm")
			for r, cmd := range j.cmds {
				if err := cmd.Wait(); err != nil {
					t.Errorf("rank %d: %v\n%s", r, err, j.outs[r])
				}
			}
		})
	}
}
