package coll

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// TestFailureEndsWhatIsUnderWay: rank 0 has a call that does not wait under way, which rank 1 does not make, and waits
// in another one. Rank 1 gets the error of its call and calls nothing more before rank 0 is done. Later calls work
// again once both ranks have been told.
func TestFailureEndsWhatIsUnderWay(t *testing.T) {
	waits := map[string]func(c *testComm) error{
		"Barrier": (*testComm).Barrier,
		"Allreduce": func(c *testComm) error {
			var one, all [1]byte
			_, err := c.allAnd(one[:], all[:])
			return err
		},
	}
	starts := map[string]func(c *testComm) (comm.Req, error){
		"Ibarrier": (*testComm).Ibarrier,
		"Iallreduce": func(c *testComm) (comm.Req, error) {
			b := make([]byte, 2)
			return c.Start(&argument.Description{
				Kind: argument.KindAllreduce, What: "Iallreduce", Elem: signature.ByteElem,
				In: argument.SideOf(b[:1]), Out: argument.SideOf(b[1:]),
				Operator: argument.Operator{Combiner: argument.And{}, Commutes: true},
			})
		},
	}
	for _, k := range [][3]string{
		{"Iallreduce", "Barrier", "Barrier"},
		{"Ibarrier", "Allreduce", "Allreduce"},
		{"Iallreduce", "Barrier", "Allreduce"},
		{"Ibarrier", "Barrier", "Allreduce"},
	} {
		for _, where := range []string{"memory", "messages"} {
			for i := range 4 {
				several, check := i%2 == 1, []string{"off", "types"}[i/2]
				t.Run(fmt.Sprintf("%v/%s/%s/several=%v", k, where, check, several), func(t *testing.T) {
					isolated(t, where, check, func(d *testComm) error {
						return hasUnderWay(d, starts[k[0]], waits[k[1]], waits[k[2]], several)
					})
				})
			}
		}
	}
}

// isolated has two ranks that go on after errors do f, on a communicator that has a shared segment if it is to be over
// memory.
func isolated(t *testing.T, where, check string, f func(d *testComm) error) {
	t.Helper()
	run(t, 2, func(c *testComm) error {
		c.OfRank.Isolate()
		d, err := c.Dup()
		for i := 0; i < 2*shmFrom && err == nil; i++ {
			err = d.Barrier()
		}
		if err != nil {
			return err
		}
		return f(d)
	}, "GOLCI_COLLECTIVES", where, "GOLCI_CHECK", check)
}

// hasUnderWay has rank 0 start a call and wait in another one, or in several started ones, while rank 1 makes one that
// differs.
func hasUnderWay(
	d *testComm, start func(*testComm) (comm.Req, error), wait, other func(*testComm) error, several bool,
) error {
	if d.Rank() == 1 {
		if err := other(d); !errors.Is(err, sentinel.ErrMismatch) {
			return fmt.Errorf("rank 1: %w", err)
		}
		if err := d.hear(0); err != nil {
			return err
		}
	} else {
		r, err := start(d)
		if err != nil {
			return err
		}
		if several {
			next, err := d.Ibarrier()
			if err == nil {
				err = d.wait(next)
			}
			if !errors.Is(err, sentinel.ErrCollective) {
				return fmt.Errorf("rank 0, the one started after it: %w", err)
			}
		} else if err := wait(d); !errors.Is(err, sentinel.ErrCollective) {
			return fmt.Errorf("rank 0: %w", err)
		}
		if err := d.wait(r); !errors.Is(err, sentinel.ErrMismatch) {
			return fmt.Errorf("rank 0, the request: %w", err)
		}
		if err := d.tell(1); err != nil {
			return err
		}
	}
	// Rank 1 has made one call less. Its next one has failed on rank 0.
	if d.Rank() == 1 {
		if err := d.Barrier(); !errors.Is(err, sentinel.ErrCollective) {
			return fmt.Errorf("rank 1, its second call: %w", err)
		}
	}
	for range 3 {
		if err := d.Barrier(); err != nil {
			return fmt.Errorf("rank %d, later: %w", d.Rank(), err)
		}
	}
	return nil
}

// TestFailureOfACallThatHasEnded: rank 0 is done with a call, in which it only sends, before rank 1 finds that its own
// one differs, and calls nothing more. The next call of rank 0 fails, and no other one.
func TestFailureOfACallThatHasEnded(t *testing.T) {
	for _, where := range []string{"memory", "messages"} {
		t.Run(where, func(t *testing.T) {
			isolated(t, where, "off", endsBefore)
		})
	}
}

func endsBefore(d *testComm) error {
	var b [1]byte
	tell := func() error { return d.tell(1) }
	hear := func() error { return d.hear(0) }
	bcast := func() error {
		return d.Do(&argument.Description{
			Kind: argument.KindBcast, What: "Bcast", Elem: signature.ByteElem, Out: argument.SideOf(b[:]),
		})
	}
	barrier := func(want error) func() error {
		return func() error {
			if err := d.Barrier(); !errors.Is(err, want) {
				return fmt.Errorf("want %w: %w", want, err)
			}
			return nil
		}
	}
	steps := []func() error{bcast, tell, barrier(sentinel.ErrMismatch), tell}
	if d.Rank() == 1 { // its second call has failed on rank 0
		steps = []func() error{hear, barrier(sentinel.ErrMismatch), hear, barrier(sentinel.ErrCollective)}
	}
	for i, step := range append(steps, d.Barrier, d.Barrier, d.Barrier) {
		if err := step(); err != nil {
			return fmt.Errorf("rank %d, step %d: %w", d.Rank(), i, err)
		}
	}
	return nil
}
