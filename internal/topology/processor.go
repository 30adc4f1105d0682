package topology

import (
	"cmp"

	"github.com/klauspost/cpuid/v2"
)

// LayoutLine is the length of a cache line that the layouts of this module assume. Where the machine's is longer, neighbours
// share a line: that costs time, never correctness.
const LayoutLine = 64

// Processor is what the processor says of itself. What it does not say is empty or 0.
type Processor struct {
	Name  string
	Level int // of x86-64, 1 to 4
	Line  int // bytes in a cache line
}

// ReadProcessor asks the processor that the caller runs on.
func ReadProcessor() Processor {
	c := cpuid.CPU
	name := cmp.Or(c.BrandName, c.VendorString)
	return Processor{Name: name, Level: c.X64Level(), Line: c.CacheLine}
}

// processorCaches are the caches that one CPU sees, where the system does not list them. How many there are is not known.
func processorCaches() (all []Cache) {
	c := cpuid.CPU
	for _, x := range []Cache{
		{Level: 1, Type: "Data", Bytes: int64(c.Cache.L1D)},
		{Level: 1, Type: "Instruction", Bytes: int64(c.Cache.L1I)},
		{Level: 2, Type: "Unified", Bytes: int64(c.Cache.L2)},
		{Level: 3, Type: "Unified", Bytes: int64(c.Cache.L3)},
	} {
		if x.Bytes > 0 {
			x.Line = int64(c.CacheLine)
			all = append(all, x)
		}
	}
	return all
}
