package rma

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

type celsius float32

// TestKinds: every number type, also a named one, has the kind it should.
func TestKinds(t *testing.T) {
	got := []numberKind{
		kindOf[int32](), kindOf[int64](), kindOf[uint32](), kindOf[uint64](), kindOf[float32](), kindOf[float64](), kindOf[celsius](),
	}
	want := []numberKind{kindInt32, kindInt64, kindUint32, kindUint64, kindFloat32, kindFloat64, kindFloat32}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("type %d: kind %d, want %d", i, got[i], want[i])
		}
	}
}

// model is what an atomic should do, computed as slowly as can be.
func model[T Number](op Op, old, a, b T) T {
	bit := func(f func(x, y uint64) uint64) T { return fromBits[T](f(bitsOf(old), bitsOf(a))) }
	switch op {
	case OpSet:
		return a
	case OpAdd:
		return old + a
	case OpSub:
		return old - a
	case OpInc:
		return old + 1
	case OpDec:
		return old - 1
	case OpMin:
		if a < old {
			return a
		}
	case OpMax:
		if a > old {
			return a
		}
	case OpAnd:
		return bit(func(x, y uint64) uint64 { return x & y })
	case OpOr:
		return bit(func(x, y uint64) uint64 { return x | y })
	case OpXor:
		return bit(func(x, y uint64) uint64 { return x ^ y })
	case OpCompareSwap:
		if old == a {
			return b
		}
	}
	return old
}

// checkType does every operation on values of interest, and looks at old and new value.
func checkType[T Number](m *Memory, values []T) error {
	peer := 1 - m.Rank()
	for op := OpGet; op < opEnd; op++ {
		if !isValidOp(op, kindOf[T]()) {
			if _, err := Atomic(m, op, peer, 16, values[0], values[0]); !errors.Is(err, ErrArgument) {
				return fmt.Errorf("%v of %T: %w", op, values[0], err)
			}
			continue
		}
		for _, old := range values[:max(2, fewer(len(values)))] {
			for i, a := range values {
				b := values[(i+1)%len(values)]
				if err := checkOne(m, op, old, a, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func checkOne[T Number](m *Memory, op Op, old, a, b T) error {
	peer := 1 - m.Rank()
	const off = 16
	if err := Store(m, peer, off, old); err != nil {
		return err
	}
	got, err := Atomic(m, op, peer, off, a, b)
	if err != nil || got != old {
		return fmt.Errorf("%v(%v, %v) on %v fetches %v, %w", op, a, b, old, got, err)
	}
	want := model(op, old, a, b)
	if now, err := Load[T](m, peer, off); now != want && !(now != now && want != want) || err != nil { // NaN differs from itself
		return fmt.Errorf("%v(%v, %v) on %v leaves %v, want %v, %w", op, a, b, old, now, want, err)
	}
	return nil
}

func TestAtomics(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			err := errors.Join(
				checkType(m, []int32{0, 1, -1, 7, math.MinInt32, math.MaxInt32}),
				checkType(m, []uint64{0, 1, 7, math.MaxUint64, 1 << 63}),
				checkType(m, []float64{0, 1, -1, 0.5, 1e300, math.Inf(-1)}),
			)
			if invariants.Race && testing.Short() { // a race would show with these types, too
				return err
			}
			return errors.Join(err,
				checkType(m, []int64{0, 1, -1, 7, math.MinInt64, math.MaxInt64}),
				checkType(m, []uint32{0, 1, 7, math.MaxUint32, 1 << 31}),
				checkType(m, []float32{0, 1, -1, 0.5, 1e30, float32(math.Inf(1))}),
			)
		})
	})
}

// TestNamedAtomics: each name does its operation.
func TestNamedAtomics(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			peer, off := 1-m.Rank(), int64(64)
			steps := []struct {
				name      string
				f         func() (int32, error)
				old, then int32
			}{
				{"Store", func() (int32, error) { return 0, Store[int32](m, peer, off, 12) }, 0, 12},
				{"Swap", func() (int32, error) { return Swap[int32](m, peer, off, 10) }, 12, 10},
				{"FetchAdd", func() (int32, error) { return FetchAdd[int32](m, peer, off, 5) }, 10, 15},
				{"Add", func() (int32, error) { return 15, Add[int32](m, peer, off, 5) }, 15, 20},
				{"FetchSub", func() (int32, error) { return FetchSub[int32](m, peer, off, 8) }, 20, 12},
				{"FetchInc", func() (int32, error) { return FetchInc[int32](m, peer, off) }, 12, 13},
				{"FetchDec", func() (int32, error) { return FetchDec[int32](m, peer, off) }, 13, 12},
				{"FetchMin", func() (int32, error) { return FetchMin[int32](m, peer, off, -3) }, 12, -3},
				{"FetchMax", func() (int32, error) { return FetchMax[int32](m, peer, off, 6) }, -3, 6},
				{"FetchAnd", func() (int32, error) { return FetchAnd[int32](m, peer, off, 3) }, 6, 2},
				{"FetchOr", func() (int32, error) { return FetchOr[int32](m, peer, off, 9) }, 2, 11},
				{"FetchXor", func() (int32, error) { return FetchXor[int32](m, peer, off, 2) }, 11, 9},
				{"CompareSwap", func() (int32, error) { return CompareSwap[int32](m, peer, off, 9, 1) }, 9, 1},
				{"CompareSwap", func() (int32, error) { return CompareSwap[int32](m, peer, off, 9, 5) }, 1, 1},
			}
			for _, s := range steps {
				old, err := s.f()
				now, err2 := Load[int32](m, peer, off)
				if err := errors.Join(err, err2); err != nil || old != s.old || now != s.then {
					return fmt.Errorf("%s: %d, then %d; want %d and %d: %w", s.name, old, now, s.old, s.then, err)
				}
			}
			return nil
		})
	})
}

