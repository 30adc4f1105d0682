package million

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/mpi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// measure runs two ranks in this process.
func measure(c Config) (rows []bench.Row, err error) {
	var mu sync.Mutex
	err = mpi.Run(2, func(w *mpi.Comm) error {
		return Run(w.Proc(), c, func(r bench.Row) {
			mu.Lock()
			defer mu.Unlock()
			rows = append(rows, r)
		})
	}, mpi.WithWorkers(2))
	return rows, err
}

// TestRows: every thread is served in every round, and rank 0 alone hands out one row of each kind.
func TestRows(t *testing.T) {
	n := 1501 // does not divide evenly among the workers
	if invariants.Race {
		n = 301
	}
	rows, err := measure(Config{Threads: n, Rounds: 3})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rows {
		t.Logf("%-16s %10.1f %s", r.Bench, r.Value, r.Unit)
		names = append(names, r.Bench)
		if r.Threads != n || r.Impl != bench.Golci {
			t.Errorf("row %+v", r)
		}
		if r.Unit == bench.PerSecond && r.Bench == Rate && r.Value <= 0 {
			t.Errorf("no messages: %+v", r)
		}
	}
	if want := []string{Memory, GoMemory, Rate, Collecting, CollectionMs, PauseMs}; !slices.Equal(names, want) {
		t.Errorf("rows %q, want %q", names, want)
	}
}

// TestAWrongMessageIsNoticed has somebody else send to a thread, which must end the run.
func TestAWrongMessageIsNoticed(t *testing.T) {
	err := mpi.Run(2, func(w *mpi.Comm) error {
		if err := mpi.Send(w, []uint64{7}, 1-w.Rank(), 3); err != nil {
			return err
		}
		return Run(w.Proc(), Config{Threads: 10, Rounds: 1}, func(bench.Row) {})
	})
	if !errors.Is(err, ErrPayload) {
		t.Errorf("error %v, want %v", err, ErrPayload)
	}
}

func TestBadConfig(t *testing.T) {
	for _, c := range []Config{{Threads: 0}, {Threads: 1}, {Threads: -4}, {Threads: mpi.TagUB + 2}, {Threads: 10, Rounds: -1}} {
		if _, err := measure(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: error %v, want %v", c, err, ErrConfig)
		}
	}
	err := mpi.Run(1, func(w *mpi.Comm) error { return Run(w.Proc(), Config{Threads: 10}, nil) })
	if !errors.Is(err, ErrConfig) {
		t.Errorf("one rank: error %v, want %v", err, ErrConfig)
	}
}

func TestResidentIn(t *testing.T) {
	for status, want := range map[string]int64{
		"Name:\tx\nVmRSS:\t    2048 kB\nRssAnon:\t 1 kB\n": 2 << 20,
		"Name:\tx\n":       0,
		"VmRSS: many kB\n": 0,
	} {
		if got := residentIn(status); got != want {
			t.Errorf("residentIn(%q) = %d, want %d", status, got, want)
		}
	}
}
