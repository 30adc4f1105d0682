package mpi

import (
	"errors"
	"fmt"
	"math"
)

// reducesTo checks that ranks whose elements f gives combine to want.
func reducesTo[T comparable](op Op[T], f func(rank int) T, want func(size int) T) func(c *Comm) error {
	return func(c *Comm) error {
		x := []T{f(c.Rank()), f(c.Rank())}
		got := make([]T, 2)
		one, bad := AllreduceOne(c, f(c.Rank()), op)
		return errors.Join(Allreduce(c, x, got, op), bad, is("first", got[0], want(c.Size())),
			is("last", got[1], want(c.Size())),
			is("one", one, want(c.Size())))
	}
}

func always[T any](v T) func(int) T { return func(int) T { return v } }

// sumRule adds rank + 1 in elements of one type.
func sumRule[T Number](ranks int, one T) rule {
	return rule{"6.9.2", fmt.Sprintf("sums of %T", one), ranks, reducesTo(Sum[T], func(rank int) T {
		var x T
		for range rank + 1 {
			x += one
		}
		return x
	}, func(size int) T {
		var x T
		for range size * (size + 1) / 2 {
			x += one
		}
		return x
	})}
}

// inOrder checks a collective that combines functions of n elements: result tells how many ranks have been before.
func inOrder(n int, call func(c *Comm, send, recv []affine, op Op[affine]) (ranks int, err error)) func(c *Comm) error {
	return func(c *Comm) error {
		send, recv := make([]affine, n), make([]affine, n)
		for i := range send {
			send[i] = affineOf(c.Rank(), i)
		}
		ranks, err := call(c, send, recv, compose)
		if err != nil || ranks == 0 {
			return err
		}
		for i, v := range recv {
			if want := before(ranks, i); v != want {
				return fmt.Errorf("element %d is %v, want %v", i, v, want)
			}
		}
		return nil
	}
}

// operationRules are those of operations (6.9.2 to 6.9.7).
func operationRules() []rule {
	rules := []rule{
		{"6.9.2", "max", 5, reducesTo(Max[int], func(r int) int { return -r }, always(0))},
		{"6.9.2", "min", 4, reducesTo(Min[int], func(r int) int { return 7 - r }, func(n int) int { return 8 - n })},
		{"6.9.2", "max of unsigned numbers", 3, reducesTo(Max[uint8], func(r int) uint8 { return uint8(200 + r) },
			func(n int) uint8 { return uint8(199 + n) })},
		{"6.9.2", "min of signed bytes", 3, reducesTo(Min[int8], func(r int) int8 { return int8(100 - 100*r) },
			always[int8](-100))},
		{"6.9.2", "max of float64", 6, reducesTo(Max[float64], func(r int) float64 { return float64(r) - 2.5 },
			func(n int) float64 { return float64(n) - 3.5 })},
		{"6.9.2", "min with an infinity", 2, reducesTo(Min[float32], func(r int) float32 {
			return []float32{1, float32(math.Inf(-1))}[r]
		}, always(float32(math.Inf(-1))))},
		{"6.9.2", "products", 5, reducesTo(Prod[int64], func(r int) int64 { return int64(r + 1) }, always[int64](120))},
		{"6.9.2", "products of complex numbers", 4, reducesTo(Prod[complex128], always(1i), always[complex128](1))},
		{"6.9.2", "logical and", 3, reducesTo(Land[bool], func(r int) bool { return r != 1 }, always(false))},
		{"6.9.2", "logical and of all", 7, reducesTo(Land[bool], always(true), always(true))},
		{"6.9.2", "logical or", 3, reducesTo(Lor[bool], func(r int) bool { return r == 2 }, always(true))},
		{"6.9.2", "logical or of none", 2, reducesTo(Lor[bool], always(false), always(false))},
		{"6.9.2", "logical exclusive or", 5, reducesTo(Lxor[bool], always(true), func(n int) bool { return n%2 == 1 })},
		{"6.9.2", "bitwise and", 4, reducesTo(Band[uint32], func(r int) uint32 { return ^uint32(1 << r) },
			always(^uint32(15)))},
		{"6.9.2", "bitwise or", 8, reducesTo(Bor[uint64], func(r int) uint64 { return 1 << (8 * r) },
			always[uint64](0x0101010101010101))},
		{"6.9.2", "bitwise exclusive or", 3, reducesTo(Bxor[int16], func(r int) int16 { return []int16{5, 3, -1}[r] },
			always[int16](5^3^-1))},
		{"6.9.4", "maximum with its place", 6, reducesTo(MaxLoc[float64], func(r int) Loc[float64] {
			return Loc[float64]{float64(r % 3), r}
		}, always(Loc[float64]{2, 2}))},
		{"6.9.4", "minimum with its place", 6, reducesTo(MinLoc[int32], func(r int) Loc[int32] {
			return Loc[int32]{int32(-(r % 3)), r}
		}, always(Loc[int32]{-2, 2}))},
		{"6.9.4", "of equal values the lowest place counts", 8, reducesTo(MaxLoc[int], func(r int) Loc[int] {
			return Loc[int]{1, 20 - r}
		}, always(Loc[int]{1, 13}))},
		{"6.9.4", "of equal values the lowest place counts, minimum", 5, reducesTo(MinLoc[int], func(r int) Loc[int] {
			return Loc[int]{1, 20 - r}
		}, always(Loc[int]{1, 16}))},
		sumRule[int8](3, 1), sumRule[int16](4, 1), sumRule[int32](5, 1), sumRule[int64](6, 1), sumRule[uint8](7, 1),
		sumRule[uint16](8, 1), sumRule[uint32](2, 1), sumRule[uint64](1, 1), sumRule[float32](3, 0.5),
		sumRule[float64](5, 0.25),
		sumRule[complex64](4, 1-2i), sumRule[complex128](6, 2+1i), sumRule[int](8, 3), sumRule[uint](7, 3),
		{"6.9.2", "sums wrap around", 2, reducesTo(Sum[uint8], always[uint8](200), always[uint8](144))},
		{"6.9.5", "a function that commutes", 5, reducesTo(Func(func(a, b int) int { return a + b + 10 }).Commutative(),
			func(r int) int { return r }, func(n int) int { return n*(n-1)/2 + 10*(n-1) })},
		{"6.9.5", "a function of vectors", 6, reducesTo(VectorFunc(func(in, inout []int32) {
			for i := range in {
				inout[i] = max(in[i], inout[i])
			}
		}), func(r int) int32 { return int32(r) }, func(n int) int32 { return int32(n - 1) })},
		{"6.9.5", "no function", 1, func(c *Comm) error {
			return errors.Join(fails("nil", Allreduce(c, one(), one(), nil), ErrOp),
				fails("Func", Allreduce(c, one(), one(), Func[int](nil)), ErrOp))
		}},
		{"6.9.7", "a reduction of one rank", 1, func(*Comm) error {
			inout := []int{10, 20, 30}
			return errors.Join(ReduceLocal([]int{1, 2}, inout, Sum), listIs("result", inout, []int{11, 22, 30}))
		}},
		{"6.9.7", "a reduction of one rank has the order of its arguments", 1, func(*Comm) error {
			inout := []affine{affineOf(1, 0)}
			return errors.Join(ReduceLocal([]affine{affineOf(0, 0)}, inout, compose), is("result", inout[0], before(2, 0)))
		}},
		{"6.9.7", "a reduction of one rank without room", 1, func(*Comm) error {
			return fails("ReduceLocal", ReduceLocal([]int{1, 2}, []int{1}, Sum), ErrCount)
		}},
	}
	for i, k := range orderedCalls {
		rules = append(
			rules,
			rule{"6.9.5", k.name + " combines in the order of ranks", 3 + i%6, inOrder(2, k.call)},
			rule{"6.9.5", k.name + " combines many in the order of ranks", 8 - i%6, inOrder(5000, k.call)},
		)
	}
	return append(rules, bitRules()...)
}

