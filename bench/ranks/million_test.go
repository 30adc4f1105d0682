package ranks

import (
	"errors"
	"slices"
	"testing"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/mpi"
)

// crowded runs Million with n threads of each of so many ranks in this process. first runs before it.
func crowded(ranks, n int, first func(c *mpi.Comm) error) (rows []bench.Row, err error) {
	err = mpi.Run(ranks, func(c *mpi.Comm) error {
		if err := first(c); err != nil {
			return err
		}
		return Run(c.Proc(), Config{Bench: Million, Threads: []int{n}}, func(r bench.Row) { rows = append(rows, r) })
	}, mpi.WithWorkers(2))
	return rows, err
}

// TestMillion: every thread is served in every round, and rank 0 alone hands out one row of each kind.
func TestMillion(t *testing.T) {
	const n = 301 // does not divide evenly among the workers
	nothing := func(*mpi.Comm) error { return nil }
	rows, err := crowded(2, n, nothing)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.Bench)
		if r.Threads != n || r.Impl != bench.Golci || r.Bench == MillionRate && r.Value <= 0 {
			t.Errorf("row %+v", r)
		}
	}
	if want := []string{Million, GoMemory, MillionRate, Collecting, CollectionMs, PauseMs}; !slices.Equal(names, want) {
		t.Errorf("rows %q, want %q", names, want)
	}
	for _, n := range []int{-4, 0, 1, mpi.TagUB + 2} {
		if _, err := crowded(2, n, nothing); !errors.Is(err, ErrThreads) {
			t.Errorf("%d threads: error %v, want %v", n, err, ErrThreads)
		}
	}
	if _, err := crowded(1, 10, nothing); !errors.Is(err, ErrRanks) {
		t.Errorf("one rank: error %v, want %v", err, ErrRanks)
	}
	// A thread that gets a message of another sender ends the run.
	_, err = crowded(2, 10, func(c *mpi.Comm) error { return mpi.Send(c, []uint64{7}, 1-c.Rank(), 3) })
	if !errors.Is(err, ErrPayload) {
		t.Errorf("a wrong message: error %v, want %v", err, ErrPayload)
	}
}

func TestResidentIn(t *testing.T) {
	for status, want := range map[string]int64{
		"Name:\tx\nVmRSS:\t    2048 kB\nRssAnon:\t 1 kB\n": 2 << 20,
		"Name:\tx\n":       0,
		"VmRSS: many kB\n": 0,
	} {
		if got := residentIn(status); got != want {
			t.Errorf("residentIn(%q) = %d, want %d", status, got, want)
		}
	}
}
