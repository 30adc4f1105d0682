package twin

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/test/udptest"
	"github.com/golci/golci/rank"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(udptest.Patiently(m)) }

// ends are two ranks of a job in this process, connected by rings or as over says.
func ends(t *testing.T, over string) []*rank.Rank {
	t.Helper()
	team, err := rank.Local(2, rank.Config{Settings: map[string]string{"GOLCI_CONDUIT": over}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := team.Close(); err != nil {
			t.Error(err)
		}
	})
	return team.Ranks()
}

func TestCrossingAgainAndAgain(t *testing.T) {
	two := ends(t, "local")
	var wg sync.WaitGroup
	for i, r := range two {
		wg.Go(func() {
			l, err := ShareLine(t.Context(), r)
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

func TestShareLineNeedsSharedMemory(t *testing.T) {
	if _, err := ShareLine(t.Context(), ends(t, "udp")[0]); !errors.Is(err, ErrShare) {
		t.Errorf("no shared memory: %v", err)
	}
}

// TestShareLineEnds: a wait for a rank that does not come ends with the context.
func TestShareLineEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := ShareLine(ctx, ends(t, "local")[1]); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestStartNeedsTwoRanks(t *testing.T) {
	if _, err := Start(t.Context()); !errors.Is(err, ErrRanks) {
		t.Errorf("a process without a launcher: %v", err)
	}
}
