package win

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/mpi/internal/core"
)

// TestRegionNumberIsUsedAgain: a rank that has called Free may have a new window before the other rank's Free has
// ended. The new window's region has the old number. Accesses to it must not reach the memory of the old one.
func TestRegionNumberIsUsedAgain(t *testing.T) {
	inFree, again, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	ranks(t, 2, func(c *core.Comm) error {
		w, mem, err := own(c, 4)
		if err != nil {
			return err
		}
		mem[0] = 5
		got := []int64{0}
		err = first(c.Barrier(), w.LockAll(0), w.Get(longs(got), at(1-c.Rank(), 0, 1)), w.UnlockAll(), c.Barrier())
		err = first(err, expect("the old window's memory", got[0], 5))
		m, number := w.s.m, w.region
		if c.Rank() == 1 {
			errc := make(chan error, 1)
			go func() {
				for !slices.ContainsFunc(c.Proc().OfRank().Endpoint().Pending().Ops(), waits) {
					c.Srv.Poll()
				}
				close(inFree)
				<-again
				var b [8]byte
				err := m.Get(0, rma.Region(w.ranks[0].region).At(0), b[:])
				errc <- first(err, expect("the new window's memory", int64(b[0]), 7))
				close(over)
			}()
			return errors.Join(err, w.Free(), <-errc)
		}
		<-inFree
		m.RemoveRegion(number)
		fresh := []int64{7, 0}
		next, e := m.AddRegion(unsafe.Slice((*byte)(unsafe.Pointer(&fresh[0])), 16), false)
		if e == nil && next != number {
			e = fmt.Errorf("the new region is number %d, and the test wants %d", next, number)
		}
		close(again)
		for e == nil {
			select {
			case <-over:
				return errors.Join(err, w.Free())
			default:
				c.Srv.Poll()
			}
		}
		return errors.Join(err, e)
	})
}

// waits reports whether o is an operation of this rank: here that of the barrier in Free.
func waits(o pending.Op) bool { return !o.Unexpected() }
