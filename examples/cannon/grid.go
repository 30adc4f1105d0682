package main

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/golci/golci/mpi"
)

// grid is what a rank knows of the matrices: its block has size rows and columns, and the matrices n. A block that the
// matrix does not fill has zeros at its end.
type grid struct {
	c        *mpi.Comm
	cart     mpi.Cart
	q        int // ranks along a side
	row, col int // of this rank
	n, size  int
}

func newGrid(c *mpi.Comm, n int) (*grid, error) {
	cart, err := c.Cart()
	if err != nil {
		return nil, err
	}
	at, err := cart.Coords(c.Rank())
	if err != nil {
		return nil, err
	}
	dims, _ := cart.Dims()
	q := dims[0]
	return &grid{c: c, cart: cart, q: q, row: at[0], col: at[1], n: n, size: (n + q - 1) / q}, nil
}

// left and right are the matrices. They are small integers, so that sums of products are exact.
func left(i, j int) float64  { return float64((7*i+3*j)%11 - 5) }
func right(i, j int) float64 { return float64((5*i+2*j)%13 - 6) }

// fill makes this rank's block of a matrix.
func (g *grid) fill(entry func(i, j int) float64) []float64 {
	block := make([]float64, g.size*g.size)
	for y := range g.size {
		for x := range g.size {
			if i, j := g.row*g.size+y, g.col*g.size+x; i < g.n && j < g.n {
				block[y*g.size+x] = entry(i, j)
			}
		}
	}
	return block
}

// multiply gives this rank's block of the product of a and b, which it uses up.
func (g *grid) multiply(a, b []float64) ([]float64, error) {
	product := make([]float64, len(a))
	// Rank (i, j) begins with block (i, i+j) of a and block (i+j, j) of b. Both meet there, and in all later steps.
	if err := errors.Join(g.shift(a, 1, -g.row), g.shift(b, 0, -g.col)); err != nil {
		return nil, err
	}
	for step := range g.q {
		if step > 0 {
			if err := errors.Join(g.shift(a, 1, -1), g.shift(b, 0, -1)); err != nil {
				return nil, err
			}
		}
		g.add(product, a, b)
	}
	return product, nil
}

// shift moves the blocks of all ranks along a dimension.
func (g *grid) shift(block []float64, dim, by int) error {
	source, dest, err := g.cart.Shift(dim, by)
	if err != nil || dest == g.c.Rank() {
		return err
	}
	_, err = mpi.SendrecvReplace(g.c, block, dest, dim, source, dim)
	return err
}

// add adds the product of two blocks.
func (g *grid) add(product, a, b []float64) {
	for y := range g.size {
		out := product[y*g.size:][:g.size]
		for k, v := range a[y*g.size:][:g.size] {
			for x, u := range b[k*g.size:][:g.size] {
				out[x] += v * u
			}
		}
	}
}

// check compares the product with the matrices by Freivalds' method: both must give one result for a random vector.
func (g *grid) check(product []float64) error {
	rows, err := g.c.SubCart(false, true) // the ranks beside this one
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same vector on all ranks
	vector := make([]float64, g.q*g.size)
	for i := range g.n {
		vector[i] = float64(random.IntN(16))
	}
	got := make([]float64, g.size)
	part := make([]float64, g.size)
	for y := range part {
		part[y] = dot(product[y*g.size:][:g.size], vector[g.col*g.size:])
	}
	if err := mpi.Allreduce(rows, part, got, mpi.Sum); err != nil {
		return err
	}
	want := apply(left, g.row*g.size, g.size, apply(right, 0, g.n, vector[:g.n]))
	for y := range got {
		if got[y] != want[y] {
			return fmt.Errorf("rank %d: row %d gives %g, want %g", g.c.Rank(), g.row*g.size+y, got[y], want[y])
		}
	}
	return rows.Free()
}

// dot is the scalar product of a and the beginning of b.
func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// apply multiplies some rows of a matrix with a vector. Rows that the matrix does not have give 0.
func apply(entry func(i, j int) float64, first, rows int, vector []float64) []float64 {
	out := make([]float64, rows)
	for y := range out {
		if first+y >= len(vector) {
			break
		}
		for j, v := range vector {
			out[y] += entry(first+y, j) * v
		}
	}
	return out
}
