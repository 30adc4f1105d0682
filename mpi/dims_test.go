package mpi

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestDimsLimits: numbers of nodes that no int of C has are refused as the comment says, and the class is told once.
func TestDimsLimits(t *testing.T) {
	if err := DimsCreate(math.MaxInt32, []int{0, 0}); err != nil {
		t.Error(err)
	}
	for _, n := range []int{math.MinInt, -1, 0, math.MaxInt32 + 1, 1 << 40, math.MaxInt} {
		err := DimsCreate(n, []int{0, 0})
		if !errors.Is(err, ErrArgument) || Class(err) != ClassArg {
			t.Errorf("%d nodes: %v", n, err)
		} else if strings.Count(err.Error(), ErrArgument.Error()) != 1 {
			t.Errorf("the class is not told once: %v", err)
		}
	}
}
