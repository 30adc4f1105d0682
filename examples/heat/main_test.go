package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every cut gives what a serial run gives, to the last bit; heat itself compares, and the mean is compared here.
func TestEqualToSerial(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		for _, o := range []options{
			{n: 24, tiles: 1, steps: 30},
			{n: 17, tiles: 3, steps: 9},
			{n: 8, tiles: 6, steps: 12},
			{n: 150, tiles: 2, steps: 2},
			{n: 5, tiles: 2, steps: 0},
		} {
			o.check = true
			var out bytes.Buffer // rank 0 alone writes to it
			err := mpi.Run(n, func(c *mpi.Comm) error { return heat(c, o, &out) })
			if err != nil {
				t.Fatalf("%d ranks, %+v: %v", n, o, err)
			}
			mean := fmt.Sprintf("mean temperature after %d steps: %.9f\n", o.steps, serial(o.n, o.steps).mean())
			if got := out.String(); !strings.Contains(got, mean) || !strings.HasSuffix(got, "check: equal to a serial run\n") {
				t.Errorf("%d ranks, %+v printed\n%swant %s", n, o, got, mean)
			}
		}
	}
}

// A plate with one hot side has a quarter of the heat in its middle, in the end.
func TestSteadyState(t *testing.T) {
	p := serial(15, 3000)
	if got := p.row(8)[7]; math.Abs(got-0.25) > 1e-9 {
		t.Errorf("the middle has %v, want a quarter", got)
	}
}

// A point that is not the serial one is an error.
func TestCompare(t *testing.T) {
	p := serial(9, 20)
	if err := p.compare(serial(9, 20)); err != nil {
		t.Error(err)
	}
	p.row(4)[6] = math.Nextafter(p.row(4)[6], 2)
	if err := p.compare(serial(9, 20)); err == nil || !strings.Contains(err.Error(), "row 4, column 7") {
		t.Errorf("got %v", err)
	}
}

// The tiles cover the plate without overlap, and neighbours are mutual and share a whole side.
func TestDivide(t *testing.T) {
	for _, x := range [][3]int{{1, 1, 1}, {10, 1, 7}, {100, 3, 5}, {31, 8, 4}, {8, 8, 8}} {
		g, err := divide(x[0], x[1], x[2])
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]int, g.n*g.n)
		for tile := range g.rows * g.cols {
			y0, y1, x0, x1 := g.area(tile)
			if y0 >= y1 || x0 >= x1 {
				t.Fatalf("%+v: tile %d is empty", g, tile)
			}
			for y := y0; y < y1; y++ {
				for x := x0; x < x1; x++ {
					seen[y*g.n+x]++
				}
			}
			checkNeighbours(t, g, tile)
		}
		for i, k := range seen {
			if k != 1 {
				t.Fatalf("%+v: point %d is in %d tiles", g, i, k)
			}
		}
	}
	for _, x := range [][3]int{{1, 2, 1}, {3, 1, 5}, {4, 2, 11}} {
		if g, err := divide(x[0], x[1], x[2]); err == nil {
			t.Errorf("%v: %+v, want an error", x, g)
		}
	}
}

func checkNeighbours(t *testing.T, g grid, tile int) {
	t.Helper()
	y0, y1, x0, x1 := g.area(tile)
	for s := range sides {
		n, ok := g.neighbour(tile, s)
		if !ok {
			continue
		}
		if back, ok := g.neighbour(n, s.opposite()); !ok || back != tile {
			t.Fatalf("%+v: tile %d, side %d is %d, and that way back is %d", g, tile, s, n, back)
		}
		b0, b1, a0, a1 := g.area(n)
		if vertical := s == up || s == down; vertical && (a0 != x0 || a1 != x1) || !vertical && (b0 != y0 || b1 != y1) {
			t.Fatalf("%+v: tiles %d and %d do not share a side", g, tile, n)
		}
	}
}

// A plate that is too small for the tiles is an error of the job, and a rank that is missing ends the others.
func TestFailures(t *testing.T) {
	err := mpi.Run(3, func(c *mpi.Comm) error { return heat(c, options{n: 2, tiles: 4, steps: 1}, &bytes.Buffer{}) })
	if err == nil || !strings.Contains(err.Error(), "cannot be cut") {
		t.Errorf("too small: %v", err)
	}
	lost := errors.New("lost")
	err = mpi.Run(3, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return errors.Join(c.Barrier(), lost)
		}
		return heat(c, options{n: 30, tiles: 4, steps: 100}, &bytes.Buffer{})
	})
	if !errors.Is(err, lost) {
		t.Errorf("a rank is missing: %v", err)
	}
}

func TestFlags(t *testing.T) {
	o, err := parse(strings.Fields("-n 9 -tiles 2 -steps 0 -check=false"))
	if want := (options{n: 9, tiles: 2}); err != nil || o != want {
		t.Errorf("got %+v, %v", o, err)
	}
	for _, args := range []string{"-n 0", "-n 40000", "-tiles 0", "-steps -1", "extra"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
