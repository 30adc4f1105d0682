package mpi

import (
	"errors"
	"fmt"
	"testing"
)

// typedCalls are collectives of n elements of type T at each rank.
func typedCalls[T Real](n int) map[string]func(c *Comm) error {
	v := func(n int) []T { return make([]T, n) }
	return map[string]func(c *Comm) error{
		"Bcast":     func(c *Comm) error { return Bcast(c, v(n), 0) },
		"Reduce":    func(c *Comm) error { return Reduce(c, v(n), v(n), Sum, 0) },
		"Allreduce": func(c *Comm) error { return Allreduce(c, v(n), v(n), Sum) },
		"Scan":      func(c *Comm) error { return Scan(c, v(n), v(n), Sum) },
		"Exscan":    func(c *Comm) error { return Exscan(c, v(n), v(n), Sum) },
		"ReduceScatterBlock": func(c *Comm) error {
			return ReduceScatterBlock(c, v(n*c.Size()), v(n), Sum)
		},
		"ReduceScatter": func(c *Comm) error {
			return ReduceScatter(c, v(n*c.Size()), v(n), counts(c, n), Sum)
		},
		"Gather":    func(c *Comm) error { return Gather(c, v(n), v(n*c.Size()), 0) },
		"Gatherv":   func(c *Comm) error { return Gatherv(c, v(n), v(n*c.Size()), counts(c, n), nil, 0) },
		"Scatter":   func(c *Comm) error { return Scatter(c, v(n*c.Size()), v(n), 0) },
		"Scatterv":  func(c *Comm) error { return Scatterv(c, v(n*c.Size()), counts(c, n), nil, v(n), 0) },
		"Allgather": func(c *Comm) error { return Allgather(c, v(n), v(n*c.Size())) },
		"Allgatherv": func(c *Comm) error {
			return Allgatherv(c, v(n), v(n*c.Size()), counts(c, n), nil)
		},
		"Alltoall": func(c *Comm) error { return Alltoall(c, v(n*c.Size()), v(n*c.Size())) },
		"Alltoallv": func(c *Comm) error {
			return Alltoallv(c, v(n*c.Size()), counts(c, n), nil, v(n*c.Size()), counts(c, n), nil)
		},
	}
}

// TestCollectiveTypeMismatch: ranks that call a collective with elements of different types are told so, where types
// are checked; where they are not, the bits are taken as they are.
func TestCollectiveTypeMismatch(t *testing.T) {
	for _, n := range []int{1, 30_000} {
		floats, ints := typedCalls[float64](n), typedCalls[int64](n)
		for name := range floats {
			for _, size := range []int{2, 3} {
				t.Run(fmt.Sprintf("%s/%d/%d", name, n, size), func(t *testing.T) {
					mixed := func(c *Comm) error {
						if c.Rank() == 1 {
							return ints[name](c)
						}
						return floats[name](c)
					}
					must(t, size, func(c *Comm) error {
						d, err := c.Dup()
						if err != nil {
							return err
						}
						err = mixed(d)
						for i := 0; err == nil && i < 1000; i++ { // a rank that only sends learns of it later
							err = d.Barrier()
						}
						if !errors.Is(err, ErrType) {
							return fmt.Errorf("got %v", err)
						}
						return floats[name](c)
					})
					must(t, size, mixed, With("GOLCI_CHECK", "off"))
				})
			}
		}
	}
}
