package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// different is a call that ranks do not make in the same way: those for which odd is true do it otherwise. none is
// one in which no rank need notice, if it is so small that all that is sent leaves at once.
type different struct {
	name string
	call func(c *Comm, odd bool) error
}

func counts(c *Comm, n int) []int { return slices.Repeat([]int{n}, c.Size()) }

func either[T any](odd bool, a, b T) T {
	if odd {
		return a
	}
	return b
}

var differences = []different{
	{"Barrier and Bcast", func(c *Comm, odd bool) error {
		if odd {
			return c.Barrier()
		}
		return Bcast(c, one(), 0)
	}},
	{"Barrier and Allreduce", func(c *Comm, odd bool) error {
		if odd {
			return c.Barrier()
		}
		return reduces(c, 1, c.Size(), Sum)
	}},
	{"Reduce and Allreduce", func(c *Comm, odd bool) error {
		if odd {
			return Reduce(c, one(), one(), Sum, 0)
		}
		return reduces(c, 1, c.Size(), Sum)
	}},
	{"Allgather and Alltoall", func(c *Comm, odd bool) error {
		if odd {
			return Allgather(c, one(), counts(c, 0))
		}
		return Alltoall(c, counts(c, 1), counts(c, 0))
	}},
	{"Gather and Gatherv", func(c *Comm, odd bool) error {
		if odd {
			return Gather(c, one(), counts(c, 0), 0)
		}
		return Gatherv(c, one(), counts(c, 0), counts(c, 1), nil, 0)
	}},
	{"roots of Bcast", func(c *Comm, odd bool) error { return Bcast(c, one(), either(odd, 1, 0)) }},
	{"roots of a long Bcast", func(c *Comm, odd bool) error { return Bcast(c, make([]int, 50_000), either(odd, 1, 0)) }},
	{"roots of Reduce", func(c *Comm, odd bool) error { return Reduce(c, one(), one(), Sum, either(odd, 1, 0)) }},
	{"roots of Gather", func(c *Comm, odd bool) error { return Gather(c, one(), counts(c, 0), either(odd, 1, 0)) }},
	{"roots of Scatter", func(c *Comm, odd bool) error { return Scatter(c, counts(c, 0), one(), either(odd, 1, 0)) }},
	{"roots of Scatterv", func(c *Comm, odd bool) error {
		return Scatterv(c, counts(c, 0), counts(c, 1), nil, one(), either(odd, 1, 0))
	}},
	{"counts of Bcast", func(c *Comm, odd bool) error { return Bcast(c, make([]int, either(odd, 2, 1)), 0) }},
	{"counts of Allreduce", func(c *Comm, odd bool) error {
		v := make([]int, either(odd, 2, 1))
		return Allreduce(c, InPlace(v), v, Sum)
	}},
	{"counts of Allreduce around a limit", func(c *Comm, odd bool) error {
		v := make([]int, either(odd, algorithm.ReducePair/8+3, 100))
		return Allreduce(c, InPlace(v), v, Sum)
	}},
	{"counts of Reduce around a limit", func(c *Comm, odd bool) error {
		v := make([]int, either(odd, algorithm.ReduceSegment/8+3, 100))
		return Reduce(c, v, slices.Clone(v), Sum, 0)
	}},
	{"counts of a long Reduce", func(c *Comm, odd bool) error {
		v := make([]int, either(odd, 200_000, 100_000))
		return Reduce(c, v, slices.Clone(v), Sum, 0)
	}},
	{"counts of Gather", func(c *Comm, odd bool) error {
		n := either(odd, 2, 1)
		return Gather(c, make([]int, n), make([]int, n*c.Size()), 0)
	}},
	{"counts of Alltoall", func(c *Comm, odd bool) error {
		n := either(odd, 2, 1)
		return Alltoall(c, make([]int, n*c.Size()), make([]int, n*c.Size()))
	}},
	{"counts of a long Allgather", func(c *Comm, odd bool) error {
		n := either(odd, 20_000, 30_000)
		return Allgather(c, make([]int, n), make([]int, n*c.Size()))
	}},
}

