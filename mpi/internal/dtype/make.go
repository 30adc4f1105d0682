package dtype

import (
	"fmt"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
)

// Combiner tells by which constructor a type was made; its number is that of the ABI.
type Combiner int

// The combiners (5.1.13).
const (
	CombinerNamed         Combiner = 101
	CombinerDup           Combiner = 102
	CombinerContiguous    Combiner = 103
	CombinerVector        Combiner = 104
	CombinerHvector       Combiner = 105
	CombinerIndexed       Combiner = 106
	CombinerHindexed      Combiner = 107
	CombinerIndexedBlock  Combiner = 108
	CombinerHindexedBlock Combiner = 109
	CombinerStruct        Combiner = 110
	CombinerSubarray      Combiner = 111
	CombinerDarray        Combiner = 112
	CombinerF90Real       Combiner = 113
	CombinerF90Complex    Combiner = 114
	CombinerF90Integer    Combiner = 115
	CombinerResized       Combiner = 116
	CombinerValueIndex    Combiner = 117
)

// Contiguous is n elements of t, one behind the other (5.1.2).
func Contiguous(n int64, t *Type) (*Type, error) {
	return finish(&Type{
		combiner: CombinerContiguous, ints: []int64{n}, types: []*Type{t},
		reps: 1, blocks: []block{{n, 0, t}},
	}, n)
}

// Vector is n blocks of equal length. Their beginnings are stride elements apart.
func Vector(n, length, stride int64, t *Type) (*Type, error) {
	var c checked
	step := stride
	if t != nil {
		step = c.mul(stride, t.ub-t.lb)
	}
	if c.overflow && n > 1 {
		return nil, fmt.Errorf("%w: a stride of %d elements", errs.ValueTooLarge, stride)
	}
	return finish(&Type{
		combiner: CombinerVector, ints: []int64{n, length, stride}, types: []*Type{t},
		reps: n, step: step, blocks: []block{{length, 0, t}},
	}, n)
}

// Hvector is Vector with a stride in bytes.
func Hvector(n, length, stride int64, t *Type) (*Type, error) {
	return finish(&Type{
		combiner: CombinerHvector, ints: []int64{n, length}, addrs: []int64{stride}, types: []*Type{t},
		reps: n, step: stride, blocks: []block{{length, 0, t}},
	}, n)
}

// Indexed is blocks of the given lengths, each displs elements from the beginning.
func Indexed(lengths, displs []int64, t *Type) (*Type, error) {
	blocks, err := indexed(lengths, displs, t, true)
	if err != nil {
		return nil, err
	}
	return finish(&Type{
		combiner: CombinerIndexed, ints: join([]int64{int64(len(displs))}, lengths, displs), types: []*Type{t},
		reps: 1, blocks: blocks,
	}, 0)
}

// Hindexed is Indexed with displacements in bytes.
func Hindexed(lengths, displs []int64, t *Type) (*Type, error) {
	blocks, err := indexed(lengths, displs, t, false)
	if err != nil {
		return nil, err
	}
	return finish(&Type{
		combiner: CombinerHindexed, ints: join([]int64{int64(len(displs))}, lengths), addrs: slices.Clone(displs),
		types: []*Type{t}, reps: 1, blocks: blocks,
	}, 0)
}

// IndexedBlock is Indexed with blocks of one length.
func IndexedBlock(length int64, displs []int64, t *Type) (*Type, error) {
	blocks, err := indexed(same(length, len(displs)), displs, t, true)
	if err != nil {
		return nil, err
	}
	return finish(&Type{
		combiner: CombinerIndexedBlock, ints: join([]int64{int64(len(displs)), length}, displs), types: []*Type{t},
		reps: 1, blocks: blocks,
	}, length)
}

