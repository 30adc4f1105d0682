package local

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/bench"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEveryBenchmarkGivesARowForEachImplementation(t *testing.T) {
	for _, name := range Names() {
		var rows []bench.Row
		err := Run(t.Context(), name, []int{2}, 2*time.Millisecond, func(r bench.Row) { rows = append(rows, r) })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		contenders := benchmarks[name].contenders
		if len(rows) != len(contenders) {
			t.Errorf("%s: %d rows for %d contenders", name, len(rows), len(contenders))
		}
		for i, r := range rows {
			if r.Bench != name || r.Impl != contenders[i].impl || r.Threads != 2 || r.Unit != bench.Nano || r.Value <= 0 {
				t.Errorf("%s: row %+v", name, r)
			}
		}
	}
}

func TestSwitchWithManyPairs(t *testing.T) {
	b := benchmarks["switch"]
	for _, c := range b.contenders {
		if ns, err := b.measure(c, 64, time.Millisecond); err != nil || ns <= 0 {
			t.Errorf("%s: %v ns, error %v", c.impl, ns, err)
		}
	}
}

func TestBadNumbersOfThreads(t *testing.T) {
	for name, numbers := range map[string][]int{"switch": {-2, 0, 1, 3}, "table": {-1, 0}, "pool": {-1, 0, packets + 1}} {
		if err := Run(t.Context(), name, numbers[:1], time.Millisecond, nil); !errors.Is(err, ErrThreads) {
			t.Errorf("%s with %d threads: error %v, want %v", name, numbers[0], err, ErrThreads)
		}
		for _, n := range numbers {
			b := benchmarks[name]
			if _, err := b.measure(b.contenders[0], n, time.Millisecond); !errors.Is(err, ErrThreads) {
				t.Errorf("%s with %d threads: error %v, want %v", name, n, err, ErrThreads)
			}
		}
	}
}

func TestRunStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := Run(ctx, "switch", []int{2, 4}, time.Millisecond, func(bench.Row) { n++; cancel() })
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%d rows, error %v", n, err)
	}
}

func TestUnknownBenchmark(t *testing.T) {
	if err := Run(t.Context(), "none", []int{1}, time.Millisecond, nil); err == nil {
		t.Error("no error")
	}
}

// A pair that hands over wrongly does not come to an end, or ends out of turn: what a round means is checked here.
func TestRivalsAlternate(t *testing.T) {
	for name, create := range map[string]func() pingPong{"channel": newChannels, "sync.Cond": newConds} {
		p := create()
		pings, pongs := make(chan struct{}), make(chan struct{})
		go func() { p.ping(100); close(pings) }()
		go func() { p.pong(99); close(pongs) }()
		<-pongs
		select {
		case <-pings:
			t.Errorf("%s: 100 pings ended with 99 pongs", name)
		case <-time.After(10 * time.Millisecond):
		}
		p.pong(1)
		<-pings
	}
}
