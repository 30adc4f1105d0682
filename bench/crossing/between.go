package crossing

import (
	"errors"
	"runtime"

	"github.com/golci/golci/internal/platform/affinity"
)

// errTwo: one CPU, or one thread at a time, is not enough.
var errTwo = errors.New("crossing: needs two CPUs, and GOMAXPROCS of at least 2")

// Between measures between two CPUs of this process, in ns one way. It blocks for a few ms and spins on both CPUs. The
// numbers are the operating system's; where threads cannot be bound they stay where the system puts them. Error: the
// CPUs are one, or GOMAXPROCS is, or a thread could not be bound.
func Between(a, b int) (float64, error) {
	if a == b || runtime.GOMAXPROCS(0) < 2 {
		return 0, errTwo
	}
	lines := new(Lines)
	failed := make(chan error, 2)
	result := make(chan float64, 2)
	onCPU(b, failed, func() { Follow(lines); result <- 0 })
	if err := <-failed; err != nil {
		return 0, err
	}
	onCPU(a, failed, func() { result <- Lead(lines) })
	if err := <-failed; err != nil {
		lines.trip(stop | 1)
		<-result
		return 0, err
	}
	return max(<-result, <-result), nil
}

// onCPU runs f on a new OS thread pinned to cpu. The thread ends with f, since it is never unlocked.
func onCPU(cpu int, pinned chan<- error, f func()) {
	go func() {
		runtime.LockOSThread()
		err := affinity.Set(cpu)
		pinned <- err
		if err == nil {
			f()
		}
	}()
}

// Here measures between the first two CPUs that this process may use; 0 where that cannot be done.
func Here() (float64, error) {
	cpus := affinity.Get()
	if len(cpus) < 2 {
		return 0, nil
	}
	ns, _ := Between(cpus[0], cpus[1])
	return ns, nil
}
