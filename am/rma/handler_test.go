package rma

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/am"
)

// TestNothingRemoteInAHandler: what needs another rank's answer is refused in a callback, and a wait for an operation
// leaves it as it was.
func TestNothingRemoteInAHandler(t *testing.T) {
	j := newJob(t, 2, ways[1], newSeed(t))
	b := newBarrier(2)
	var ran atomic.Bool
	j.run(func(m *Memory) error {
		peer := 1 - m.Rank()
		var h Handle
		m.OnPut(7, func(int, int64, int, uint64) {
			var v [8]byte
			errs := map[string]error{"Put": m.Put(peer, 0, v[:]), "Get": m.Get(peer, 0, v[:])}
			_, errs["FetchAdd"] = FetchAdd[int64](m, peer, 0, 1)
			errs["WaitCounter"] = m.WaitCounter(0, 1)
			if !h.isReady() {
				errs["Handle.Wait"] = h.Wait()
				errs["WaitAll"] = WaitAll([]Handle{h})
			}
			for what, err := range errs {
				if !errors.Is(err, am.ErrContext) {
					t.Errorf("%s in a callback: %v", what, err)
				}
			}
			ran.Store(true)
		})
		var err error
		if m.Rank() == 1 {
			if h, err = m.GetNB(peer, 0, make([]byte, 8)); err != nil {
				return err
			}
		}
		b.wait()
		if m.Rank() == 0 {
			if err := m.PutCall(peer, 0, make([]byte, 8), 7, 0); err != nil {
				return err
			}
			eventually(t, "the callback", ran.Load)
		}
		b.wait()
		return h.Wait()
	})
}
