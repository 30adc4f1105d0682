package topology

import "slices"

// Resources are kinds of hardware that CPUs share, from the largest to the smallest, with hwloc's names. PU is a CPU.
var Resources = []string{"Package", "NUMANode", "L3Cache", "L2Cache", "L1Cache", "Core", "PU"}

// Instances tells for each of Resources which one holds all of cpus, by a number that is unique on the machine. It is
// negative if they are of several, if it is not known, or if there are no cpus. It reads files.
func Instances(cpus []int) []int { return commonInstances(cpus, instancesOf) }

// commonInstances is the instances of the first CPU that all others have, too.
func commonInstances(cpus []int, of func(cpu int) []int) []int {
	all := slices.Repeat([]int{-1}, len(Resources))
	for n, cpu := range cpus {
		for i, instance := range of(cpu) {
			if n == 0 {
				all[i] = instance
			} else if all[i] != instance {
				all[i] = -1
			}
		}
	}
	return all
}
