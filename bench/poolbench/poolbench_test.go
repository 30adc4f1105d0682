package poolbench

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
		if ns, err := Run(impl, 2, time.Millisecond); err != nil || ns <= 0 {
			t.Errorf("Run(%s): %v ns, %v", impl, ns, err)
		}
	}
}

func TestBadArguments(t *testing.T) {
	if _, err := Run("nothing", 1, time.Millisecond); !errors.Is(err, ErrImpl) {
		t.Errorf("unknown implementation: %v", err)
	}
	for _, g := range []int{-1, 0, Packets + 1} {
		if _, err := Run("golci", g, time.Millisecond); !errors.Is(err, ErrGoroutines) {
			t.Errorf("%d goroutines: %v", g, err)
		}
	}
}

func BenchmarkPool(b *testing.B) {
	for _, impl := range Impls() {
		for _, g := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("impl=%s/goroutines=%d", impl, g), func(b *testing.B) {
				took, err := RunN(impl, g, b.N)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(PerOp(took, g, b.N), "ns/op")
			})
		}
	}
}
