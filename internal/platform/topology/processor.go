package topology

import (
	"cmp"

	"github.com/klauspost/cpuid/v2"
)

// LayoutLine is the length in bytes of a cache line that the layouts of this module assume. On a machine with longer
// lines neighbours share a line, which costs only time.
const LayoutLine = 64

// Processor describes the processor by its own account. Unknown fields are empty or 0.
type Processor struct {
	Name  string
	Level int // of x86-64, 1 to 4
	Line  int // bytes in a cache line
}

// ReadProcessor returns the description of this machine's processor.
func ReadProcessor() Processor {
	c := cpuid.CPU
	name := cmp.Or(c.BrandName, c.VendorString)
	return Processor{Name: name, Level: c.X64Level(), Line: c.CacheLine}
}

// processorCaches returns the caches of one CPU, for systems that do not list them. The number of instances is unknown.
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
