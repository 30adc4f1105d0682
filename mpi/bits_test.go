package mpi

import (
	"fmt"
	"math"
	"testing"

	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// TestSameBits: sums of floating point are the same to the last bit whatever the root, and the same from Reduce and
// Allreduce, for short vectors and long ones.
func TestSameBits(t *testing.T) {
	skipUnderRace(t, "bits of sums are no matter of goroutines; TestAllreduce and TestReduce make the same calls")
	seed := source(t)
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8} {
		for _, length := range []int{
			1, 100, algorithm.ReduceLarge/8 + 9, 2*algorithm.ReduceSegment/8 + 5,
			algorithm.ReducePair/8 + 3,
		} {
			must(t, n, func(c *Comm) error {
				rnd := random(seed, c.Rank())
				in, all, out := make([]float64, length), make([]float64, length), make([]float64, length)
				for i := range in {
					in[i] = math.Ldexp(rnd.Float64()-0.5, rnd.IntN(60))
				}
				if err := Allreduce(c, in, all, Sum); err != nil {
					return err
				}
				for root := range n {
					if err := Reduce(c, in, out, Sum, root); err != nil {
						return err
					}
					for i := range out {
						if c.Rank() == root && math.Float64bits(out[i]) != math.Float64bits(all[i]) {
							return fmt.Errorf("%d elements, root %d: sum %d is %v, and %v of Allreduce", length, root, i, out[i], all[i])
						}
					}
				}
				first := append([]float64(nil), all[:1]...) // of one element, which takes another way
				if err := Allreduce(c, in[:1], first, Sum); err != nil || math.Float64bits(first[0]) != math.Float64bits(all[0]) {
					return fmt.Errorf("%d elements: %v alone, %v before, %w", length, first[0], all[0], err)
				}
				return nil
			})
		}
	}
}
