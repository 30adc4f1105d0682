package main

import (
	"bytes"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRing(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		var got bytes.Buffer // rank 0 alone writes to it
		if err := mpi.Run(n, func(c *mpi.Comm) error { return ring(c, &got) }); err != nil {
			t.Fatalf("%d ranks: %v", n, err)
		}
		if want := fmt.Sprintf("%d ranks, sum %d\n", n, n*(n-1)/2); got.String() != want {
			t.Errorf("%d ranks printed %q, want %q", n, got.String(), want)
		}
	}
}
