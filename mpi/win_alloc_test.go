package mpi

import (
	"errors"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/invariants"
)

// TestWindowAllocations: accesses to memory that is reached by loads and stores allocate nothing, and neither does the
// flush after them.
func TestWindowAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	must(t, 2, func(c *Comm) error {
		w, err := AllocateWin[int64](c, 4)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			err = w.Locked(LockShared, 1, func() error { return windowAllocations(t, w) })
		}
		return errors.Join(err, c.Barrier(), w.Free())
	}, With(settings.Conduit.Env(), "local"))
}

func windowAllocations(t *testing.T, w *Win[int64]) (failed error) {
	buf := make([]int64, 4)
	for name, most := range map[string]float64{"Put": 0, "Get": 0, "Accumulate": 0, "FetchAndOp": 0, "CompareAndSwap": 0} {
		got := testing.AllocsPerRun(100, func() {
			switch name {
			case "Put":
				failed = errors.Join(failed, w.Put(buf, 1, 0))
			case "Get":
				failed = errors.Join(failed, w.Get(buf, 1, 0))
			case "Accumulate":
				failed = errors.Join(failed, w.Accumulate(buf, 1, 0, Sum))
			case "FetchAndOp":
				failed = errors.Join(failed, w.FetchAndOp(1, &buf[0], 1, 0, Sum))
			default:
				failed = errors.Join(failed, w.CompareAndSwap(1, 0, &buf[0], 1, 0))
			}
			failed = errors.Join(failed, w.Flush(1))
		})
		if got > most {
			t.Errorf("%s and Flush: %v allocations, want at most %v", name, got, most)
		}
	}
	return failed
}
