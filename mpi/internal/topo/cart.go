package topo

import (
	"fmt"
	"math"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
)

// ProcNull is MPI_PROC_NULL in the ABI: the neighbour beyond an end.
const ProcNull = -3

// Kind is the kind of a topology, by its number in the ABI (MPI_Topo_test, 8.5.5).
type Kind int

// Kinds of topologies.
const (
	None    Kind = -32766 // MPI_UNDEFINED
	IsCart  Kind = 211
	IsGraph Kind = 212
	IsDist  Kind = 213
)

// Cart is a grid of ranks, in row-major order (8.5.1). It does not change.
type Cart struct {
	dims    []int
	periods []bool
	size    int
}

// NewCart is a grid with these dimensions; periods tells which of them close to rings. No dimension makes a grid of one
// rank. errs.Dims: a dimension is not positive, or the product is more than an int of C has. errs.Arg: the lists differ
// in length.
func NewCart(dims []int, periods []bool) (*Cart, error) {
	if len(dims) != len(periods) {
		return nil, fmt.Errorf("%w: %d dimensions, %d periods", errs.Arg, len(dims), len(periods))
	}
	size := 1
	for i, d := range dims {
		if d < 1 || d > math.MaxInt32/size {
			return nil, fmt.Errorf("%w: dimension %d of %v", errs.Dims, i, dims)
		}
		size *= d
	}
	return &Cart{slices.Clone(dims), slices.Clone(periods), size}, nil
}

// Size is the number of ranks.
func (c *Cart) Size() int { return c.size }

// Dims is the dimensions and which of them are rings. Nobody may change them.
func (c *Cart) Dims() ([]int, []bool) { return c.dims, c.periods }

// Fits tells whether a communicator has ranks enough for the grid; the others get none. errs.Dims: it has not.
func (c *Cart) Fits(ranks int) error {
	if c.size > ranks {
		return fmt.Errorf("%w: a grid of %d, %d ranks", errs.Dims, c.size, ranks)
	}
	return nil
}

// Rank is the rank with these coordinates (MPI_Cart_rank). In rings they wrap around. errs.Arg: they are too few or too
// many, or one is outside of a dimension that is no ring.
func (c *Cart) Rank(coords []int) (int, error) {
	if len(coords) != len(c.dims) {
		return 0, fmt.Errorf("%w: %d coordinates in %d dimensions", errs.Arg, len(coords), len(c.dims))
	}
	rank := 0
	for i, at := range coords {
		if c.periods[i] {
			at = wrap(at, c.dims[i])
		}
		if at < 0 || at >= c.dims[i] {
			return 0, fmt.Errorf("%w: coordinate %d is %d, the dimension is %d", errs.Arg, i, at, c.dims[i])
		}
		rank = rank*c.dims[i] + at
	}
	return rank, nil
}

// wrap is at modulo n, from 0 on.
func wrap(at, n int) int { return (at%n + n) % n }

// Coords is the coordinates of a rank (MPI_Cart_coords). errs.Rank: there is no such rank.
func (c *Cart) Coords(rank int) ([]int, error) {
	if err := c.checkRank(rank); err != nil {
		return nil, err
	}
	coords := make([]int, len(c.dims))
	for i, d := range slices.Backward(c.dims) {
		coords[i] = rank % d
		rank /= d
	}
	return coords, nil
}

func (c *Cart) checkRank(rank int) error { return checkRank(rank, c.size) }

func checkRank(rank, ranks int) error {
	if rank < 0 || rank >= ranks {
		return fmt.Errorf("%w: rank %d of %d", errs.Rank, rank, ranks)
	}
	return nil
}

// stride is how far apart ranks are whose coordinate in the dimension differs by 1.
func (c *Cart) stride(dim int) int {
	stride := 1
	for _, d := range c.dims[dim+1:] {
		stride *= d
	}
	return stride
}

// Shift is the ranks from which data comes to a rank, and to which it goes, when all move by disp along a dimension
// (MPI_Cart_shift); ProcNull beyond an end. errs.Topology: the grid has no dimension. errs.Arg: it has no such one.
// errs.Rank: there is no such rank.
func (c *Cart) Shift(rank, dim, disp int) (source, dest int, err error) {
	switch {
	case len(c.dims) == 0:
		return 0, 0, fmt.Errorf("%w: a shift in a grid without dimensions", errs.Topology)
	case dim < 0 || dim >= len(c.dims):
		return 0, 0, fmt.Errorf("%w: dimension %d of %d", errs.Arg, dim, len(c.dims))
	}
	if err := c.checkRank(rank); err != nil {
		return 0, 0, err
	}
	n := c.dims[dim]
	if c.periods[dim] {
		disp %= n
	} else {
		disp = max(-n, min(n, disp)) // no sum overflows
	}
	return c.moved(rank, dim, -disp), c.moved(rank, dim, disp), nil
}

// moved is the rank at that distance, at most a dimension, along dim.
func (c *Cart) moved(rank, dim, by int) int {
	n, stride := c.dims[dim], c.stride(dim)
	at := rank / stride % n
	to := at + by
	if c.periods[dim] {
		to = wrap(to, n)
	}
	if to < 0 || to >= n {
		return ProcNull
	}
	return rank + (to-at)*stride
}

// Neighbors is the neighbours of a rank in the order of neighbourhood collectives (8.6): for each dimension the one
// before and the one behind. The same list holds for sources and destinations. errs.Rank: there is no such rank.
func (c *Cart) Neighbors(rank int) ([]int, error) {
	if err := c.checkRank(rank); err != nil {
		return nil, err
	}
	list := make([]int, 0, 2*len(c.dims))
	for dim := range c.dims {
		list = append(list, c.moved(rank, dim, -1), c.moved(rank, dim, 1))
	}
	return list, nil
}

// Sub is the grid of the dimensions that remain (MPI_Cart_sub), and where a rank is in its parts: color tells the
// parts apart, key is its rank in the part. errs.Arg: remain has another number of dimensions. errs.Rank: there is no
// such rank.
func (c *Cart) Sub(rank int, remain []bool) (sub *Cart, color, key int, err error) {
	if len(remain) != len(c.dims) {
		return nil, 0, 0, fmt.Errorf("%w: a choice of %d dimensions of %d", errs.Arg, len(remain), len(c.dims))
	}
	coords, err := c.Coords(rank)
	if err != nil {
		return nil, 0, 0, err
	}
	sub = &Cart{size: 1}
	for i, d := range c.dims {
		if !remain[i] {
			color = color*d + coords[i]
			continue
		}
		key = key*d + coords[i]
		sub.size *= d
		sub.dims, sub.periods = append(sub.dims, d), append(sub.periods, c.periods[i])
	}
	return sub, color, key, nil
}

// Edges lists the pairs of neighbours, each once.
func (c *Cart) Edges() (edges []Edge) {
	for rank := range c.size {
		for dim := range c.dims {
			if to := c.moved(rank, dim, 1); to != ProcNull && to != rank {
				edges = append(edges, Edge{rank, to, 1})
			}
		}
	}
	return edges
}
