package rank

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/fult"
)

// TestAbortEndsThreads: the error of one rank ends threads of another that wait for a lock. Its own goroutine, which
// joins them, gets ErrClosed, which counts as a result of the abort.
func TestAbortEndsThreads(t *testing.T) {
	boom := errors.New("boom")
	for _, kind := range []fult.Kind{fult.Fult, fult.Goroutines} {
		t.Run(kind.String(), func(t *testing.T) {
			ready := make(chan struct{})
			var held atomic.Bool
			err := job(t, 2, with("GOLCI_SCHEDULER", kind.String()), func(r *Rank) error {
				if r.Rank() == 1 {
					<-ready
					return boom
				}
				var m fult.Mutex
				m.Lock(nil)
				h, err := r.Go(func() {
					close(ready)
					m.Lock(nil)
					held.Store(true)
				})
				if err != nil {
					return err
				}
				err = h.Join()
				if !errors.Is(err, fult.ErrClosed) {
					t.Errorf("Join: %v", err)
				}
				return err
			})
			if want := "rank 1: boom"; err == nil || err.Error() != want || held.Load() {
				t.Errorf("%v, want %s; the thread had the lock: %v", err, want, held.Load())
			}
		})
	}
}
