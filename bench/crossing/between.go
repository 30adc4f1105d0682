package crossing

import (
	"fmt"
	"runtime"
)

// Between measures between two CPUs of this process, in ns one way. It blocks for a few ms and spins on both CPUs. The
// numbers are the operating system's; where threads cannot be pinned they are not looked at. An error says that a
// thread could not be pinned.
func Between(a, b int) (float64, error) {
	lines := new(Lines)
	failed := make(chan error, 2)
	result := make(chan float64, 2)
	onCPU(b, failed, func() { Follow(lines); result <- 0 })
	if err := <-failed; err != nil {
		return 0, fmt.Errorf("crossing: cpu %d: %w", b, err)
	}
	onCPU(a, failed, func() { result <- Lead(lines) })
	if err := <-failed; err != nil {
		lines.trip(stop | 1)
		<-result
		return 0, fmt.Errorf("crossing: cpu %d: %w", a, err)
	}
	return max(<-result, <-result), nil
}

// onCPU runs f on a new OS thread pinned to cpu. The thread ends with f, since it is never unlocked, so that no other
// goroutine inherits the pinning.
func onCPU(cpu int, pinned chan<- error, f func()) {
	go func() {
		runtime.LockOSThread()
		err := pin(cpu)
		pinned <- err
		if err == nil {
			f()
		}
	}()
}

// Here measures between the first two CPUs that this process may use; 0 when there is only one, or no way to pin.
func Here() float64 {
	cpus := usable()
	if len(cpus) < 2 {
		return 0
	}
	ns, err := Between(cpus[0], cpus[1])
	if err != nil {
		return 0
	}
	return ns
}
