package core

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// TestFailureEndsWhatIsUnderWay: rank 0 has a call that does not wait under way, which rank 1 does not make, and waits
// in another one. Rank 1 gets the error of its call and calls nothing more before rank 0 is done. Later calls work
// again once both ranks have been told.
func TestFailureEndsWhatIsUnderWay(t *testing.T) {
	waits := map[string]func(c *Comm) error{
		"Barrier": (*Comm).Barrier,
		"Allreduce": func(c *Comm) error {
			var one, all [1]byte
			_, err := c.allAnd("Allreduce", one[:], all[:])
			return err
		},
	}
	starts := map[string]func(c *Comm) (Request, error){
		"Ibarrier": (*Comm).Ibarrier,
		"Iallreduce": func(c *Comm) (Request, error) {
			b := make([]byte, 2)
			return c.Start(&Coll{
				Kind: KindAllreduce, What: "Iallreduce", Elem: signature.ByteElem, In: SideOf(b[:1]), Out: SideOf(b[1:]),
				Operator: Operator{Combiner: and{}, Commutes: true},
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
					isolated(t, where, check, func(d *Comm) error {
						return hasUnderWay(d, starts[k[0]], waits[k[1]], waits[k[2]], several)
					})
				})
			}
		}
	}
}

// isolated has two ranks that go on after errors do f, on a communicator that has a shared segment if it is to be over
// memory.
func isolated(t *testing.T, where, check string, f func(d *Comm) error) {
	t.Helper()
	run(t, 2, func(c *Comm) error {
		c.proc.Isolate()
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
func hasUnderWay(d *Comm, start func(*Comm) (Request, error), wait, other func(*Comm) error, several bool) error {
	var b [1]byte
	if d.Rank() == 1 {
		if err := other(d); !errors.Is(err, sentinel.ErrMismatch) {
			return fmt.Errorf("rank 1: %w", err)
		}
		if _, err := d.RecvAny("Recv", signature.ByteElem, b[:], 0, 9); err != nil {
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
				_, err = next.Wait("Wait")
			}
			if !errors.Is(err, sentinel.ErrCollective) {
				return fmt.Errorf("rank 0, the one started after it: %w", err)
			}
		} else if err := wait(d); !errors.Is(err, sentinel.ErrCollective) {
			return fmt.Errorf("rank 0: %w", err)
		}
		if _, err := r.Wait("Wait"); !errors.Is(err, sentinel.ErrMismatch) {
			return fmt.Errorf("rank 0, the request: %w", err)
		}
		if err := d.SendAny("Send", signature.ByteElem, b[:], 1, 9, comm.Standard); err != nil {
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

func endsBefore(d *Comm) error {
	var b [1]byte
	tell := func() error { return d.SendAny("Send", signature.ByteElem, b[:], 1, 9, comm.Standard) }
	hear := func() error { _, err := d.RecvAny("Recv", signature.ByteElem, b[:], 0, 9); return err }
	bcast := func() error {
		return d.Do(&Coll{Kind: KindBcast, What: "Bcast", Elem: signature.ByteElem, Out: SideOf(b[:])})
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
