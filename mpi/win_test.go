package mpi

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// winCase is what the standard says of windows, in one of its sections. f is called by each rank, with a window of
// eight numbers at each rank that are zero, in an epoch of a fence. It leaves the window so.
type winCase struct {
	section, name string
	f             func(w *Win[int64], c *Comm) error
}

// right and left are the ranks beside the caller's.
func right(c *Comm) int { return (c.Rank() + 1) % c.Size() }
func left(c *Comm) int  { return (c.Rank() + c.Size() - 1) % c.Size() }

// all is the first error of all, which have been made one after the other.
func all(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// has compares what got gives now.
func has[T any](what string, got func() T, want T) error {
	if g := got(); !reflect.DeepEqual(g, want) {
		return fmt.Errorf("%s is %v, want %v", what, g, want)
	}
	return nil
}

// failsAs calls f, which must give an error.
func failsAs(want error, class ErrorClass, f func() error) error {
	if err := f(); !errors.Is(err, want) || Class(err) != class {
		return fmt.Errorf("%w of class %d, want %w of class %d", errors.Join(err), Class(err), want, class)
	}
	return nil
}

var unit = []int64{1}

// done waits for a request that a call has given.
func done(r Request, err error) error {
	if err != nil {
		return err
	}
	_, err = r.Wait()
	return err
}

// mine is the part of w at the caller's.
func mine(w *Win[int64], i int) func() int64 { return func() int64 { return w.Memory()[i] } }

// atRoot is what rank 0 finds.
func atRoot(c *Comm, err error) error {
	if c.Rank() != 0 {
		return nil
	}
	return err
}

// winMakers make the windows of the cases.
var winMakers = map[string]func(c *Comm) (*Win[int64], error){
	"create":   func(c *Comm) (*Win[int64], error) { return CreateWin(c, make([]int64, 8)) },
	"allocate": func(c *Comm) (*Win[int64], error) { return AllocateWin[int64](c, 8) },
	"shared":   func(c *Comm) (*Win[int64], error) { return AllocateSharedWin[int64](c, 8) },
}

// winCases runs cases with windows of all kinds, in jobs of 1 to 8 ranks that share memory, and over udp.
func winCases(t *testing.T, cases []winCase) {
	names := make(map[string]bool)
	for _, x := range cases {
		if name := x.section + "/" + x.name; names[name] {
			t.Errorf("two cases have the name %s", name)
		} else {
			names[name] = true
		}
	}
	for _, conduit := range []string{"auto", "udp"} {
		for kind, maker := range winMakers {
			if conduit == "udp" && kind == "shared" {
				continue // where nothing is shared there is none
			}
			for _, n := range []int{1, 2, 3, 8} {
				if testing.Short() && n > 3 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", conduit, kind, n), func(t *testing.T) {
					must(t, n, func(c *Comm) error { return runCases(c, maker, cases) }, With("GOLCI_CONDUIT", conduit))
				})
			}
		}
	}
}

func runCases(c *Comm, maker func(c *Comm) (*Win[int64], error), cases []winCase) error {
	w, err := maker(c)
	if err != nil {
		return err
	}
	for _, x := range cases {
		clear(w.Memory())
		if err := all(w.Fence(0), x.f(w, c), w.Fence(0)); err != nil {
			return fmt.Errorf("%s %s: %w", x.section, x.name, err)
		}
	}
	return errors.Join(w.Fence(ModeNoSucceed), w.Free())
}

// opCase is one operation of accumulations.
func opCase64(name string, o Op[int64], old, value, want int64) winCase {
	return winCase{"12.3.4", "accumulate " + name, func(w *Win[int64], c *Comm) error {
		got := []int64{-1}
		return all(w.Put([]int64{old, old}, right(c), 2), w.Fence(0), w.Accumulate([]int64{value}, right(c), 2, o),
			w.GetAccumulate([]int64{value}, got, right(c), 3, o), w.Fence(0), has("element", mine(w, 2), want),
			has("element of get_accumulate", mine(w, 3), want), has("old", func() int64 { return got[0] }, old),
			has("before", mine(w, 1), 0), has("behind", mine(w, 4), 0))
	}}
}

// TestWinAccesses: 12.3 and 12.5.1.
func TestWinAccesses(t *testing.T) { winCases(t, accessCases()) }

// accessCases are those of accesses in epochs of fences.
func accessCases() []winCase {
	return slices.Concat(putCases, strideCases, []winCase{
		opCase64("sum", Sum, 40, 2, 42),
		opCase64("prod", Prod, 6, 7, 42),
		opCase64("min", Min, 3, -2, -2),
		opCase64("min of more", Min, -3, 2, -3),
		opCase64("max", Max, 3, 5, 5),
		opCase64("max of less", Max, 5, 3, 5),
		opCase64("band", Band, 12, 10, 8),
		opCase64("bor", Bor, 12, 10, 14),
		opCase64("bxor", Bxor, 12, 10, 6),
		opCase64("replace", Replace, 1, 2, 2),
		opCase64("no_op", NoOp, 1, 2, 1),
	}, atomicCases)
}

