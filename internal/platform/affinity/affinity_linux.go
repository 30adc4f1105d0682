package affinity

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

const maxCPU = 1024

// Set binds the calling OS thread to cpus. Call runtime.LockOSThread first, and keep the goroutine locked. Otherwise
// the bound thread goes back to the pool of the runtime. A process that the thread starts inherits the binding. The
// error names the CPUs, and wraps that of the kernel if the kernel has refused.
func Set(cpus ...int) error {
	var set unix.CPUSet
	for _, cpu := range cpus {
		if cpu < 0 || cpu >= maxCPU {
			return fmt.Errorf("affinity: CPU %d is not within 0..%d", cpu, maxCPU-1)
		}
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("affinity: sched_setaffinity to CPUs %v: %w", cpus, err)
	}
	return nil
}

// Yield lets another OS thread run that waits for the CPU of the caller. The goroutine keeps its OS thread and its P.
func Yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

func check() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinity(0, &set))
}

// Get returns the CPUs that the calling OS thread may use, in ascending order, or nil if the kernel does not tell them.
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