// contention: all ranks, some with many goroutines, work on the same numbers of rank 0.
func contention(j *job, n int) {
	const counter32, counter64, sum, least, list = 0, 8, 16, 24, 32
	b := newBarrier(len(j.ms))
	j.run(func(m *Memory) error {
		var wg sync.WaitGroup
		errs := make([]error, 3)
		for g := range errs {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(m.Rank()), uint64(g)))
				for range n {
					_, e1 := FetchAdd[uint32](m, 0, counter32, 1)
					_, e2 := FetchInc[int64](m, 0, counter64)
					e3 := Add(m, 0, sum, 0.5)
					_, e4 := FetchMin[int64](m, 0, least, -r.Int64N(1000))
					e5 := spinAdd(m, list)
					if errs[g] = errors.Join(e1, e2, e3, e4, e5); errs[g] != nil {
						return
					}
				}
			})
		}
		wg.Wait()
		b.wait()
		all := len(j.ms) * len(errs) * n
		c32, e1 := Load[uint32](m, 0, counter32)
		c64, e2 := Load[int64](m, 0, counter64)
		s, e3 := Load[float64](m, 0, sum)
		l, e4 := Load[int64](m, 0, least)
		k, e5 := Load[uint64](m, 0, list)
		if int(c32) != all || int(c64) != all || s != float64(all)/2 || int(k) != all || l > 0 {
			errs = append(errs, fmt.Errorf("%d, %d, %v, %d, %d after %d rounds", c32, c64, s, k, l, all))
		}
		return errors.Join(append(errs, e1, e2, e3, e4, e5)...)
	})
}

// spinAdd adds 1 by compare and swap.
func spinAdd(m *Memory, off int64) error {
	old, err := Load[uint64](m, 0, off)
	for err == nil {
		var seen uint64
		if seen, err = CompareSwap(m, 0, off, old, old+1); seen == old {
			break
		}
		old = seen
	}
	return err
}

func TestAtomicContention(t *testing.T) {
	overAll(t, 4, func(_ *testing.T, j *job) { contention(j, fewer(100)) })
}

// TestMixedWays: atomics that go directly and by messages are atomic with respect to each other.
func TestMixedWays(t *testing.T) {
	j := newMixedJob(t, 4)
	j.run(func(m *Memory) error {
		if yes, err := direct(m, 0); yes == (m.Rank()%2 == 1) || err != nil {
			return fmt.Errorf("reaches rank 0 directly: %v, %w", yes, err)
		}
		return nil
	})
	contention(j, fewer(200))
}

// newMixedJob has every second rank use active messages only.
func newMixedJob(t *testing.T, n int) *job {
	cfgs := make([]Config, n)
	for i := range cfgs {
		cfgs[i].ActiveMessages = i%2 == 1
	}
	return newJobOf(t, cfgs...)
}

// TestAtomicNB: outcomes arrive by pointer, before the handle is done.
func TestAtomicNB(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			peer := 1 - m.Rank()
			const n = 100
			olds, hs := make([]float32, n), make([]Handle, n)
			for i := range n {
				h, err := AtomicNB(m, OpAdd, peer, 128, 2, 0, &olds[i])
				if err != nil {
					return err
				}
				hs[i] = h
			}
			h, err := AtomicNB[float32](m, OpInc, peer, 132, 0, 0, nil)
			if err != nil {
				return err
			}
			if err := errors.Join(WaitAll(hs), h.Wait()); err != nil {
				return err
			}
			seen := map[float32]bool{}
			for _, v := range olds {
				seen[v] = true
			}
			for i := range n {
				if !seen[float32(2*i)] {
					return fmt.Errorf("nobody has fetched %d: %v", 2*i, olds)
				}
			}
			return nil
		})
	})
}

// TestAlignment: an atomic on an odd place is refused.
func TestAlignment(t *testing.T) {
	overAll(t, 2, func(t *testing.T, j *job) {
		j.run(func(m *Memory) error {
			peer := 1 - m.Rank()
			for off := int64(1); off < 8; off++ {
				_, err := FetchAdd[int64](m, peer, off, 1)
				if !errors.Is(err, ErrAlign) {
					return fmt.Errorf("8 bytes at %d: %w", off, err)
				}
				if _, err = FetchAdd[int32](m, peer, off, 1); (off%4 != 0) != errors.Is(err, ErrAlign) {
					return fmt.Errorf("4 bytes at %d: %w", off, err)
				}
			}
			if _, err := Atomic[int32](m, opEnd, peer, 0, 0, 0); !errors.Is(err, ErrArgument) {
				return fmt.Errorf("unknown operation: %w", err)
			}
			return nil
		})
	})
}
