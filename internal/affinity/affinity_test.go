package affinity

import (
	"runtime"
	"slices"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestGetIsSortedAndNotEmpty(t *testing.T) {
	cpus := Get()
	if len(cpus) == 0 || !slices.IsSorted(cpus) {
		t.Fatalf("Get() = %v", cpus)
	}
	if Count() != len(cpus) {
		t.Errorf("Count() = %d, Get() = %v", Count(), cpus)
	}
}

func TestSetBindsThisThread(t *testing.T) {
	for _, cpu := range Get() {
		bound := make(chan []int)
		go func() {
			runtime.LockOSThread() // for good: the thread ends with the goroutine
			if err := Set(cpu); err != nil {
				t.Errorf("Set(%d): %v", cpu, err)
			}
			bound <- Get()
		}()
		if got := <-bound; runtime.GOOS == "linux" && !slices.Equal(got, []int{cpu}) {
			t.Errorf("after Set(%d) the thread may use %v", cpu, got)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	for _, cpu := range []int{-1, 1 << 20} {
		if Set(cpu) == nil {
			t.Errorf("Set(%d) succeeded", cpu)
		}
	}
}
