package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSort: the parts of all ranks, one after the other, are all numbers in order.
func TestSort(t *testing.T) {
	for spread := range spreads {
		for _, size := range []int{1, 2, 3, 7} {
			for _, n := range []int{0, 1, 2, 50, 5000} {
				o := options{n: n, spread: spread, seed: 7}
				var want, got []uint64
				for r := range size {
					want = append(want, generate(o, r, size)...)
				}
				slices.Sort(want)
				err := mpi.Run(size, func(c *mpi.Comm) error {
					part, err := samplesort(c, generate(o, c.Rank(), size))
					if err != nil {
						return err
					}
					all, err := mpi.GatherValue(c, part, 0)
					if c.Rank() == 0 {
						got = slices.Concat(all...)
					}
					return err
				})
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%d ranks, %+v: %d numbers of %d in order (%v)", size, o, len(got), len(want), err)
				}
			}
		}
	}
}

// TestParts: no part is much longer than the others, also if there are three numbers only.
func TestParts(t *testing.T) {
	for spread := range spreads {
		o, size := options{n: 4000, spread: spread, seed: 3}, 4
		err := mpi.Run(size, func(c *mpi.Comm) error {
			part, err := samplesort(c, generate(o, c.Rank(), size))
			if len(part) > o.n*5/4 {
				t.Errorf("%s: rank %d has %d numbers", spread, c.Rank(), len(part))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestCheck: check finds numbers that are lost, changed or in the wrong place.
func TestCheck(t *testing.T) {
	for want, spoil := range map[string]func(c *mpi.Comm, part []uint64) []uint64{
		"":           func(_ *mpi.Comm, part []uint64) []uint64 { return part },
		"became":     func(_ *mpi.Comm, part []uint64) []uint64 { return part[1:] },
		"not sorted": func(_ *mpi.Comm, part []uint64) []uint64 { slices.Reverse(part); return part },
		"begins at": func(c *mpi.Comm, part []uint64) []uint64 {
			other := make([]uint64, len(part))
			_, err := mpi.Sendrecv(c, part, 1-c.Rank(), 0, other, 1-c.Rank(), 0)
			if err != nil {
				t.Error(err)
			}
			return other
		},
	} {
		err := mpi.Run(2, func(c *mpi.Comm) error {
			numbers := []uint64{uint64(2 * c.Rank()), uint64(2*c.Rank() + 1)}
			_, err := check(c, digestOf(numbers), spoil(c, slices.Clone(numbers)))
			return err
		})
		if text := fmt.Sprint(err); (want == "") != (err == nil) || !strings.Contains(text, want) && want != "" {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestSortAll(t *testing.T) {
	var out bytes.Buffer // rank 0 alone writes to it
	o := options{n: 1000, spread: "few", seed: 1}
	if err := mpi.Run(3, func(c *mpi.Comm) error { return sortAll(c, o, &out) }); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "numbers: 2751 on 3 ranks\n") ||
		!strings.Contains(got, "check: sorted") {
		t.Errorf("it printed\n%s", got)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range []string{"-n -1", "-spread odd", "word"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	if o, err := parse([]string{"-n", "9", "-spread", "few"}); err != nil || o.n != 9 || o.spread != "few" || o.seed != 1 {
		t.Errorf("%+v, %v", o, err)
	}
}
