package taskbench

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/golci/golci/mpi"
)

// twiceOver runs r two times and wants every task to run once each time.
func twiceOver(runner Runner, r *Run) error {
	for range 2 {
		took, err := runner.Run(r)
		if err = errors.Join(err, r.End()); err != nil {
			return err
		}
		if took <= 0 {
			return fmt.Errorf("it took %v", took)
		}
	}
	return nil
}

func TestGoroutines(t *testing.T) {
	for _, g := range graphs() {
		for _, procs := range []int{0, 1, 3} {
			if err := twiceOver(Goroutines{procs}, all(t, g)); err != nil {
				t.Errorf("%+v with %d processors: %v", g, procs, err)
			}
		}
	}
}

// TestArbitrary runs graphs by chance, with steps that differ in their relations.
func TestArbitrary(t *testing.T) {
	r := random(t)
	for range 300 {
		g := arbitrary(r)
		if g.Check() != nil {
			continue
		}
		g.Payload = 16 * (1 + r.IntN(3))
		for _, runner := range []Runner{Serial{}, Goroutines{}} {
			if err := twiceOver(runner, all(t, g)); err != nil {
				t.Fatalf("%T, %+v: %v", runner, g, err)
			}
		}
	}
}

// TestMessages runs all graphs on some ranks of this process, also on more ranks than there are points.
func TestMessages(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 6} {
		err := mpi.Run(ranks, func(c *mpi.Comm) error {
			for _, g := range graphs() {
				p, err := NewPlan(g)
				if err != nil {
					return err
				}
				for _, runner := range []Runner{Messages{c}, Threads{c}} {
					if err := twiceOver(runner, NewRun(p, Own(g.Width, c.Rank(), c.Size()))); err != nil {
						return fmt.Errorf("%T, %+v: %w", runner, g, err)
					}
				}
			}
			return nil
		}, mpi.WithTimeout(time.Minute))
		if err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}

// TestLargeOutputs: outputs that are above the eager limit, so that no send ends before it is received.
func TestLargeOutputs(t *testing.T) {
	for _, typ := range []Type{Stencil1DPeriodic, AllToAll} {
		g := Graph{Type: typ, Steps: 5, Width: 4, Payload: 256 << 10}
		err := mpi.Run(2, func(c *mpi.Comm) error {
			p, err := NewPlan(g)
			if err != nil {
				return err
			}
			for _, runner := range []Runner{Messages{c}, Threads{c}} {
				if err := twiceOver(runner, NewRun(p, Own(g.Width, c.Rank(), c.Size()))); err != nil {
					return fmt.Errorf("%T: %w", runner, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%v: %v", typ, err)
		}
	}
}

// TestOwn: the ranks have all points, each one once.
func TestOwn(t *testing.T) {
	for _, width := range []int{1, 4, 7, 100} {
		for _, n := range []int{1, 2, 3, 8} {
			next := 0
			for rank := range n {
				own := Own(width, rank, n)
				if own.First != next || own.Len() > width/n+1 {
					t.Errorf("rank %d of %d has %v of %d points", rank, n, own, width)
				}
				next = own.Last + 1
			}
			if next != width {
				t.Errorf("%d ranks have %d of %d points", n, next, width)
			}
		}
	}
}
