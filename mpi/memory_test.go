package mpi

import (
	"os"
	"strconv"
	"strings"
)

// freeMemory is what the system could give, in bytes; 0 where it does not say.
func freeMemory() int {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemAvailable:" {
			kib, err := strconv.Atoi(f[1])
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
