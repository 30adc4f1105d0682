package million

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// memory is what a process uses, in bytes.
type memory struct {
	resident int64 // by the system's account; 0 where it does not tell
	heap     int64 // in use, by the runtime's account
	stacks   int64
}

// takeMemory collects garbage first, so that what it returns is in use.
func takeMemory() memory {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return memory{resident: resident(), heap: int64(m.HeapInuse), stacks: int64(m.StackInuse)}
}

func (m memory) since(before memory) memory {
	return memory{m.resident - before.resident, m.heap - before.heap, m.stacks - before.stacks}
}

// resident reads the resident memory of this process where the system has /proc, else it is 0.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	return residentIn(string(text))
}

func residentIn(status string) int64 {
	_, rest, _ := strings.Cut(status, "VmRSS:")
	line, _, _ := strings.Cut(rest, "\n")
	kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