// orderedCalls are reductions with an operation that does not commute. They tell how many ranks they combine.
var orderedCalls = []struct {
	name string
	call func(c *Comm, send, recv []affine, op Op[affine]) (int, error)
}{
	{"Reduce", func(c *Comm, send, recv []affine, op Op[affine]) (int, error) {
		if c.Rank() != 1 {
			return 0, Reduce(c, send, recv, op, 1)
		}
		return c.Size(), Reduce(c, send, recv, op, 1)
	}},
	{"Allreduce", func(c *Comm, send, recv []affine, op Op[affine]) (int, error) {
		return c.Size(), Allreduce(c, send, recv, op)
	}},
	{"Iallreduce", func(c *Comm, send, recv []affine, op Op[affine]) (int, error) {
		return c.Size(), done(Iallreduce(c, send, recv, op))
	}},
	{"Scan", func(c *Comm, send, recv []affine, op Op[affine]) (int, error) {
		return c.Rank() + 1, Scan(c, send, recv, op)
	}},
	{"Exscan", func(c *Comm, send, recv []affine, op Op[affine]) (int, error) {
		return c.Rank(), Exscan(c, send, recv, op)
	}},
	{"ReduceScatter", func(c *Comm, send, recv []affine, op Op[affine]) (int, error) {
		counts := make([]int, c.Size())
		counts[0] = len(recv)
		if c.Rank() != 0 {
			return 0, ReduceScatter(c, send, nil, counts, op)
		}
		return c.Size(), ReduceScatter(c, send, recv, counts, op)
	}},
}

// bitRules: all ranks have the same bits, and so have two equal calls (6.9.6, and the advice of 6.9.1).
func bitRules() []rule {
	var rules []rule
	for n := 2; n <= 8; n++ {
		rules = append(rules, rule{"6.9.6", fmt.Sprintf("%d ranks have the same bits, twice", n), n, func(c *Comm) error {
			x := make([]float64, 500)
			for i := range x {
				x[i] = math.Sin(float64(1000*c.Rank()+i)) * math.Exp2(float64(20*((c.Rank()+i)%5)))
			}
			a, b := make([]float64, len(x)), make([]float64, len(x))
			err := errors.Join(Allreduce(c, x, a, Sum), Allreduce(c, x, b, Sum))
			bits := make([]uint64, len(x))
			for i := range bits {
				bits[i] = math.Float64bits(a[i])
				err = errors.Join(err, is("second call", math.Float64bits(b[i]), bits[i]))
			}
			lo, hi := make([]uint64, len(x)), make([]uint64, len(x))
			err = errors.Join(err, Allreduce(c, bits, lo, Band), Allreduce(c, bits, hi, Bor))
			return errors.Join(err, listIs("bits of all ranks", lo, hi))
		}})
	}
	return rules
}
