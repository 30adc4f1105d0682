//go:build !linux

package affinity

import (
	"fmt"
	"runtime"
)

// Set checks cpu and does nothing else: this system has no call for it.
func Set(cpu int) error {
	if cpu < 0 || cpu >= runtime.NumCPU() {
		return fmt.Errorf("affinity: CPU %d is not within 0..%d", cpu, runtime.NumCPU()-1)
	}
	return nil
}

// Get returns the numbers of all CPUs.
func Get() []int {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}
