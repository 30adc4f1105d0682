package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestHello(t *testing.T) {
	for _, n := range []int{1, 2, 5, 8} {
		var got bytes.Buffer // rank 0 alone writes to it
		err := mpi.Run(n, func(c *mpi.Comm) error { return hello(c, &got) })
		if err != nil {
			t.Fatalf("%d ranks: %v", n, err)
		}
		want := ""
		for i := range n {
			want += fmt.Sprintf("hello from rank %d of %d\n", i, n)
		}
		if got.String() != want {
			t.Errorf("%d ranks printed\n%swant\n%s", n, got.String(), want)
		}
	}
}

// A rank that never greets makes rank 0 fail, not wait for ever.
func TestHelloMissing(t *testing.T) {
	lost := errors.New("lost")
	err := mpi.Run(3, func(c *mpi.Comm) error {
		if c.Rank() == 2 {
			return lost
		}
		return hello(c, &bytes.Buffer{})
	})
	if !errors.Is(err, lost) {
		t.Errorf("got %v, want %v", err, lost)
	}
}