// TestWinEpochs: 12.5.
func TestWinEpochs(t *testing.T) { winCases(t, slices.Concat(lockCases, groupCases)) }

// TestWinErrors: 12.6.
func TestWinErrors(t *testing.T) { winCases(t, errorCases) }

var putCases = []winCase{
	{"12.3.1", "put", func(w *Win[int64], c *Comm) error {
		v := int64(c.Rank() + 1)
		return all(w.Put([]int64{v, v * 10}, right(c), 3), w.Fence(0), has("before", mine(w, 2), 0),
			has("first", mine(w, 3), int64(left(c)+1)), has("last", mine(w, 4), int64(left(c)+1)*10), has("behind", mine(w, 5),
				0))
	}},
	{"12.3.1", "put of nothing", func(w *Win[int64], c *Comm) error {
		return all(w.Put(nil, right(c), 8), w.Fence(0), has("memory", w.Memory, make([]int64, 8)))
	}},
	{"12.3.1", "put of all", func(w *Win[int64], c *Comm) error {
		v := []int64{1, 2, 3, 4, 5, 6, 7, 8}
		return all(w.Put(v, right(c), 0), w.Fence(0), has("memory", w.Memory, v))
	}},
	{"12.3.1", "put to the null process", func(w *Win[int64], _ *Comm) error {
		return all(w.Put([]int64{1}, ProcNull, 0), w.Fence(0), has("memory", w.Memory, make([]int64, 8)))
	}},
	{"12.3.1", "put to itself", func(w *Win[int64], c *Comm) error {
		return all(w.Put([]int64{7}, c.Rank(), 7), w.Fence(0), has("last", mine(w, 7), 7))
	}},
	{"12.3.2", "get", func(w *Win[int64], c *Comm) error {
		w.Memory()[5] = int64(c.Rank() + 1)
		got := []int64{-1, -1, -1}
		return all(w.Fence(0), w.Get(got, right(c), 4), w.Fence(0), has("got", func() []int64 { return got },
			[]int64{0, int64(right(c) + 1), 0}))
	}},
	{"12.3.2", "get from the null process", func(w *Win[int64], _ *Comm) error {
		got := []int64{-1}
		return all(w.Get(got, ProcNull, 0), w.Fence(0), has("got", func() int64 { return got[0] }, -1))
	}},
	{"12.3.2", "get from itself", func(w *Win[int64], c *Comm) error {
		got := []int64{-1}
		w.Memory()[0] = 5
		return all(w.Get(got, c.Rank(), 0), w.Fence(0), has("got", func() int64 { return got[0] }, 5))
	}},
	{"12.3.1", "puts of all ranks to one", func(w *Win[int64], c *Comm) error {
		return all(w.Put([]int64{int64(c.Rank() + 1)}, 0, c.Rank()), w.Fence(0), atRoot(c, func() error {
			for r := range c.Size() {
				if w.Memory()[r] != int64(r+1) {
					return fmt.Errorf("%v", w.Memory())
				}
			}
			return nil
		}()))
	}},
}

var strideCases = []winCase{
	{"5.1.2", "put of a column", func(w *Win[int64], c *Comm) error {
		matrix := []int64{1, 2, 3, 4, 5, 6}
		return all(w.PutStrided(matrix[1:], Strided{2, 1, 3}, right(c), 0, Strided{1, 2, 2}), w.Fence(0),
			has("memory", w.Memory, []int64{2, 5, 0, 0, 0, 0, 0, 0}))
	}},
	{"5.1.2", "put to a column", func(w *Win[int64], c *Comm) error {
		return all(w.PutStrided([]int64{1, 2}, Strided{1, 2, 2}, right(c), 1, Strided{2, 1, 4}), w.Fence(0),
			has("memory", w.Memory, []int64{0, 1, 0, 0, 0, 2, 0, 0}))
	}},
	{"5.1.2", "get of a column", func(w *Win[int64], c *Comm) error {
		copy(w.Memory(), []int64{1, 2, 3, 4, 5, 6, 7, 8})
		got := make([]int64, 3)
		return all(w.Fence(0), w.GetStrided(got, Strided{1, 3, 3}, right(c), 1, Strided{3, 1, 3}), w.Fence(0),
			has("got", func() []int64 { return got }, []int64{2, 5, 8}))
	}},
	{"5.1.2", "get into a column", func(w *Win[int64], c *Comm) error {
		copy(w.Memory(), []int64{1, 2, 3, 4, 5, 6, 7, 8})
		got := make([]int64, 5)
		return all(w.Fence(0), w.GetStrided(got, Strided{2, 1, 4}, right(c), 3, Strided{1, 2, 2}), w.Fence(0),
			has("got", func() []int64 { return got }, []int64{4, 0, 0, 0, 5}))
	}},
	{"5.1.2", "put of blocks", func(w *Win[int64], c *Comm) error {
		from := []int64{1, 2, 3, 4, 5, 6}
		return all(w.PutStrided(from, Strided{3, 1, 2}, right(c), 1, Strided{1, 3, 3}), w.Fence(0),
			has("memory", w.Memory, []int64{0, 1, 3, 5, 0, 0, 0, 0}))
	}},
	{"5.1.2", "put of no blocks", func(w *Win[int64], c *Comm) error {
		return all(w.PutStrided(nil, Strided{}, right(c), 1, Strided{}), w.Fence(0),
			has("memory", w.Memory, make([]int64, 8)))
	}},
}