// mismatchErrors are what ranks may get of calls that differ.
var mismatchErrors = []error{ErrMismatch, ErrCount, ErrTruncate}

// TestDifferentCalls: ranks that call different things do not hang, get no wrong results, and get an error, in the
// call or in one after it. The data of later calls, all correct, are never those of the call that was not.
func TestDifferentCalls(t *testing.T) {
	for _, d := range differences {
		for n := 2; n <= 4; n++ {
			t.Run(fmt.Sprintf("%s/%d", d.name, n), func(t *testing.T) {
				failures := make([]error, n)
				must(t, n, func(c *Comm) error {
					x, err := c.Dup()
					if err != nil {
						return err
					}
					err = d.call(x, c.Rank() == 1)
					for call := 0; err == nil; call++ { // ranks that had only to send go on
						v := []int{1000 + call}
						if err = Allreduce(x, InPlace(v), v, Max); err == nil && v[0] != 1000+call {
							return fmt.Errorf("a later call gave %d, not %d", v[0], 1000+call)
						}
					}
					failures[c.Rank()] = err
					return c.Barrier()
				})
				for r, err := range failures {
					if !slices.ContainsFunc(mismatchErrors, func(e error) bool { return errors.Is(err, e) }) {
						t.Errorf("rank %d: %v", r, err)
					}
				}
			})
		}
	}
}

// TestNumbersWrap: the numbers in tags begin anew without harm. It starts just before each place where they could do
// some: where the bits in the tag run out, and at the check at half of their range.
func TestNumbersWrap(t *testing.T) {
	for n := 1; n <= 5; n++ {
		bits := algorithm.NumberBits(n)
		for _, start := range []uint64{1<<bits - 4, 1<<(bits-1) - 4, 1<<32 - 4, 1<<62 - 4} {
			must(t, n, func(c *Comm) error {
				if err := c.core().SkipTo(start); err != nil {
					return err
				}
				for i := range 12 {
					v := []int{c.Rank() + i}
					if err := Bcast(c, v, i%n); err != nil || v[0] != i%n+i {
						return fmt.Errorf("from %d: Bcast %d: %v, %w", start, i, v, err)
					}
					if err := reduces(c, c.Rank(), n-1, Max); err != nil {
						return fmt.Errorf("from %d: Allreduce %d: %w", start, i, err)
					}
				}
				if got := c.core().Calls(); got != start+24 {
					return fmt.Errorf("the last call is %d", got)
				}
				return nil
			})
		}
	}
}

// TestLeftoverIsNoLaterMessage: a message that no call has received is not taken for that of the call that has the
// same tag when the numbers have come round. Rank 0 and rank 1 both send, as each takes itself for the root.
func TestLeftoverIsNoLaterMessage(t *testing.T) {
	for _, halves := range []uint64{1, 2, 3, 4, 5} { // those that are no powers of two have no other reason for a look
		must(t, 2, func(c *Comm) error {
			if err := Bcast(c, []int{666}, c.Rank()); err != nil { // call 1
				return err
			}
			round := uint64(1) << algorithm.NumberBits(2)
			// As if so many calls had been made, none of which received from the other.
			c.core().Pretend(halves*round/2 - 2)
			err := Bcast(c, []int{666}, c.Rank())
			for i := 0; err == nil && i < 3; i++ {
				v := []int{7}
				if err = Bcast(c, v, 0); v[0] != 7 {
					return fmt.Errorf("%d halves of a round: got %d", halves, v[0])
				}
			}
			if err == nil {
				err = c.Barrier()
			}
			if !errors.Is(err, ErrMismatch) {
				return fmt.Errorf("%d halves of a round: got %w", halves, err)
			}
			return nil
		}, With("GOLCI_CHECK", "off"))
	}
}
