package twin

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/boot"
	"github.com/golci/golci/internal/conduit/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ends are two ranks of a job in this process.
func ends(t *testing.T) ([]*boot.Job, []conduit.Conduit) {
	t.Helper()
	jobs, err := boot.Local(2)
	if err != nil {
		t.Fatal(err)
	}
	wires, err := local.New(2, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range wires {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return jobs, wires
}

func TestCrossingAgainAndAgain(t *testing.T) {
	jobs, wires := ends(t)
	var wg sync.WaitGroup
	for i := range jobs {
		wg.Go(func() {
			if i == 0 {
				if _, err := wires[0].(conduit.Memory).Register(Room); err != nil {
					t.Error(err)
				}
			}
			l, err := OpenLine(t.Context(), jobs[i], wires[i])
			if err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				ns, err := l.Crossing(t.Context())
				if err != nil || (ns > 0) != (i == 0) {
					t.Errorf("rank %d: %v ns, error %v", i, ns, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestOpenLineTellsWhatIsMissing(t *testing.T) {
	jobs, wires := ends(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := OpenLine(ctx, jobs[1], wires[1]); !errors.Is(err, why) {
		t.Errorf("nothing registered: %v", err)
	}
	if _, err := wires[0].(conduit.Memory).Register(Room / 2); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLine(t.Context(), jobs[1], wires[1]); !errors.Is(err, ErrShare) {
		t.Errorf("half of the memory: %v", err)
	}
	if _, err := OpenLine(t.Context(), jobs[0], nil); !errors.Is(err, ErrShare) {
		t.Errorf("no shared memory: %v", err)
	}
}

func TestJoinNeedsTwoRanks(t *testing.T) {
	if _, err := Join(t.Context()); !errors.Is(err, ErrRanks) {
		t.Errorf("a process without a launcher: %v", err)
	}
}
