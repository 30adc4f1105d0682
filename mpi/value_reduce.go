package mpi

import "cmp"

// Reductions of values by a function of the program. One rank combines the values of all, in the order of ranks, so
// that the function need not be commutative, and all ranks get the same. For numbers and structs of these the
// reductions of slices are quicker: there the ranks share the work.

// ReduceValue gives rank root of c op(...op(op(v0, v1), v2)..., vn), of the values of all ranks by rank (6.9.1). The
// others get the zero value. On an inter-communicator the values are those of the other group. op may change its first
// argument. It waits, and may switch threads. A panic of op goes through. Errors as for GatherValue; ErrOp for a nil
// op.
func ReduceValue[T any](c *Comm, v T, op func(a, b T) T, root int) (T, error) {
	return reduceValue(c, "ReduceValue", v, op, root)
}

func reduceValue[T any](c *Comm, what string, v T, op func(a, b T) T, root int) (sum T, err error) {
	if op == nil {
		return sum, nilFunction(c, what)
	}
	vs, err := gatherValue(c, what, v, root)
	if err != nil || len(vs) == 0 {
		return sum, err
	}
	return folded(vs, op), nil
}

func nilFunction(c *Comm, what string) error {
	return c.core().Errorf(what, ": %w: the function is nil", ErrOp)
}

// folded combines values from the first to the last.
func folded[T any](vs []T, op func(a, b T) T) T {
	all := vs[0]
	for _, v := range vs[1:] {
		all = op(all, v)
	}
	return all
}

// AllreduceValue is ReduceValue that gives the result to all ranks (6.9.6). Rank 0 combines. On an inter-communicator
// each rank combines the values of the other group. If op panics at rank 0 the other ranks get ErrType, and then the
// panic goes on. Errors as for AllgatherValue, and ErrType where the result cannot be encoded; ErrOp for a nil op.
func AllreduceValue[T any](c *Comm, v T, op func(a, b T) T) (sum T, err error) {
	const what = "AllreduceValue"
	if op == nil {
		return sum, nilFunction(c, what)
	}
	if c.Inter() {
		vs, err := allgatherValue(c, what, v)
		if err != nil || len(vs) == 0 {
			return sum, err
		}
		return folded(vs, op), nil
	}
	var b []byte
	var own error
	panicked := caught(func() {
		if sum, own = reduceValue(c, what, v, op, 0); c.Rank() == 0 && own == nil {
			b, own = c.packColl(what, &sum)
		}
	})
	got, err := valueCall{c, what, 0}.bcast(b)
	if panicked != nil {
		panic(panicked)
	}
	if err := cmp.Or(own, err); err != nil || c.Rank() == 0 {
		return sum, err
	}
	return unpackFrom[T](c, what, got, Status{Source: 0, Tag: 0})
}

// ScanValue gives each rank of c op(...op(v0, v1)..., vi), of the values of ranks 0 to its own (6.11.1). Rank 0
// combines. op may change its first argument. It waits, and may switch threads. Errors as for AllreduceValue. An
// inter-communicator is not allowed.
func ScanValue[T any](c *Comm, v T, op func(a, b T) T) (T, error) {
	return scanValue(c, "ScanValue", v, op, 0)
}

// ExscanValue is ScanValue without the rank's own value (6.11.2). Rank 0 gets the zero value.
func ExscanValue[T any](c *Comm, v T, op func(a, b T) T) (T, error) {
	return scanValue(c, "ExscanValue", v, op, 1)
}

// scanValue gives rank i what the values up to that of rank i-behind make.
func scanValue[T any](c *Comm, what string, v T, op func(a, b T) T, behind int) (sum T, err error) {
	if op == nil {
		return sum, nilFunction(c, what)
	}
	if c.Inter() {
		return sum, c.core().Errorf(what, ": %w: the communicator has two groups", ErrComm)
	}
	vs, own := gatherValue(c, what, v, 0)
	var all []byte
	var lens []int64
	var panicked any
	if c.Rank() == 0 {
		lens = make([]int64, c.Size())
	}
	if c.Rank() == 0 && own == nil {
		panicked = caught(func() { all, own = prefixes(c, what, vs, op, lens[behind:]) })
	}
	if all == nil {
		clear(lens)
	}
	b, err := valueCall{c, what, 0}.scatter(all, lens)
	if panicked != nil {
		panic(panicked)
	}
	if err := cmp.Or(own, err); err != nil || c.Rank() < behind {
		return sum, err
	}
	return unpackFrom[T](c, what, b, Status{Source: 0, Tag: 0})
}

// caught calls f, and returns what it panics with.
func caught(f func()) (panicked any) {
	defer func() { panicked = recover() }()
	f()
	return nil
}

// prefixes encodes what the first values make, as many times as there are lens, and sets these. Each is encoded before
// op sees it again.
func prefixes[T any](c *Comm, what string, vs []T, op func(a, b T) T, lens []int64) (all []byte, err error) {
	sum := vs[0]
	for i := range lens {
		if i > 0 {
			sum = op(sum, vs[i])
		}
		b, err := c.packColl(what, &sum)
		if err != nil {
			return nil, err
		}
		all, lens[i] = append(all, b...), int64(len(b))
	}
	return all, nil
}
