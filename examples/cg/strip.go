package main

import (
	"math"

	"github.com/golci/golci/mpi"
)

// strip is one rank's rows of the grid. Points lie at multiples of h; the value is 0 on the border of the unit square.
type strip struct {
	c           *mpi.Comm
	n           int // points of a row
	first, rows int // rows of this rank, of n
	h           float64
}

func newStrip(c *mpi.Comm, n int) *strip {
	first, end := n*c.Rank()/c.Size(), n*(c.Rank()+1)/c.Size()
	return &strip{c: c, n: n, first: first, rows: end - first, h: 1 / float64(n+1)}
}

// field has the strip's rows between one row of the rank above and one of the rank below. A row has a 0 at both ends.
type field struct {
	values []float64
	width  int
}

func (s *strip) field() field {
	return field{values: make([]float64, (s.rows+2)*(s.n+2)), width: s.n + 2}
}

func (f field) row(i int) []float64 { return f.values[i*f.width : (i+1)*f.width] }

// sample is a function's values at the points of the strip.
func (s *strip) sample(of func(x, y float64) float64) field {
	f := s.field()
	for i := 1; i <= s.rows; i++ {
		for j := 1; j <= s.n; j++ {
			f.row(i)[j] = of(float64(j)*s.h, float64(s.first+i)*s.h)
		}
	}
	return f
}

// The exact solution, and minus its Laplacian. Fourth derivatives are 0, so differences give second ones exactly.
func solution(x, y float64) float64 { return x * (1 - x) * y * (1 - y) }

func force(x, y float64) float64 { return 2 * (x*(1-x) + y*(1-y)) }

// errorLimit bounds the error of a solution by the norm of its residual: the least eigenvalue is at least 16. The
// second term is for the rounding of a residual, whose terms are values over h^2.
func (s *strip) errorLimit(residual float64) float64 { return residual/16 + 1e-15/(s.h*s.h) }

// largestError is the largest distance of x from a function, over all ranks.
func (s *strip) largestError(x field, want func(x, y float64) float64) (float64, error) {
	exact, off := s.sample(want), 0.0
	for i := 1; i <= s.rows; i++ {
		for j, v := range exact.row(i) {
			off = max(off, math.Abs(x.row(i)[j]-v))
		}
	}
	return mpi.AllreduceOne(s.c, off, mpi.Max)
}

// exchange fetches the rows beside the strip. A rank without rows takes no part: its neighbours are those that have
// some.
func (s *strip) exchange(f field) error {
	if s.rows == 0 {
		return nil
	}
	const up, down = 1, 2
	above, below := s.owner(s.first-1), s.owner(s.first+s.rows)
	if _, err := mpi.Sendrecv(s.c, f.row(1), above, up, f.row(s.rows+1), below, up); err != nil {
		return err
	}
	_, err := mpi.Sendrecv(s.c, f.row(s.rows), below, down, f.row(0), above, down)
	return err
}

// owner is the rank that has a row, and ProcNull for the border.
func (s *strip) owner(row int) int {
	if row < 0 || row >= s.n {
		return mpi.ProcNull
	}
	return ((row+1)*s.c.Size() - 1) / s.n
}

// apply makes out the negative Laplacian of in, whose neighbouring rows it fetches.
func (s *strip) apply(in, out field) error {
	if err := s.exchange(in); err != nil {
		return err
	}
	scale := 1 / (s.h * s.h)
	for i := 1; i <= s.rows; i++ {
		above, here, below, to := in.row(i-1), in.row(i), in.row(i+1), out.row(i)
		for j := 1; j <= s.n; j++ {
			to[j] = scale * (4*here[j] - here[j-1] - here[j+1] - above[j] - below[j])
		}
	}
	return nil
}

// dot is the scalar product over all ranks.
func (s *strip) dot(a, b field) (float64, error) {
	sum := 0.0
	for i := 1; i <= s.rows; i++ {
		other := b.row(i)
		for j, v := range a.row(i) {
			sum += v * other[j]
		}
	}
	return mpi.AllreduceOne(s.c, sum, mpi.Sum)
}
