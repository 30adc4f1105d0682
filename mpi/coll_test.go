package mpi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// shape is one random set of arguments that all ranks of a test know.
type shape struct {
	n, root int
	counts  []int
	displs  []int
	room    int // elements that counts and displs need
}

func randomShape(rnd *rand.Rand, n, most int) shape {
	s := shape{n: n, root: rnd.IntN(n), counts: make([]int, n), displs: make([]int, n)}
	for _, i := range rnd.Perm(n) { // parts in any order, with gaps
		s.counts[i] = rnd.IntN(3) * rnd.IntN(most)
		s.displs[i] = s.room + rnd.IntN(5)
		s.room = s.displs[i] + s.counts[i]
	}
	return s
}

// vectorLengths around the limits between algorithms, in bytes and elements.
var vectorLengths = []int{0, 1, 7, 100, 1025, 9_001, 33_000}

// element is what rank r contributes at i.
type element struct {
	A int32
	B float64
}

func elementOf(r, i int) element { return element{int32(r*1000003 + i), float64(r) + float64(i)/1024} }

func fill(r, from, n int) []element {
	out := make([]element, n)
	for i := range out {
		out[i] = elementOf(r, from+i)
	}
	return out
}

// eachShape runs f with 1 to 8 ranks and several random shapes.
func eachShape(t *testing.T, f func(c *Comm, s shape) error, opts ...Option) {
	seed, rounds := source(t), 6
	switch {
	case invariants.Race: // other roots and lengths bring no other goroutines
		rounds = 1
	case testing.Short():
		rounds = 3
	}
	for _, n := range upToEight() {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			must(t, n, func(c *Comm) error {
				rnd := random(seed, n)
				for round := range rounds {
					s := randomShape(rnd, n, vectorLengths[rnd.IntN(len(vectorLengths))]/n+2)
					if err := f(c, s); err != nil {
						return fmt.Errorf("round %d, %+v: %w", round, s, err)
					}
				}
				return nil
			}, opts...)
		})
	}
}

func TestBcast(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		for _, n := range vectorLengths {
			b := make([]element, n)
			if c.Rank() == s.root {
				b = fill(s.root, 0, n)
			}
			if err := Bcast(c, b, s.root); err != nil {
				return err
			}
			if !slices.Equal(b, fill(s.root, 0, n)) {
				return fmt.Errorf("wrong content of %d elements", n)
			}
		}
		return nil
	})
}

func TestGatherScatter(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		for _, n := range vectorLengths[:6] {
			var all []element
			if c.Rank() == s.root {
				all = make([]element, n*s.n)
			}
			if err := Gather(c, fill(c.Rank(), 0, n), all, s.root); err != nil {
				return err
			}
			for r := range len(all) / max(n, 1) {
				if !slices.Equal(all[r*n:][:n], fill(r, 0, n)) {
					return fmt.Errorf("gather: part %d of %d elements is wrong", r, n)
				}
			}
			got := make([]element, n)
			if err := Scatter(c, all, got, s.root); err != nil {
				return err
			}
			if !slices.Equal(got, fill(c.Rank(), 0, n)) {
				return fmt.Errorf("scatter: %d elements are wrong", n)
			}
		}
		return nil
	})
}

func TestGathervScatterv(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		n := s.counts[c.Rank()]
		var all []element
		if c.Rank() == s.root {
			all = make([]element, s.room)
		}
		if err := Gatherv(c, fill(c.Rank(), 0, n), all, s.counts, s.displs, s.root); err != nil {
			return err
		}
		if err := checkParts(all, s); c.Rank() == s.root && err != nil {
			return fmt.Errorf("gatherv: %w", err)
		}
		got := make([]element, n)
		if err := Scatterv(c, all, s.counts, s.displs, got, s.root); err != nil {
			return err
		}
		if !slices.Equal(got, fill(c.Rank(), 0, n)) {
			return errors.New("scatterv: wrong content")
		}
		return nil
	})
}

// checkParts checks that the part of each rank is in its place, and that nothing was written between.
func checkParts(all []element, s shape) error {
	want := make([]element, s.room)
	for r := range s.n {
		copy(want[s.displs[r]:], fill(r, 0, s.counts[r]))
	}
	if !slices.Equal(all, want) {
		return errors.New("wrong content")
	}
	return nil
}

