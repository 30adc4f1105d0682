package core

import (
	"math"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Told adds numbers of elements of size bytes, which other ranks have sent. The first is of rank first. The numbers may
// be anything. It is an error if this process cannot allocate so many.
func (c *Comm) Told(what string, lens []int64, first, size int) (sum int64, err error) {
	most, worst := math.MaxInt64/int64(max(size, 1)), 0
	for i, n := range lens {
		if n < 0 {
			return 0, c.commErrorf(what, ": %w: rank %d has told of %d elements", sentinel.ErrCount, first+i, n)
		}
		if n > lens[worst] {
			worst = i
		}
		sum = min(sum, most-n) + n // most if it would be more
	}
	if err := comm.CheckAlloc(sum * int64(size)); err != nil {
		return 0, c.commErrorf(what, ", %d elements of %d bytes from rank %d: %w", lens[worst], size, first+worst, err)
	}
	return sum, nil
}
