package affinity

import (
	"errors"
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
	all := Get()
	for _, cpu := range all {
		bound := make(chan []int)
		go func() {
			runtime.LockOSThread() // for good: the thread ends with the goroutine
			if err := Set(cpu); err != nil {
				t.Errorf("Set(%d): %v", cpu, err)
			}
			bound <- Get()
			if err := Set(all...); err != nil {
				t.Errorf("Set(%v): %v", all, err)
			}
			bound <- Get()
		}()
		if got := <-bound; runtime.GOOS == "linux" && !slices.Equal(got, []int{cpu}) {
			t.Errorf("after Set(%d) the thread may use %v", cpu, got)
		}
		if got := <-bound; !slices.Equal(got, all) {
			t.Errorf("after Set(%v) the thread may use %v", all, got)
		}
	}
}

// TestCheckChangesNothing: a thread that is bound stays so.
func TestCheckChangesNothing(t *testing.T) {
	cpu := Get()[0]
	got := make(chan []int)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		if err := errors.Join(Set(cpu), Check()); err != nil {
			t.Error(err)
		}
		got <- Get()
	}()
	if now := <-got; runtime.GOOS == "linux" && !slices.Equal(now, []int{cpu}) {
		t.Errorf("after Check a thread bound to %d may use %v", cpu, now)
	}
}

func TestSetRefuses(t *testing.T) {
	for _, cpu := range []int{-1, 1 << 20} {
		if Set(cpu) == nil {
			t.Errorf("Set(%d) succeeded", cpu)
		}
	}
}