func TestAllgather(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		for _, n := range vectorLengths[:6] {
			all := make([]element, n*s.n)
			if err := Allgather(c, fill(c.Rank(), 0, n), all); err != nil {
				return err
			}
			for r := range s.n {
				if !slices.Equal(all[r*n:][:n], fill(r, 0, n)) {
					return fmt.Errorf("part %d of %d elements is wrong", r, n)
				}
			}
		}
		all := make([]element, s.room)
		if err := Allgatherv(c, fill(c.Rank(), 0, s.counts[c.Rank()]), all, s.counts, s.displs); err != nil {
			return err
		}
		return checkParts(all, s)
	})
}

func TestAlltoall(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		for _, n := range vectorLengths[:5] {
			in, out := make([]element, 0, n*s.n), make([]element, n*s.n)
			for to := range s.n {
				in = append(in, fill(c.Rank(), to*n, n)...)
			}
			if err := Alltoall(c, in, out); err != nil {
				return err
			}
			for r := range s.n {
				if !slices.Equal(out[r*n:][:n], fill(r, c.Rank()*n, n)) {
					return fmt.Errorf("part %d of %d elements is wrong", r, n)
				}
			}
		}
		return nil
	})
}

// TestAlltoallv: rank i sends (i + 2j) mod 5 * k elements to rank j.
func TestAlltoallv(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		k := 1 + s.counts[0]
		count := func(from, to int) int { return (from + 2*to) % 5 * k }
		var in, want []element
		scounts, rcounts := make([]int, s.n), make([]int, s.n)
		for r := range s.n {
			scounts[r], rcounts[r] = count(c.Rank(), r), count(r, c.Rank())
			in = append(in, fill(c.Rank(), r, scounts[r])...)
			want = append(want, fill(r, c.Rank(), rcounts[r])...)
		}
		out := make([]element, len(want))
		if err := Alltoallv(c, in, scounts, nil, out, rcounts, nil); err != nil {
			return err
		}
		if !slices.Equal(out, want) {
			return errors.New("wrong content")
		}
		return nil
	})
}

func TestAllreduce(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		for _, n := range vectorLengths {
			in, out := make([]int64, n), make([]int64, n)
			for i := range in {
				in[i] = int64((c.Rank() + 1) * (i + 1))
			}
			if err := Allreduce(c, in, out, Sum); err != nil {
				return err
			}
			for i := range out {
				if want := int64(s.n * (s.n + 1) / 2 * (i + 1)); out[i] != want {
					return fmt.Errorf("%d elements: sum %d is %d, want %d", n, i, out[i], want)
				}
			}
			if err := Allreduce(c, InPlace(in), in, Max); err != nil {
				return err
			}
			for i := range in {
				if in[i] != int64(s.n*(i+1)) {
					return fmt.Errorf("%d elements: maximum %d is %d", n, i, in[i])
				}
			}
		}
		return nil
	})
}

func TestReduce(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		for _, n := range vectorLengths {
			in, out := make([]uint32, n), make([]uint32, n+3)
			for i := range in {
				in[i] = uint32(1<<c.Rank()) * uint32(i)
			}
			if err := Reduce(c, in, out, Sum, s.root); err != nil {
				return err
			}
			for i := range in {
				want := uint32(0)
				if c.Rank() == s.root {
					want = uint32(1<<s.n-1) * uint32(i)
				}
				if out[i] != want {
					return fmt.Errorf("%d elements: sum %d is %d, want %d", n, i, out[i], want)
				}
			}
		}
		return nil
	})
}

// affine is x -> a*x + b modulo 2^32, whose composition is associative and not commutative.
type affine struct{ A, B uint32 }

var compose = Func(func(f, g affine) affine { return affine{f.A * g.A, f.B*g.A + g.B} })

// TestRankOrder: an operation that is not commutative is applied in the order of ranks.
func TestRankOrder(t *testing.T) {
	eachShape(t, func(c *Comm, s shape) error {
		for _, n := range []int{1, 50, 20_000} {
			in, out := make([]affine, n), make([]affine, n)
			want := make([]affine, n)
			for i := range in {
				in[i] = affine{uint32(2*c.Rank() + 3 + i), uint32(5*c.Rank() + 1)}
				want[i] = affine{1, 0}
				for r := range s.n {
					g := affine{uint32(2*r + 3 + i), uint32(5*r + 1)}
					want[i] = affine{want[i].A * g.A, want[i].B*g.A + g.B}
				}
			}
			if err := Allreduce(c, in, out, compose); err != nil {
				return err
			}
			if !slices.Equal(out, want) {
				return fmt.Errorf("allreduce of %d is not in rank order", n)
			}
			clear(out)
			if err := Reduce(c, in, out, compose, s.root); err != nil {
				return err
			}
			if c.Rank() == s.root && !slices.Equal(out, want) {
				return fmt.Errorf("reduce of %d is not in rank order", n)
			}
		}
		return nil
	})
}

