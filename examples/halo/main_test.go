package main

import (
	"bytes"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestHalo: the plate is that of a serial run, for parts of different sizes.
func TestHalo(t *testing.T) {
	for _, ranks := range []int{1, 2, 4, 6, 7} {
		for _, o := range []options{
			{n: 7, steps: 0},
			{n: 7, steps: 1},
			{n: 16, steps: 30, picture: true},
			{n: 19, steps: 21},
		} {
			var out bytes.Buffer // rank 0 alone writes to it
			if err := mpi.Run(ranks, func(c *mpi.Comm) error { return halo(c, o, &out) }); err != nil {
				t.Fatalf("%d ranks, %+v: %v", ranks, o, err)
			}
			lines := 3
			if o.picture {
				lines += o.n
			}
			if got := out.String(); strings.Count(got, "\n") != lines || !strings.Contains(got, "check: each point") {
				t.Errorf("%d ranks, %+v printed\n%s", ranks, o, got)
			}
		}
	}
}

// TestReportFinds: a point that is wrong is an error.
func TestReportFinds(t *testing.T) {
	err := mpi.Run(1, func(c *mpi.Comm) error {
		grid, err := c.CreateCart([]int{1, 1}, nil, false)
		if err != nil {
			return err
		}
		p, err := newPart(grid, 5)
		if err != nil {
			return err
		}
		p.win.Memory()[2*p.stride+3] += 0.5
		return p.report(options{n: 5}, 0, new(bytes.Buffer))
	})
	if err == nil || !strings.Contains(err.Error(), "point 1, 2 is 0.5") {
		t.Errorf("got %v", err)
	}
}

func TestDraw(t *testing.T) {
	var out bytes.Buffer
	draw(&out, []float64{1, 0, 0.25, 2}, 2)
	if out.String() != "@ \n+@\n" {
		t.Errorf("printed %q", out.String())
	}
}

func TestFlags(t *testing.T) {
	for _, args := range []string{"-n 0", "-steps -1", "word"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	err := mpi.Run(3, func(c *mpi.Comm) error { return halo(c, options{n: 2, steps: 1}, new(bytes.Buffer)) })
	if err == nil || !strings.Contains(err.Error(), "-n 2") {
		t.Errorf("got %v", err)
	}
}
