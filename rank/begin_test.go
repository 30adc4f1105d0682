package rank

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/transport/shm"
)

// TestNoneBeforeAll: no rank is up before all are. Rank 1 is not, until rank 0 waits for it or is up too early.
func TestNoneBeforeAll(t *testing.T) {
	if shm.Lacks() != nil {
		t.Setenv("GOLCI_CONDUIT", "udp")
	}
	jobs, err := boot.Local(2)
	if err != nil {
		t.Fatal(err)
	}
	var up atomic.Bool // rank 0
	slow := Config{Attach: func(*Rank) error {
		for !up.Load() && !waitsForOthers() {
			runtime.Gosched()
		}
		if up.Load() {
			t.Error("rank 0 is up before rank 1")
		}
		return nil
	}}
	var both sync.WaitGroup
	for i, cfg := range []Config{{}, slow} {
		both.Go(func() {
			r, err := On(t.Context(), jobs[i], cfg)
			if i == 0 {
				up.Store(true)
			}
			if err != nil {
				t.Errorf("rank %d: %v", i, err)
				return
			}
			if err := r.Finalize(t.Context()); err != nil {
				t.Errorf("rank %d: %v", i, err)
			}
		})
	}
	both.Wait()
}

// waitsForOthers reports whether a rank waits in the start barrier.
func waitsForOthers() bool {
	buf := make([]byte, 1<<20)
	return strings.Contains(string(buf[:runtime.Stack(buf, true)]), "(*Rank).together(")
}
