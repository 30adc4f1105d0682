package main

import (
	"bytes"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestProduct: the product is right on grids of all sizes, with ranks that rest, and with blocks that are not full.
func TestProduct(t *testing.T) {
	for _, ranks := range []int{1, 3, 4, 9, 10} {
		for _, n := range []int{1, 2, 7, 24} {
			var out bytes.Buffer // rank 0 alone writes to it
			if err := mpi.Run(ranks, func(c *mpi.Comm) error { return cannon(c, options{n}, &out) }); err != nil {
				t.Fatalf("%d ranks, %d rows: %v", ranks, n, err)
			}
			if got := out.String(); strings.Count(got, "\n") != 3 || !strings.Contains(got, "check: the product is exact") {
				t.Errorf("%d ranks, %d rows printed\n%s", ranks, n, got)
			}
		}
	}
}

// TestEntries compares each entry with the definition of a product.
func TestEntries(t *testing.T) {
	const n = 5
	err := mpi.Run(4, func(c *mpi.Comm) error {
		square, err := c.CreateCart([]int{2, 2}, []bool{true, true}, false)
		if err != nil {
			return err
		}
		g, err := newGrid(square, n)
		if err != nil {
			return err
		}
		product, err := g.multiply(g.fill(left), g.fill(right))
		for y := range g.size {
			for x := range g.size {
				want := 0.0
				i, j := g.row*g.size+y, g.col*g.size+x
				for k := 0; k < n && i < n && j < n; k++ {
					want += left(i, k) * right(k, j)
				}
				if got := product[y*g.size+x]; got != want {
					t.Errorf("entry %d, %d is %g, want %g", i, j, got, want)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCheckFinds: one wrong entry is found.
func TestCheckFinds(t *testing.T) {
	err := mpi.Run(1, func(c *mpi.Comm) error {
		square, err := c.CreateCart([]int{1, 1}, []bool{true, true}, false)
		if err != nil {
			return err
		}
		g, err := newGrid(square, 6)
		if err != nil {
			return err
		}
		product, err := g.multiply(g.fill(left), g.fill(right))
		if err != nil {
			return err
		}
		product[14]++
		return g.check(product)
	})
	if err == nil || !strings.Contains(err.Error(), "row 2 gives") {
		t.Errorf("got %v", err)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range []string{"-n 0", "word"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
