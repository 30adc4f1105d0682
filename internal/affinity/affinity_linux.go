package affinity

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// maxCPU bounds the CPU numbers of this package: the size of unix.CPUSet.
const maxCPU = 1024

// Set binds the calling OS thread to CPU cpu. Call runtime.LockOSThread first; and leave the goroutine locked, or the
// bound thread goes back to the runtime's pool.
func Set(cpu int) error {
	if cpu < 0 || cpu >= maxCPU {
		return fmt.Errorf("affinity: CPU %d is not within 0..%d", cpu, maxCPU-1)
	}
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("affinity: binding to CPU %d: %w", cpu, err)
	}
	return nil
}

// Get returns the CPUs that the calling OS thread may use, ascending; nil if the kernel will not say.
func Get() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	cpus := make([]int, 0, set.Count())
	for cpu := range maxCPU {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}
