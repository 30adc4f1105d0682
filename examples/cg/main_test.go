package main

import (
	"bytes"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPoisson: the solution is right on coarse and fine grids, and with more ranks than rows.
func TestPoisson(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		for _, side := range []int{3, 4, 31, 64} {
			var out bytes.Buffer // rank 0 alone writes to it
			o := options{n: side, tolerance: 1e-10, most: 1000}
			if err := mpi.Run(n, func(c *mpi.Comm) error { return poisson(c, o, &out) }); err != nil {
				t.Fatalf("%d ranks, %d points: %v", n, side, err)
			}
			if got := out.String(); strings.Count(got, "\n") != 3 || !strings.Contains(got, "check: within") {
				t.Errorf("%d ranks, %d points printed\n%s", n, side, got)
			}
		}
	}
}

// TestResidual: solve tells the residual of the x that it leaves.
func TestResidual(t *testing.T) {
	err := mpi.Run(2, func(c *mpi.Comm) error {
		s := newStrip(c, 20)
		x, right, rest := s.field(), s.sample(func(x, y float64) float64 { return x + y*y }), s.field()
		o, err := s.solve(x, right, 1e-7, 500)
		if err != nil {
			return err
		}
		if err := s.residual(x, right, rest); err != nil {
			return err
		}
		norm, err := s.dot(rest, rest)
		if err != nil {
			return err
		}
		goal, err := s.dot(right, right)
		if o.relative > 1e-6 || norm > 1e-12*goal || o.steps < 10 {
			t.Errorf("%+v, but the residual's square is %g of %g", o, norm, goal)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestOwner: each row has one owner, the rank that has it.
func TestOwner(t *testing.T) {
	err := mpi.Run(4, func(c *mpi.Comm) error {
		for n := 1; n < 12; n++ {
			s := newStrip(c, n)
			for row := range n {
				if mine := row >= s.first && row < s.first+s.rows; mine != (s.owner(row) == c.Rank()) {
					t.Errorf("row %d of %d: rank %d has it: %v, owner: %d", row, n, c.Rank(), mine, s.owner(row))
				}
			}
			if s.owner(-1) != mpi.ProcNull || s.owner(n) != mpi.ProcNull {
				t.Errorf("the borders belong to %d and %d", s.owner(-1), s.owner(n))
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTooFewSteps: an answer that is not good enough is an error.
func TestTooFewSteps(t *testing.T) {
	o := options{n: 30, tolerance: 1e-9, most: 2}
	err := mpi.Run(2, func(c *mpi.Comm) error { return poisson(c, o, new(bytes.Buffer)) })
	if err == nil || !strings.Contains(err.Error(), "after 2 steps") {
		t.Errorf("got %v", err)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range []string{"-n 0", "-steps 0", "-tolerance 0", "word"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	if o, err := parse([]string{"-n", "9"}); err != nil || o.n != 9 || o.tolerance != 1e-9 {
		t.Errorf("%+v, %v", o, err)
	}
}
