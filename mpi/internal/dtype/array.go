package dtype

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/errs"
)

// Order tells which index of an array runs fastest; its number is that of the ABI.
type Order int64

// The orders.
const (
	OrderC       Order = 12 // the last one
	OrderFortran Order = 15 // the first one
)

// Distribution tells how a dimension is dealt to the ranks of a grid; its number is that of the ABI.
type Distribution int64

// The distributions, and the argument that leaves the length of a block open.
const (
	DistributeNone    Distribution = 16
	DistributeBlock   Distribution = 17
	DistributeCyclic  Distribution = 18
	DistributeDefault int64        = 19 // MPI_DISTRIBUTE_DFLT_DARG
)

// Subarray is the part of an array that has subsizes elements from starts on. Its extent is that of the whole array
// (5.1.3).
func Subarray(sizes, subsizes, starts []int64, order Order, t *Type) (*Type, error) {
	if err := checkSubarray(sizes, subsizes, starts, order, t); err != nil {
		return nil, err
	}
	a := grow(t)
	for k := range sizes {
		d := dimension(order, k, len(sizes))
		a.repeat(subsizes[d], starts[d], sizes[d])
	}
	ints := join([]int64{int64(len(sizes))}, sizes, subsizes, starts, []int64{int64(order)})
	return a.endDims(CombinerSubarray, ints, t)
}

func checkSubarray(sizes, subsizes, starts []int64, order Order, t *Type) error {
	if err := checkArray(len(sizes), order, t); err != nil {
		return err
	}
	if len(subsizes) != len(sizes) || len(starts) != len(sizes) {
		return fmt.Errorf("%w: %d dimensions, %d lengths, %d starts", errs.Arg, len(sizes), len(subsizes), len(starts))
	}
	for d := range sizes {
		if n, start := subsizes[d], starts[d]; n < 1 || n > sizes[d] || start < 0 || start > sizes[d]-n {
			return fmt.Errorf("%w: dimension %d has %d elements, of which %d from %d on are wanted",
				errs.Arg, d, sizes[d], n, start)
		}
	}
	return nil
}

func checkArray(dims int, order Order, t *Type) error {
	switch {
	case t == nil:
		return fmt.Errorf("%w: no datatype", errs.Type)
	case dims < 1:
		return fmt.Errorf("%w: an array of %d dimensions", errs.Arg, dims)
	case order != OrderC && order != OrderFortran:
		return fmt.Errorf("%w: order %d", errs.Arg, order)
	}
	return nil
}

// dimension is the k-th of n dimensions, from the fastest one on.
func dimension(order Order, k, n int) int {
	if order == OrderC {
		return n - 1 - k
	}
	return k
}

// Darray is what one of the ranks of a grid has of an array that is dealt to them all. Grid places are in C order
// (5.1.4).
func Darray(size, rank int64, gsizes []int64, distribs []Distribution, dargs, psizes []int64, order Order, t *Type,
) (*Type, error) {
	if err := checkDarray(size, rank, gsizes, distribs, dargs, psizes, order, t); err != nil {
		return nil, err
	}
	place := make([]int64, len(psizes))
	for d, r := len(psizes)-1, rank; d >= 0; d-- {
		place[d], r = r%psizes[d], r/psizes[d]
	}
	a := grow(t)
	for k := range gsizes {
		d := dimension(order, k, len(gsizes))
		a.deal(gsizes[d], blockOf(distribs[d], dargs[d], gsizes[d], psizes[d]), place[d], psizes[d])
	}
	kinds := make([]int64, len(distribs))
	for d := range distribs {
		kinds[d] = int64(distribs[d])
	}
	ints := join([]int64{size, rank, int64(len(gsizes))}, gsizes, kinds, dargs, psizes, []int64{int64(order)})
	return a.endDims(CombinerDarray, ints, t)
}

