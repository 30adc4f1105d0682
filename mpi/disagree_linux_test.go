package mpi

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// roleDiffer makes all disagreements between processes that check nothing, but those in types, over memory. The first
// calls of a communicator go by messages.
func roleDiffer(p *Proc) error { return disagree(p.World(), inNext, false, warmths[len(warmths)-1]) }

// roleDifferLast makes the disagreement whose number is in the environment, and is told by Finalize at the latest.
func roleDifferLast(p *Proc) error {
	i, err := strconv.Atoi(os.Getenv(whichDiffers))
	if err != nil {
		return err
	}
	d, err := p.World().Dup()
	for i := 0; i < 10 && err == nil; i++ {
		err = d.Barrier()
	}
	if err != nil {
		return err
	}
	name := disagreements[i].others
	if d.Rank() == 0 {
		name = disagreements[i].zero
	}
	if err := errors.Join(sortOf[name](d), p.Finalize()); !disagrees(err) {
		return fmt.Errorf("rank %d: %w", p.World().Rank(), err)
	}
	fmt.Printf("rank %d is done\n", p.World().Rank())
	os.Exit(0) // it has been finalized
	return nil
}

const whichDiffers = "GOLCI_TEST_DIFFERS"

// TestDisagreementBetweenProcesses: processes that disagree all get an error: over memory by the next call that all
// make, by messages in Finalize at the latest.
func TestDisagreementBetweenProcesses(t *testing.T) {
	skipUnderRace(t, "it does not see memory that processes share; TestDisagreement has the goroutines of one")
	differ := func(t *testing.T, n int, role string, env ...string) {
		t.Parallel()
		j := startProcesses(t, n, role, env...)
		var errs []error
		for _, cmd := range j.cmds {
			errs = append(errs, cmd.Wait())
		}
		if err := errors.Join(errs...); err != nil || !strings.Contains(j.text(), "is done") {
			t.Errorf("%v\n%s", err, j.text())
		}
	}
	for _, n := range []int{2, 3} {
		if testing.Short() && n == 3 {
			continue
		}
		t.Run(fmt.Sprintf("memory/%d", n), func(t *testing.T) {
			differ(t, n, "differ", "GOLCI_COLLECTIVES=memory")
		})
		for i, x := range disagreements {
			if x.types || x.others == "bcast two" || testing.Short() && i%4 != 0 {
				continue // a length is an error of the receivers alone
			}
			t.Run(fmt.Sprintf("messages/%d/%v", n, x), func(t *testing.T) {
				differ(t, n, "differ last", "GOLCI_COLLECTIVES=messages", whichDiffers+"="+strconv.Itoa(i))
			})
		}
	}
}
