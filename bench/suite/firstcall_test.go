package suite

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/mpi"
)

// TestFirstCalls: rank 0 has one row of calls, and one of their control; the calls go through.
func TestFirstCalls(t *testing.T) {
	err := mpi.Run(2, func(c *mpi.Comm) error {
		var rows []bench.Row
		for _, name := range []string{firstCall, firstCallControl} {
			calls := 0
			call := func() error {
				calls++
				return emptyCall()
			}
			if err := firstRow(c, &crossing.Ends{}, name, leastCalls, call,
				func(r bench.Row) { rows = append(rows, r) }); err != nil {
				return err
			}
			if calls != leastCalls {
				return fmt.Errorf("%s: %d calls", name, calls)
			}
		}
		if c.Rank() == 1 && rows != nil {
			return fmt.Errorf("rank 1 has rows: %v", rows)
		}
		if c.Rank() == 0 && (len(rows) != 2 || rows[0].Bench != firstCall || rows[1].Bench != firstCallControl ||
			rows[0].Value <= 0) {
			return fmt.Errorf("rows %v", rows)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	if _, err := medianOfCalls(1, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("the error of a call: %v", err)
	}
}

// TestFirstCallHasNoSizes: other sizes that are asked for do not make more rows of it.
func TestFirstCallHasNoSizes(t *testing.T) {
	chosen, err := choose(Config{Names: []string{firstCall}, N: 2, Sizes: []int{8, 16}})
	if err != nil || len(chosen) != 1 || chosen[0].rows(chosen[0].threads) != 2 {
		t.Errorf("%+v, %v", chosen, err)
	}
}
