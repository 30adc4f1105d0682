package tablebench

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRunsAll(t *testing.T) {
	for _, impl := range Impls() {
		for name, run := range map[string]func(string, int, time.Duration) (float64, error){"Run": Run, "Cross": Cross} {
			if ns, err := run(impl, 2, time.Millisecond); err != nil || ns <= 0 {
				t.Errorf("%s(%s): %v ns, %v", name, impl, ns, err)
			}
		}
	}
}

func TestBadArguments(t *testing.T) {
	if _, err := Run("nothing", 1, time.Millisecond); !errors.Is(err, ErrImpl) {
		t.Errorf("unknown implementation: %v", err)
	}
	if _, err := Run("golci", 0, time.Millisecond); !errors.Is(err, ErrGoroutines) {
		t.Errorf("no goroutines: %v", err)
	}
	if _, err := Cross("golci", 3, time.Millisecond); !errors.Is(err, ErrGoroutines) {
		t.Errorf("odd goroutines: %v", err)
	}
}

func TestMismatchIsFound(t *testing.T) {
	m, err := newMatcher("golci")
	if err != nil {
		t.Fatal(err)
	}
	m.insertOrMatch(5, new(node), 0) // in the way of the fifth post
	if err := (workload{Window, Window}).run(m, 0, 2*Window); err == nil {
		t.Error("a wrong match went unnoticed")
	}
}

func BenchmarkTable(b *testing.B) { bench(b, RunN, 1, 2, 4, 8) }

// BenchmarkSweep never uses a key twice.
func BenchmarkSweep(b *testing.B) { bench(b, SweepN, 1, 2) }

// BenchmarkFull has one key a bucket in the table.
func BenchmarkFull(b *testing.B) { bench(b, FullN, 1, 2) }

// BenchmarkCross posts on one goroutine of a pair and matches on the other.
func BenchmarkCross(b *testing.B) { bench(b, CrossN, 2, 4, 8) }

func bench(b *testing.B, run func(string, int, int) (time.Duration, error), goroutines ...int) {
	for _, impl := range Impls() {
		for _, g := range goroutines {
			b.Run(fmt.Sprintf("impl=%s/goroutines=%d", impl, g), func(b *testing.B) {
				took, err := run(impl, g, b.N)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(PerOp(took, g, b.N), "ns/op")
			})
		}
	}
}
