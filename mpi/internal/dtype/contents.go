package dtype

import (
	"fmt"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
)

// Envelope tells how t was made, and how many integers, addresses, large counts and types its constructor took
// (5.1.13). There are large counts where the constructor had them (Large).
func (t *Type) Envelope() (by Combiner, ints, addrs, counts, types int) {
	i, a, c := t.arguments()
	return t.combiner, len(i), len(a), len(c), len(t.types)
}

// Contents are the arguments of the constructor of t. Types with a name have none: errs.Type.
func (t *Type) Contents() (ints, addrs, counts []int64, types []*Type, err error) {
	if t.combiner == CombinerNamed {
		return nil, nil, nil, nil, fmt.Errorf("%w: %v was made by no constructor", errs.Type, t.basic)
	}
	ints, addrs, counts = t.arguments()
	return slices.Clone(ints), slices.Clone(addrs), slices.Clone(counts), slices.Clone(t.types), nil
}

// arguments are those of the constructor. One with large counts has no addresses, and its integers are those that
// count nothing.
func (t *Type) arguments() (ints, addrs, counts []int64) {
	if !t.large {
		return t.ints, t.addrs, nil
	}
	switch t.combiner {
	case CombinerSubarray: // dimensions, three lists, order
		last := len(t.ints) - 1
		return []int64{t.ints[0], t.ints[last]}, nil, t.ints[1:last]
	case CombinerDarray: // size, rank, dimensions, sizes, three lists, order
		n := 3 + int(t.ints[2])
		return join(t.ints[:3], t.ints[n:]), nil, t.ints[3:n]
	case CombinerF90Real, CombinerF90Complex, CombinerF90Integer:
		return t.ints, nil, nil
	}
	return nil, nil, join(t.ints, t.addrs)
}
