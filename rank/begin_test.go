package rank

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/job/exit"
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

// TestEnderOfALaterWorld: ranks of a world that does not begin at 0 count from its first one. What they send to each
// other about the end reaches no other world.
func TestEnderOfALaterWorld(t *testing.T) {
	const size, begin, self = 4, 2, 2
	jobs, err := boot.Local(size)
	if err != nil {
		t.Fatal(err)
	}
	type news struct{ to, from int }
	came := make(chan news, size)
	for i, j := range jobs {
		if i == self {
			continue
		}
		p, err := j.OpenPlane(func(from int, _ []byte) { came <- news{i, from} })
		if errors.Is(err, boot.ErrNoPlane) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
	}
	jobs[self].First, jobs[self].Mates = begin, size-begin
	e, err := newEnder(&Rank{job: jobs[self], opts: mustOptions()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.closeEnder()
	e.sendAction(exit.Action{Kind: exit.Send, To: 1})
	e.sends.Wait()
	if got, want := <-came, (news{begin + 1, self}); got != want {
		t.Errorf("a message to rank 1 of the world came to rank %d of the job, from %d", got.to, got.from)
	}
}
