//go:build !linux

package topology

import (
	"errors"
	"runtime"
)

// Usable lists the CPUs that the process may run on.
func Usable() []int {
	out := make([]int, runtime.NumCPU())
	for i := range out {
		out[i] = i
	}
	return out
}

// Pin would bind the calling OS thread to cpus; this system offers no way, so it always fails.
func Pin([]int) error { return errors.New("golci: binding to cores needs Linux") }

func readCPU(id int) CPU { return CPU{ID: id, Core: id} }

func readCaches([]CPU) []Cache { return nil }