func checkDarray(size, rank int64, gsizes []int64, distribs []Distribution, dargs, psizes []int64, order Order, t *Type,
) error {
	n := len(gsizes)
	if err := checkArray(n, order, t); err != nil {
		return err
	}
	if len(distribs) != n || len(dargs) != n || len(psizes) != n {
		return fmt.Errorf("%w: %d dimensions, %d distributions, %d arguments, %d grid sizes",
			errs.Arg, n, len(distribs), len(dargs), len(psizes))
	}
	if size < 1 || rank < 0 || rank >= size {
		return fmt.Errorf("%w: rank %d of %d", errs.Arg, rank, size)
	}
	var c checked
	ranks := int64(1)
	for d := range gsizes {
		if gsizes[d] < 1 || psizes[d] < 1 {
			return fmt.Errorf("%w: dimension %d has %d elements on %d ranks", errs.Arg, d, gsizes[d], psizes[d])
		}
		if !fits(distribs[d], dargs[d], gsizes[d], psizes[d]) {
			return fmt.Errorf("%w: dimension %d of %d elements on %d ranks: distribution %d, argument %d",
				errs.Arg, d, gsizes[d], psizes[d], distribs[d], dargs[d])
		}
		ranks = c.mul(ranks, psizes[d])
	}
	if c.overflow || ranks != size {
		return fmt.Errorf("%w: the grid is not one of %d ranks", errs.Arg, size)
	}
	return nil
}

// fits reports that elements may be dealt to that many ranks in this way.
func fits(how Distribution, darg, elements, ranks int64) bool {
	switch how {
	case DistributeNone:
		return ranks == 1
	case DistributeBlock:
		return darg == DistributeDefault || darg > 0 && darg >= ceil(elements, ranks)
	case DistributeCyclic:
		return darg == DistributeDefault || darg > 0
	}
	return false
}

// blockOf is how many elements in a row a rank gets.
func blockOf(how Distribution, darg, elements, ranks int64) int64 {
	switch {
	case how == DistributeNone:
		return elements
	case darg != DistributeDefault:
		return min(darg, elements)
	case how == DistributeBlock:
		return ceil(elements, ranks)
	}
	return 1
}

func ceil(a, b int64) int64 { return (a-1)/b + 1 }

// grower makes a type of a part of an array, dimension by dimension, the fastest one first.
type grower struct {
	t   *Type // of one element of the next dimension; its extent is that of the element, with all that is not wanted
	err error
}

func grow(t *Type) *grower { return &grower{t: t} }

// repeat goes on to the next dimension, which has size elements, of which n from start on are wanted.
func (g *grower) repeat(n, start, size int64) {
	unit := g.t.ub - g.t.lb
	g.nextDim(1, 0, size, block{n, g.mul(start, unit), g.t})
}

// deal goes on to the next dimension. Its size elements are dealt in blocks, in turn to each of some ranks.
func (g *grower) deal(size, length, place, ranks int64) {
	if g.err != nil {
		return
	}
	unit := g.t.ub - g.t.lb
	round := g.mul(length, ranks)
	start := g.mul(place, length)
	if g.err != nil || start >= size {
		g.nextDim(0, 0, size)
		return
	}
	n := ceil(size-start, round)
	last := start + (n-1)*round
	rest := size - last
	if rest >= length {
		g.nextDim(n, g.mul(round, unit), size, block{length, g.mul(start, unit), g.t})
		return
	}
	whole := &Type{reps: n - 1, step: g.mul(round, unit), blocks: []block{{length, g.mul(start, unit), g.t}}}
	if g.measure(whole) {
		g.nextDim(1, 0, size, block{1, 0, whole}, block{rest, g.mul(last, unit), g.t})
	}
}

// nextDim makes the type of a whole dimension of size elements.
func (g *grower) nextDim(reps, step, size int64, blocks ...block) {
	if g.err != nil {
		return
	}
	extent := g.mul(size, g.t.ub-g.t.lb)
	t := &Type{reps: reps, step: step, blocks: blocks}
	if g.measure(t) {
		t.lb, t.ub, t.marked = 0, extent, true
		g.t = t
	}
}

func (g *grower) measure(t *Type) bool {
	if g.err == nil {
		g.err = t.measure()
	}
	return g.err == nil
}

func (g *grower) mul(a, b int64) int64 {
	var c checked
	p := c.mul(a, b)
	if c.overflow && g.err == nil {
		g.err = fmt.Errorf("%w: an array of more bytes than a 64-bit number counts", errs.ValueTooLarge)
	}
	return p
}

// endDims gives the type the arguments of its constructor.
func (g *grower) endDims(by Combiner, ints []int64, of *Type) (*Type, error) {
	if g.err != nil {
		return nil, g.err
	}
	g.t.combiner, g.t.ints, g.t.types = by, ints, []*Type{of}
	return g.t, nil
}
