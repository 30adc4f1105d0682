package main

import (
	"bytes"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The death of a worker needs processes: cmd/golci tests that.
func TestWorkers(t *testing.T) {
	for _, n := range []int{2, 3, 6} {
		var got bytes.Buffer // rank 0 alone writes to it
		if err := mpi.Run(n, func(c *mpi.Comm) error { return run(c, 50, 0, &got) }); err != nil {
			t.Fatalf("%d ranks: %v", n, err)
		}
		if want := fmt.Sprintf("50 tasks, sum 40425, 0 of %d workers have died\n", n-1); got.String() != want {
			t.Errorf("%d ranks printed %q, want %q", n, got.String(), want)
		}
	}
	if err := mpi.Run(1, func(c *mpi.Comm) error { return run(c, 1, 0, nil) }); err == nil {
		t.Error("one rank alone has workers")
	}
}
