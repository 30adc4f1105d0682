package win

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/epoch"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/op"
)

// TestOperationNotOfTheType: an operation that the type of the elements does not have is an error of the call itself,
// whether the memory is reached directly or by messages. The memory stays as it is.
func TestOperationNotOfTheType(t *testing.T) {
	for name, make := range makers {
		t.Run(name, func(t *testing.T) {
			ranks(t, 2, func(c *core.Comm) error {
				w, err := make(c, 4)
				if err != nil {
					return err
				}
				memory(w)[0] = 5
				one, double := []int64{1}, dtype.Named(dtype.Double)
				from, to := longs(one), at(1-c.Rank(), 0, 1)
				from.T, to.T = double, double
				if err := first(c.Barrier(), w.LockAll(0)); err != nil {
					return err
				}
				if err := w.Accumulate(from, to, op.Band); !errors.Is(err, errs.Op) {
					return fmt.Errorf("Accumulate gave %v", err)
				}
				return first(w.UnlockAll(), c.Barrier(), expect("the target", memory(w)[0], 5), w.Free())
			})
		})
	}
}

// TestLockAllInVain: LockAll where the epoch forbids it takes no lock, so that none stays taken.
func TestLockAllInVain(t *testing.T) {
	ranks(t, 1, func(c *core.Comm) error {
		w, _, err := own(c, 1)
		if err != nil {
			return err
		}
		if err := w.Lock(epoch.Shared, 0, 0); err != nil {
			return err
		}
		if err := w.LockAll(0); !errors.Is(err, errs.RMASync) {
			return fmt.Errorf("LockAll gave %v", err)
		}
		if err := w.Unlock(0); err != nil {
			return err
		}
		w.mu.Lock()
		holders, granted := w.lock.holders, w.counts[0][gotLock].Load()-w.usedUp[0][gotLock]
		w.mu.Unlock()
		return first(expect("the number of locks that are held", int64(holders), 0),
			expect("the number of locks that nobody has used", int64(granted), 0), w.Free())
	})
}

// TestWaitThatFails: a wait for the end of an exposure that fails does not end the exposure.
func TestWaitThatFails(t *testing.T) {
	ranks(t, 2, func(c *core.Comm) error {
		w, _, err := own(c, 1)
		if err := first(err, c.Barrier()); err != nil || c.Rank() == 1 { // rank 1 has the window before it is revoked
			return err
		}
		if err := first(w.Post([]int{1}, 0), w.c.Revoke()); err != nil {
			return err
		}
		if err := w.Wait(); !errors.Is(err, errs.Revoked) {
			return fmt.Errorf("Wait gave %v", err)
		}
		if got := w.epoch.Exposed(); len(got) != 1 || got[0] != 1 {
			return fmt.Errorf("the memory is exposed to %v", got)
		}
		return nil
	})
}

// TestSharedOutOfReach: ranks that do not reach each other's memory get an error from AllocateShared, all of them.
func TestSharedOutOfReach(t *testing.T) {
	ranks(t, 2, func(c *core.Comm) error {
		if _, err := AllocateShared(c, 8, 1); !errors.Is(err, errs.RMAShared) {
			return fmt.Errorf("AllocateShared gave %v", err)
		}
		return c.Barrier()
	}, "GOLCI_CONDUIT", "udp")
}
