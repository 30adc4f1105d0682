//go:build !linux

package affinity

import (
	"fmt"
	"runtime"
)

// Set only checks cpus, because this system cannot bind threads. The error names a CPU that does not exist.
func Set(cpus ...int) error {
	for _, cpu := range cpus {
		if cpu < 0 || cpu >= runtime.NumCPU() {
			return fmt.Errorf("affinity: CPU %d is not within 0..%d", cpu, runtime.NumCPU()-1)
		}
	}
	return nil
}

// Yield lets another goroutine run. This system has no call for threads.
func Yield() { runtime.Gosched() }

func check() error { return nil }

// Get returns the numbers of all CPUs.
func Get() []int {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}
