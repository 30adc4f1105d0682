package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestFromTwoPlaces: parts that go round the end of a buffer, at every root. They travel eagerly or as a rendezvous, in
// calls that wait and in others, one after the other on one communicator.
func TestFromTwoPlaces(t *testing.T) {
	for size := 3; size <= 7; size++ {
		must(t, size, func(c *Comm) error {
			for root := range size {
				for _, n := range []int{1, 120} {
					if err := twoPlaces(c, root, n); err != nil {
						return fmt.Errorf("root %d, %d elements: %w", root, n, err)
					}
				}
			}
			return nil
		}, WithEager(256))
	}
}

func twoPlaces(c *Comm, root, n int) error {
	var all []element
	for r := range c.Size() {
		all = append(all, fill(r, 0, n)...)
	}
	mine := fill(c.Rank(), 0, n)
	var up [2][]element
	round, iround := make([]element, len(all)), make([]element, len(all))
	down, idown := make([]element, n), make([]element, n)
	for i := range 2 {
		up[i] = make([]element, len(all))
	}
	g, gErr := Igather(c, mine, up[1], root)
	s, sErr := Iscatter(c, all, idown, root)
	a, aErr := Iallgather(c, mine, iround)
	started := errors.Join(gErr, sErr, aErr)
	err := errors.Join(started, Gather(c, mine, up[0], root), Scatter(c, all, down, root), Allgather(c, mine, round))
	if err == nil {
		err = Waitall([]Request{g, s, a}, nil)
	}
	switch {
	case err != nil:
		return err
	case !slices.Equal(round, all) || !slices.Equal(iround, all):
		return errors.New("allgather: wrong content")
	case !slices.Equal(down, mine) || !slices.Equal(idown, mine):
		return errors.New("scatter: wrong content")
	case c.Rank() == root && (!slices.Equal(up[0], all) || !slices.Equal(up[1], all)):
		return errors.New("gather: wrong content")
	}
	return nil
}
