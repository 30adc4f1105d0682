package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// roleDiffer makes all disagreements between processes that check nothing, but those in types: by messages only Finalize
// finds them.
func roleDiffer(p *Proc) error {
	return disagree(p.World(), inNext, false)
}

// TestDisagreementBetweenProcesses: processes that disagree all get an error by the next call that all make.
func TestDisagreementBetweenProcesses(t *testing.T) {
	for _, where := range []string{"memory", "messages"} {
		for _, n := range []int{2, 3} {
			if testing.Short() && n == 3 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", where, n), func(t *testing.T) {
				t.Setenv("GOLCI_COLLECTIVES", where)
				j := startProcesses(t, n, "differ")
				var errs []error
				for _, cmd := range j.cmds {
					errs = append(errs, cmd.Wait())
				}
				if err := errors.Join(errs...); err != nil || !strings.Contains(j.text(), "is done") {
					t.Errorf("%v\n%s", err, j.text())
				}
			})
		}
	}
}