func TestOps(t *testing.T) {
	must(t, 3, func(c *Comm) error {
		r := c.Rank()
		return errors.Join(
			reduces(c, int8(r+2), 24, Prod),
			reduces(c, complex(1, float64(r)), complex(3, 3), Sum),
			reduces(c, float32(r)-1.5, -1.5, Min),
			reduces(c, uint16(r), 2, Max),
			reduces(c, uint8(1<<r|8), 8, Band),
			reduces(c, uint8(1<<r), 7, Bor),
			reduces(c, int64(r+1), 0, Bxor),
			reduces(c, r != 1, false, Land),
			reduces(c, r == 1, true, Lor),
			reduces(c, true, true, Lxor),
			reduces(c, Loc[float64]{float64(r % 2), r}, Loc[float64]{0, 0}, MinLoc),
			reduces(c, Loc[int]{r / 2 * 7, -r}, Loc[int]{7, -2}, MaxLoc),
			reduces(c, r, 2, VectorFunc(func(in, inout []int) {
				for i := range in {
					inout[i] = max(in[i], inout[i])
				}
			}).Commutative()),
		)
	})
}

func reduces[T comparable](c *Comm, mine, want T, op Op[T]) error {
	out := []T{mine}
	if err := Allreduce(c, InPlace(out), out, op); err != nil {
		return err
	}
	if out[0] != want {
		return fmt.Errorf("%T: got %v, want %v", mine, out[0], want)
	}
	return nil
}

// TestBarrier: nobody leaves before all have come.
func TestBarrier(t *testing.T) {
	for _, n := range upToEight() {
		come := make([]atomic.Int64, n) // atomic, since the race detector does not see the order that datagrams give
		must(t, n, func(c *Comm) error {
			for round := int64(1); round <= 50; round++ {
				come[c.Rank()].Store(round)
				if err := c.Barrier(); err != nil {
					return err
				}
				for r := range come {
					if x := come[r].Load(); x != round {
						return fmt.Errorf("rank %d is in round %d, not %d", r, x, round)
					}
				}
				if err := c.Barrier(); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// TestCollectivesFromThreads has the threads of each kind work on communicators of their own at the same time.
func TestCollectivesFromThreads(t *testing.T) {
	must(t, 4, func(c *Comm) error {
		comms := make([]*Comm, len(callers))
		for i := range comms {
			var err error
			if comms[i], err = c.Dup(); err != nil {
				return err
			}
		}
		return everyWay(c, func(way int) error {
			d := comms[way]
			for i := range 50 {
				if err := reduces(d, d.Rank()*(way+1)+i, (0+1+2+3)*(way+1)+4*i, Sum); err != nil {
					return err
				}
				if err := d.Barrier(); err != nil {
					return err
				}
			}
			return d.Free()
		})
	})
}

func TestCollectivesTinyQueues(t *testing.T) {
	must(t, 5, func(c *Comm) error {
		for _, n := range []int{3, 5000} {
			in, out := make([]int, n*5), make([]int, n*5)
			for i := range in {
				in[i] = c.Rank()*1000 + i/n
			}
			if err := Alltoall(c, in, out); err != nil {
				return err
			}
			for i := range out {
				if out[i] != i/n*1000+c.Rank() {
					return fmt.Errorf("element %d is %d", i, out[i])
				}
			}
			if err := Allreduce(c, in, out, Sum); err != nil {
				return err
			}
			if out[n] != 10_005 {
				return fmt.Errorf("sum is %d", out[n])
			}
		}
		return nil
	}, withConduit(func(cfg *conduit.Config) { cfg.TinyQueues = true }))
}

// TestAlltoallOfMany: from so many ranks on very short parts travel together. With two buffers, in place, and started.
func TestAlltoallOfMany(t *testing.T) {
	for _, size := range []int{16, 19} {
		must(t, size, func(c *Comm) error {
			for _, n := range []int{0, 1, 7, 40} {
				var in, want []int32
				for r := range size {
					for i := range n {
						in = append(in, int32(c.Rank()*10_000+r*100+i))
						want = append(want, int32(r*10_000+c.Rank()*100+i))
					}
				}
				out, later, place := make([]int32, len(in)), make([]int32, len(in)), slices.Clone(in)
				err := errors.Join(Alltoall(c, in, out), waited(Ialltoall(c, in, later)), Alltoall(c, InPlace(place), place))
				if err != nil || !slices.Equal(out, want) || !slices.Equal(later, want) || !slices.Equal(place, want) {
					return fmt.Errorf("%d elements: wrong content, or %w", n, err)
				}
			}
			return nil
		})
	}
}