var atomicCases = []winCase{
	{"12.3.4", "fetch_and_op counts", func(w *Win[int64], c *Comm) error {
		var old int64 = -1
		return all(w.FetchAndOp(1, &old, 0, 1, Sum), w.Fence(0),
			atRoot(c, has("counter", mine(w, 1), int64(c.Size()))), func() error {
				if old < 0 || old >= int64(c.Size()) {
					return fmt.Errorf("old is %d of %d", old, c.Size())
				}
				return nil
			}())
	}},
	{"12.3.4", "fetch_and_op without change", func(w *Win[int64], c *Comm) error {
		w.Memory()[2] = 9
		var old int64 = -1
		return all(w.Fence(0), w.FetchAndOp(1, &old, right(c), 2, NoOp), w.Fence(0), has("element", mine(w, 2), 9),
			has("old", func() int64 { return old }, 9))
	}},
	{"12.3.4", "fetch_and_op replaces", func(w *Win[int64], c *Comm) error {
		w.Memory()[2] = 9
		var old int64 = -1
		return all(w.Fence(0), w.FetchAndOp(4, &old, right(c), 2, Replace), w.Fence(0), has("element", mine(w, 2), 4),
			has("old", func() int64 { return old }, 9))
	}},
	{"12.3.4", "fetch_and_op at the null process", func(w *Win[int64], _ *Comm) error {
		var old int64 = -1
		return all(w.FetchAndOp(4, &old, ProcNull, 2, Sum), w.Fence(0), has("old", func() int64 { return old }, -1))
	}},
	{"12.3.4", "compare_and_swap finds", func(w *Win[int64], c *Comm) error {
		var old int64 = -1
		w.Memory()[3] = 5
		return all(w.Fence(0), w.CompareAndSwap(6, 5, &old, right(c), 3), w.Fence(0), has("element", mine(w, 3), 6),
			has("old", func() int64 { return old }, 5))
	}},
	{"12.3.4", "compare_and_swap does not find", func(w *Win[int64], c *Comm) error {
		var old int64 = -1
		w.Memory()[3] = 4
		return all(w.Fence(0), w.CompareAndSwap(6, 5, &old, right(c), 3), w.Fence(0), has("element", mine(w, 3), 4),
			has("old", func() int64 { return old }, 4))
	}},
	{"12.3.4", "compare_and_swap has one winner", func(w *Win[int64], c *Comm) error {
		var old int64 = -1
		return all(w.CompareAndSwap(int64(c.Rank()+1), 0, &old, 0, 0), w.Fence(0), func() error {
			won := 0
			if old == 0 {
				won = 1
			}
			sum := []int{0}
			err := Allreduce(c, []int{won}, sum, Sum)
			return all(err, has("winners", func() int { return sum[0] }, 1))
		}())
	}},
	{"12.3.4", "get_accumulate with no_op reads", func(w *Win[int64], c *Comm) error {
		copy(w.Memory(), []int64{1, 2, 3})
		got := make([]int64, 3)
		return all(w.Fence(0), w.GetAccumulate(nil, got, right(c), 0, NoOp), w.Fence(0),
			has("got", func() []int64 { return got }, []int64{1, 2, 3}), has("element", mine(w, 1), 2))
	}},
	{"12.3.4", "accumulates of all ranks", func(w *Win[int64], c *Comm) error {
		for range 50 {
			if err := w.Accumulate([]int64{1, 2, 3}, 0, 4, Sum); err != nil {
				return err
			}
		}
		n := int64(50 * c.Size())
		return all(w.Fence(0), atRoot(c, has("memory", w.Memory, []int64{0, 0, 0, 0, n, 2 * n, 3 * n, 0})))
	}},
	{"12.7.2", "accumulates of one origin are in order", func(w *Win[int64], c *Comm) error {
		for i := range 50 {
			if err := w.Accumulate([]int64{int64(i)}, right(c), 0, Replace); err != nil {
				return err
			}
		}
		return all(w.Fence(0), has("last", mine(w, 0), 49))
	}},
}
