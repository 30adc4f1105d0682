package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

// lengthCalls are collectives in which a rank takes all parts for n bytes.
var lengthCalls = []struct {
	name string
	call func(c *Comm, n int) error
}{
	{"Bcast", func(c *Comm, n int) error { return Bcast(c, make([]byte, n), 0) }},
	{"Allgather", func(c *Comm, n int) error {
		return Allgather(c, make([]byte, n), make([]byte, n*c.Size()))
	}},
	{"Alltoall", func(c *Comm, n int) error {
		return Alltoall(c, make([]byte, n*c.Size()), make([]byte, n*c.Size()))
	}},
	{"Allreduce", func(c *Comm, n int) error { return Allreduce(c, make([]byte, n), make([]byte, n), Sum) }},
	{"Gather", func(c *Comm, n int) error { return Gather(c, make([]byte, n), make([]byte, n*c.Size()), 0) }},
	{"Scatter", func(c *Comm, n int) error { return Scatter(c, make([]byte, n*c.Size()), make([]byte, n), 0) }},
	{"Reduce", func(c *Comm, n int) error { return Reduce(c, make([]byte, n), make([]byte, n), Sum, 0) }},
	{"ReduceScatterBlock", func(c *Comm, n int) error {
		return ReduceScatterBlock(c, make([]byte, n*c.Size()), make([]byte, n), Sum)
	}},
}

// TestLengthsOfWays: ranks that disagree about a length, so that they take ways that differ or find no message of the
// other, all return, and some rank gets an error that tells of lengths.
func TestLengthsOfWays(t *testing.T) {
	for _, how := range []string{"memory", "messages"} {
		for _, x := range lengthCalls {
			for _, n := range [][2]int{
				{1000, 5000},
				{5000, 1000},
				{4096, 4097},
				{200 << 10, 300 << 10},
				{300 << 10, 270 << 10},
			} {
				for ranks := 2; ranks <= 3; ranks++ {
					if invariants.Race && ranks == 2 {
						continue // three have the goroutines of two
					}
					name := fmt.Sprintf("%s/%s/%d-%d/%d", how, x.name, n[0], n[1], ranks)
					t.Run(name, func(t *testing.T) { lengthsDiffer(t, ranks, n, x.call, how) })
				}
			}
		}
	}
}

// lengthsDiffer has the last rank take n[1] bytes for the length, and all others n[0].
func lengthsDiffer(t *testing.T, ranks int, n [2]int, call func(c *Comm, n int) error, how string) {
	found := make([]error, ranks)
	err := job(t, ranks, func(c *Comm) error {
		for range 9 { // the eighth call makes a shared segment
			if err := c.Barrier(); err != nil {
				return err
			}
		}
		d, err := c.Dup()
		if err != nil {
			return err
		}
		mine := n[0]
		if c.Rank() == ranks-1 {
			mine = n[1]
		}
		found[c.Rank()] = call(c, mine)
		return d.Barrier() // no rank ends before all have returned
	}, With("GOLCI_COLLECTIVES", how))
	if err != nil {
		t.Error(err)
	}
	if err := errors.Join(found...); !errors.Is(err, ErrCount) && !errors.Is(err, ErrTruncate) {
		t.Errorf("got %v, want %v or %v", err, ErrCount, ErrTruncate)
	}
}