// HindexedBlock is IndexedBlock with displacements in bytes.
func HindexedBlock(length int64, displs []int64, t *Type) (*Type, error) {
	blocks, err := indexed(same(length, len(displs)), displs, t, false)
	if err != nil {
		return nil, err
	}
	return finish(&Type{
		combiner: CombinerHindexedBlock, ints: []int64{int64(len(displs)), length}, addrs: slices.Clone(displs),
		types: []*Type{t}, reps: 1, blocks: blocks,
	}, length)
}

// Struct is blocks of different types at displacements in bytes. Its extent is rounded up to the alignment.
func Struct(lengths, displs []int64, types []*Type) (*Type, error) {
	if len(lengths) != len(types) || len(displs) != len(types) {
		return nil, fmt.Errorf("%w: %d lengths and %d displacements for %d types",
			errs.Arg, len(lengths), len(displs), len(types))
	}
	t := &Type{
		combiner: CombinerStruct, ints: join([]int64{int64(len(types))}, lengths), addrs: slices.Clone(displs),
		types: slices.Clone(types), reps: 1, blocks: make([]block, len(types)),
	}
	for i := range types {
		t.blocks[i] = block{lengths[i], displs[i], types[i]}
	}
	t, err := finish(t, 0)
	if err == nil {
		t.pad()
	}
	return t, err
}

// Resized is t with other bounds (5.1.7).
func Resized(lb, extent int64, t *Type) (*Type, error) {
	var c checked
	r, err := finish(&Type{
		combiner: CombinerResized, addrs: []int64{lb, extent}, types: []*Type{t}, reps: 1, blocks: []block{{1, 0, t}},
	}, 0)
	if err != nil {
		return nil, err
	}
	r.lb, r.ub, r.marked = lb, c.addChecked(lb, extent), true
	if c.overflow {
		return nil, fmt.Errorf("%w: an extent of %d bytes from %d on", errs.ValueTooLarge, extent, lb)
	}
	return r, nil
}

// Dup is a copy of t, committed if t is (5.1.10).
func Dup(t *Type) (*Type, error) {
	d, err := finish(&Type{combiner: CombinerDup, types: []*Type{t}, reps: 1, blocks: []block{{1, 0, t}}}, 0)
	if err != nil {
		return nil, err
	}
	if t.Committed() {
		d.Commit()
	}
	return d, nil
}

// indexed makes blocks; displacements are in elements or in bytes.
func indexed(lengths, displs []int64, t *Type, elements bool) ([]block, error) {
	if len(lengths) != len(displs) {
		return nil, fmt.Errorf("%w: %d lengths for %d displacements", errs.Arg, len(lengths), len(displs))
	}
	var c checked
	unit := int64(1)
	if elements && t != nil {
		unit = t.ub - t.lb
	}
	blocks := make([]block, len(displs))
	for i, d := range displs {
		blocks[i] = block{lengths[i], c.mul(d, unit), t}
		if c.overflow {
			return nil, fmt.Errorf("%w: displacement %d is %d elements", errs.ValueTooLarge, i, d)
		}
	}
	return blocks, nil
}

// finish checks what was given for the type map of t, count apart, and measures it.
func finish(t *Type, count int64) (*Type, error) {
	if count < 0 || t.reps < 0 {
		return nil, fmt.Errorf("%w: %d is negative", errs.Count, min(count, t.reps))
	}
	for i := range t.blocks {
		switch b := &t.blocks[i]; {
		case b.t == nil:
			return nil, fmt.Errorf("%w: component %d is no datatype", errs.Type, i)
		case b.n < 0:
			return nil, fmt.Errorf("%w: the length of block %d is %d", errs.Arg, i, b.n)
		}
	}
	if len(t.blocks) == 0 && slices.Contains(t.types, nil) {
		return nil, fmt.Errorf("%w: no datatype", errs.Type)
	}
	if err := t.measure(); err != nil {
		return nil, err
	}
	return t, nil
}

func join(lists ...[]int64) []int64 { return slices.Concat(lists...) }

// same is n times the value v.
func same(v int64, n int) []int64 { return slices.Repeat([]int64{v}, n) }
