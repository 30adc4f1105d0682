//go:build !linux

package crossing

import "runtime"

// pin does nothing: the threads stay where the system puts them, which with two busy threads is on two cores.
func pin(int) error { return nil }

func usable() []int {
	cpus := make([]int, runtime.NumCPU())
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}
